import type { IncomingMessage, ServerResponse } from "node:http";
import type { Handler } from "./listening.ts";

/** MCP by hand, so that it can be got wrong on purpose. */

export interface Message {
  id?: number | string;
  method?: string;
  params?: { cursor?: string };
}

export interface Call {
  message: Message;
  request: IncomingMessage;
  response: ServerResponse;
}

/** A result, or nothing where it has answered, or never will, by itself. */
export type Script = (call: Call) => object | undefined;

const information = { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1" } };
const everything = { tools: {}, prompts: {}, resources: {} };

const empty: Record<string, Script> = {
  "tools/list": () => ({ tools: [{ name: "kept", inputSchema: { type: "object" } }] }),
  "prompts/list": () => ({ prompts: [{ name: "asked" }] }),
  "resources/list": () => ({ resources: [{ uri: "file:///a", name: "a" }] }),
  "resources/templates/list": () => ({ resourceTemplates: [{ uriTemplate: "file:///{a}", name: "a" }] }),
};

/** A server of revision 2026-07-28 but for what the script says. */
export function modern(script: Record<string, Script> = {}, capabilities: object = everything): Handler {
  const scripts: Record<string, Script> = {
    "server/discover": () => ({
      supportedVersions: ["2026-07-28"],
      capabilities,
      _meta: information,
      ttlMs: 3_600_000,
    }),
    ...empty,
    ...script,
  };
  return (request, response, body) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = JSON.parse(body) as Message;
    const play = scripts[message.method ?? ""];
    if (play === undefined) return fail(response, message, 404, -32601, "Method not found");
    const result = play({ message, request, response });
    const hints = { resultType: "complete", ttlMs: 1_000, cacheScope: "private" };
    if (result !== undefined) send(response, { jsonrpc: "2.0", id: message.id, result: { ...hints, ...result } });
  };
}

/** A server of 2025 without sessions but for what the script says. */
export function legacy(script: Record<string, Script> = {}, capabilities: object = everything): Handler {
  const serverInfo = { name: "scripted", version: "1" };
  const scripts: Record<string, Script> = {
    initialize: () => ({ protocolVersion: "2025-06-18", capabilities, serverInfo }),
    ...empty,
    ...script,
  };
  return (request, response, body) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const message = JSON.parse(body) as Message;
    if (message.id === undefined) return void response.writeHead(202).end();
    // Servers of that time know nothing of the headers and methods of the next.
    if (request.headers["mcp-method"] !== undefined && script["server/discover"] === undefined) {
      return fail(response, message, 400, -32000, "Bad Request: Server not initialized");
    }
    const play = scripts[message.method ?? ""];
    if (play === undefined) return fail(response, message, 200, -32601, "Method not found");
    const result = play({ message, request, response });
    if (result !== undefined) send(response, { jsonrpc: "2.0", id: message.id, result });
  };
}

export function fail(
  response: ServerResponse,
  { id }: Message,
  status: number,
  code: number,
  text: string,
  data?: unknown,
) {
  send(
    response,
    { jsonrpc: "2.0", id, error: { code, message: text, ...(data === undefined ? {} : { data }) } },
    status,
  );
}

export function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** The event stream of 2024, whose answers are written where they are asked for. */
export function eventStream(answer: (message: Message, write: (event: string, data: string) => void) => void): Handler {
  const streams = new Map<string, ServerResponse>();
  return (request, response, body) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (request.method === "GET") {
      const id = String(streams.size);
      streams.set(id, response);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`event: endpoint\ndata: ${url.pathname}?id=${id}\n\n`);
      return;
    }
    const stream = streams.get(url.searchParams.get("id") ?? "");
    if (stream === undefined) return void response.writeHead(404).end();
    response.writeHead(202).end();
    answer(JSON.parse(body) as Message, (event, data) =>
      event === "end" ? stream.end() : stream.write(`event: ${event}\ndata: ${data}\n\n`),
    );
  };
}
