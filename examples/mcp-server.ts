import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { runCommand } from "../scripts/command.ts";
import { parsePort } from "../scripts/port.ts";

const help = `
Usage: npx node examples/mcp-server.ts [--port P]

An MCP server on this machine (127.0.0.1 only), small enough to read: two tools, over Streamable HTTP, without sessions.
It is there to be named as a source of a server; docs/how-to/sources.md shows how.
  --port P   port to listen on; 0 for any free one (default 8789)
`;

const tools = [
  {
    name: "roll_dice",
    title: "Roll dice",
    description: "Rolls dice and returns what they show, and the sum.",
    inputSchema: {
      type: "object",
      properties: {
        count: { type: "integer", minimum: 1, maximum: 20, default: 1 },
        sides: { type: "integer", minimum: 2, maximum: 100, default: 6 },
      },
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: "flip_coin",
    title: "Flip a coin",
    description: "Flips a coin: heads or tails.",
    inputSchema: { type: "object" },
    annotations: { readOnlyHint: true },
  },
];

interface Request {
  id?: string | number;
  method: string;
  params?: { name?: string; arguments?: { count?: number; sides?: number } };
}

/** The result of a request, or undefined for a method that this server does not have. */
function resultOf({ method, params }: Request): object | undefined {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "dice-example", title: "Dice", version: "1.0.0" },
      };
    case "ping":
      return {};
    case "tools/list":
      return { tools };
    case "tools/call":
      return { content: [{ type: "text", text: called(params) }] };
    default:
      return undefined;
  }
}

function called({ name, arguments: { count = 1, sides = 6 } = {} }: Request["params"] = {}): string {
  if (name === "flip_coin") return Math.random() < 0.5 ? "heads" : "tails";
  const shown = Array.from({ length: Math.min(count, 20) }, () => 1 + Math.floor(Math.random() * sides));
  return `${shown.join(", ")}; together ${shown.reduce((sum, one) => sum + one, 0)}`;
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const send = (status: number, body?: object) => {
    response.writeHead(status, body === undefined ? {} : { "Content-Type": "application/json" });
    response.end(body === undefined ? undefined : JSON.stringify({ jsonrpc: "2.0", ...body }));
  };
  if (request.method !== "POST") return send(405);
  let message: Request;
  try {
    message = JSON.parse(await text(request)) as Request;
  } catch {
    return send(400, { id: null, error: { code: -32_700, message: "The body is not JSON" } });
  }
  const { id, method } = message;
  // A notification has no answer.
  if (id === undefined) return send(202);
  const result = resultOf(message);
  console.log(`${method}${result === undefined ? " (not supported)" : ""}`);
  if (result !== undefined) return send(200, { id, result });
  send(200, { id, error: { code: -32_601, message: `This server has no method ${method}` } });
}

await runCommand({ help, options: { port: { type: "string", default: "8789" } } }, async ({ port }) => {
  const server = createServer((request, response) => void answer(request, response));
  server.listen(parsePort(port), "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  console.log(
    `MCP server at http://127.0.0.1:${typeof address === "object" ? address?.port : port}/mcp; Ctrl-C stops it`,
  );
  await once(server, "close");
});
