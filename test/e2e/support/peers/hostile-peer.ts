import { gzipSync } from "node:zlib";
import { type Handler, listen } from "./listening.ts";
import { eventStream, fail, legacy, type Message, modern, send } from "./scripted-server.ts";

/** Every way a source can be wrong, each at its own path. */

const page = (tools: unknown[], nextCursor?: unknown) => ({
  tools,
  ...(nextCursor === undefined ? {} : { nextCursor }),
});
const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more });
const cursorOf = ({ params }: Message) => params?.cursor;
const status = (code: number, headers: Record<string, string> = {}): Handler => {
  return ({ headers: { authorization } }, response) =>
    void response.writeHead(code, headers).end(`No entry with ${authorization}`);
};
const silence = () => undefined;

/** As deep as it gets: JSON.parse takes it, and whoever walks it by recursion does not. */
const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const bottomless = nested(100_000);

let hasMoved = false;

const xMcpHeader = (name: unknown, type = "string") => ({
  inputSchema: { type: "object", properties: { a: { type, "x-mcp-header": name } } },
});

const paths: Record<string, Handler> = {
  "/401": status(401, { "www-authenticate": 'Bearer resource_metadata="http://127.0.0.1:1/never-asked"' }),
  "/403": status(403),
  "/scope": status(403, { "www-authenticate": 'Bearer error="insufficient_scope", scope="all"' }),
  "/404": status(404),
  "/429": status(429),
  "/500": status(500),
  "/503": status(503),
  "/html": (_, response) => void response.writeHead(200, { "content-type": "text/html" }).end("<h1>Welcome</h1>"),
  "/silent": silence,
  "/wrong-type": (_, response, body) => {
    const { id } = JSON.parse(body || "{}") as Message;
    response.writeHead(200, { "content-type": "text/plain" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
  },
  "/drip": (_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const drip = setInterval(() => response.write(" "), 50);
    response.once("close", () => clearInterval(drip));
  },
  "/drip-events": (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const drip = setInterval(() => response.write(": still here\n\n"), 50);
    response.once("close", () => clearInterval(drip));
  },
  "/breaks-off": (_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"jsonrpc"');
    setTimeout(() => response.destroy(), 20);
  },
  "/elsewhere": status(307, { location: "http://localhost:9/mcp" }),
  "/moved": status(308, { location: "/fine" }),
  "/fine": modern(),
  "/older-500": legacy({
    "server/discover": ({ response }) => void response.writeHead(500).end("What is that?"),
  }),
  "/older-html": legacy({
    "server/discover": ({ response }) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>?</p>"),
  }),
  "/older-named": legacy({
    "server/discover": ({ message, response }) =>
      void fail(response, message, 400, -32022, "Unsupported", { supported: ["2025-06-18"], requested: "2026-07-28" }),
  }),
  "/newer": modern({
    "server/discover": ({ message, response }) =>
      void fail(response, message, 400, -32022, "Unsupported", { supported: ["2027-01-01"], requested: "2026-07-28" }),
  }),
  "/says-no": legacy({
    initialize: ({ message, request, response }) =>
      void fail(
        response,
        message,
        200,
        -32603,
        `No room\n\u0007for ${request.headers.authorization} ${"x".repeat(999)}`,
      ),
  }),
  "/changes-its-mind": (request, response, body) => {
    response.setHeader("mcp-session-id", "left-behind");
    const isNotification = request.method === "POST" && (JSON.parse(body) as Message).id === undefined;
    if (isNotification || request.method === "DELETE") return void response.writeHead(500).end();
    return legacy()(request, response, body);
  },
  "/changes": (request, response, body) => (hasMoved ? legacy() : modern())(request, response, body),
  "/changes/now": (_, response) => {
    hasMoved = true;
    response.end();
  },

  "/nothing": modern({}, {}),
  "/no-templates": modern({
    "resources/templates/list": ({ message, response }) =>
      void fail(response, message, 404, -32601, "Method not found"),
  }),
  "/gated-lists": modern({ "tools/list": ({ response }) => void response.writeHead(401).end() }, { tools: {} }),
  "/gated-prompts": modern({ "prompts/list": ({ response }) => void response.writeHead(403).end() }),
  "/one-fails": modern({
    "prompts/list": ({ message, request, response }) =>
      void fail(response, message, 200, -32603, `Database ${request.headers.authorization} is down`),
  }),
  "/one-hangs": modern({ "resources/list": silence }),
  "/one-hangs-later": modern({
    "tools/list": ({ message }) => (cursorOf(message) === undefined ? page([tool("a")], "2") : undefined),
  }),
  "/old-one-hangs": legacy({ "resources/list": silence }),
  "/session-hangs": (request, response, body) => {
    response.setHeader("mcp-session-id", "to-be-ended");
    return legacy({ "resources/list": silence })(request, response, body);
  },
  "/one-asks": modern({ "prompts/list": () => ({ resultType: "input_required", requestState: "again" }) }),
  "/untyped-only": modern({ "tools/list": () => ({ tools: "none" }) }, { tools: {} }),
  "/untyped": modern({ "tools/list": () => ({ tools: { a: 1 } }) }),
  "/repeats": modern({
    "tools/list": ({ message }) => {
      const cursor = cursorOf(message);
      return page([tool(`after_${cursor ?? "nothing"}`)], cursor === "one" ? "two" : "one");
    },
  }),
  "/endless": modern({
    "tools/list": ({ message }) => {
      const number = Number(cursorOf(message) ?? 0);
      return page([tool(`tool_${number}`)], String(number + 1));
    },
  }),
  "/many": modern({
    "tools/list": () => page(Array.from({ length: 30 }, (_, index) => tool(`tool_${index}`))),
    "prompts/list": () => ({ prompts: Array.from({ length: 30 }, (_, index) => ({ name: `prompt_${index}` })) }),
  }),
  "/huge": modern({
    "tools/list": ({ message }) => {
      const number = Number(cursorOf(message) ?? 0);
      return page([tool(`tool_${number}`, { description: "x".repeat(100_000) })], String(number + 1));
    },
  }),
  "/bomb": (_, response) => {
    response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
    response.end(gzipSync(Buffer.alloc(50 * 1024 * 1024, " ")));
  },
  "/malformed": modern({
    "tools/list": () =>
      page([
        ...["text", null, 7, [], {}, { name: 5 }, { name: "" }],
        ...[tool("good", { annotations: { readOnlyHint: "yes" }, inputSchema: 1 }), { name: "bare" }],
      ]),
  }),
  "/old-malformed": legacy({ "tools/list": () => page(["text", tool("good", { annotations: 1 }), {}], null) }),
  "/deep": modern({
    "tools/list": ({ message, response }) => {
      const result = `{"resultType":"complete","tools":[{"name":"deep","inputSchema":${bottomless}},{"name":"flat"}]}`;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`{"jsonrpc":"2.0","id":${message.id},"result":${result}}`);
    },
  }),
  "/deep-information": modern({
    "server/discover": ({ message, response }) => {
      const information = `{"name":"deep","version":"1","more":${bottomless}}`;
      const _meta = `{"io.modelcontextprotocol/serverInfo":${information},"more":${nested(5_000)}}`;
      const result = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":${_meta}}`;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${result}}`);
    },
  }),
  "/deep-capabilities": modern({
    "server/discover": ({ message, response }) => {
      const result = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"experimental":{"a":${bottomless}}}}`;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${result}}`);
    },
  }),
  "/infinite": modern({
    "tools/list": ({ message, response }) => {
      const result = '{"resultType":"complete","tools":[{"name":"endless","n":1e999},{"name":"finite","n":1e300}]}';
      response.writeHead(200, { "content-type": "application/json" });
      response.end(`{"jsonrpc":"2.0","id":${message.id},"result":${result}}`);
    },
  }),
  "/no-methods": modern(
    Object.fromEntries(
      ["tools/list", "prompts/list", "resources/list", "resources/templates/list"].map((method) => [
        method,
        ({ message, response }) => void fail(response, message, 404, -32601, "Method not found"),
      ]),
    ),
  ),
  "/no-hints": modern({
    "tools/list": ({ message, response }) =>
      send(response, {
        jsonrpc: "2.0",
        id: message.id,
        result: { resultType: "complete", ...page([tool("a")], null) },
      }) as undefined,
  }),
  "/headers": modern({
    "tools/list": ({ request: { headers } }) =>
      page([
        tool("fine", xMcpHeader("Region")),
        tool("spaced", xMcpHeader("a b")),
        tool(`listed ${headers.authorization}`, xMcpHeader("A", "array")),
      ]),
  }),
  "/old-headers": legacy({ "tools/list": () => page([tool("spaced", xMcpHeader("a b"))]) }),

  "/events/silent": (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": hello\n\n");
  },
  "/events/elsewhere": ({ method }, response) => {
    if (method !== "GET") return void response.writeHead(405).end();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("event: endpoint\ndata: http://localhost:9/steal\n\n");
  },
  "/events/ends": eventStream((message, write) => {
    if (message.method === "initialize") write("message", initialized(message));
    else if (message.method === "tools/list") write("end", "");
  }),
  "/events/asks": eventStream((message, write) => {
    if (message.method === "initialize") write("message", initialized(message));
    else if (message.method === "tools/list") {
      for (let id = 0; id < 5_000; id += 1) write("message", JSON.stringify({ jsonrpc: "2.0", id, method: "ping" }));
    }
  }),
};

function initialized({ id }: Message): string {
  const serverInfo = { name: "scripted", version: "1" };
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    result: { protocolVersion: "2024-11-05", capabilities: { tools: {} }, serverInfo },
  });
}

listen((request, response, body) => {
  const path = new URL(request.url ?? "/", "http://127.0.0.1").pathname;
  return (paths[path] ?? status(404))(request, response, body);
});
