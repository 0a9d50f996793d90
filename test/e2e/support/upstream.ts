import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { modern, send } from "./peers/scripted-server.ts";

/** An MCP server whose offer a test can change. */
export interface Upstream {
  url: string;
  tools: Record<string, unknown>[];
  /** Answers every request with this status instead. */
  status: number | undefined;
  /** The Authorization headers that came, in order. */
  authorizations: (string | undefined)[];
  requests: number;
  /** How long tools/list takes, and how many are waiting for it. */
  delayMs: number;
  answering: number;
  stop(): Promise<void>;
}

export const tool = (name: string, description = `Does ${name}.`) => ({
  name,
  description,
  inputSchema: { type: "object", properties: { a: { type: "string" } } },
});

export function startUpstream(...tools: Record<string, unknown>[]): Promise<Upstream> {
  return startUpstreamAt(0, ...tools);
}

export async function startUpstreamAt(port: number, ...tools: Record<string, unknown>[]): Promise<Upstream> {
  const upstream: Upstream = {
    url: "",
    tools,
    status: undefined,
    authorizations: [],
    requests: 0,
    delayMs: 0,
    answering: 0,
    stop: () => stop(server),
  };
  const handler = modern({
    "tools/list": ({ message, response }) => {
      const result = { tools: upstream.tools };
      if (upstream.delayMs === 0) return result;
      upstream.answering += 1;
      setTimeout(() => {
        const hints = { resultType: "complete", ttlMs: 1_000, cacheScope: "private" };
        send(response, { jsonrpc: "2.0", id: message.id, result: { ...hints, ...result } });
      }, upstream.delayMs);
      return undefined;
    },
  });
  const server = createServer((request, response) => {
    upstream.requests += 1;
    upstream.authorizations.push(request.headers.authorization);
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      if (upstream.status === undefined) handler(request, response, body);
      else response.writeHead(upstream.status).end("no");
    });
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  upstream.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return upstream;
}

function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
