import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a peer saw: `GET /seen` tells a test, which is another process. */
export interface Seen {
  /** Each as HTTP method, JSON-RPC method where there is one, and session where one was named. */
  requests: { http: string; path: string; method?: string; cursor?: string; authorization?: string }[];
  /** Exchanges whose connection is still held. */
  open: number;
  /** The most that were ever held at once. */
  mostOpen: number;
  /** Sessions that were begun and not ended. */
  sessions: number;
}

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => Promise<void> | void;

/** Serves on a free port of this machine, prints where, and keeps an account of what it is asked. */
export function listen(handle: Handler, sessions: () => number = () => 0): void {
  const requests: Seen["requests"] = [];
  let open = 0;
  let mostOpen = 0;
  const server = createServer(async (request, response) => {
    const path = request.url ?? "/";
    if (path === "/seen") {
      const seen: Seen = { requests: [...requests], open, mostOpen, sessions: sessions() };
      requests.length = 0;
      response.setHeader("content-type", "application/json").end(JSON.stringify(seen));
      return;
    }
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.once("close", () => {
      open -= 1;
    });
    const body = await textOf(request);
    const { method, params } = (body === "" ? {} : JSON.parse(body)) as {
      method?: string;
      params?: { cursor?: string };
    };
    const { authorization } = request.headers;
    requests.push({
      http: request.method ?? "",
      path,
      ...(method === undefined ? {} : { method }),
      ...(params?.cursor === undefined ? {} : { cursor: params.cursor }),
      ...(authorization === undefined ? {} : { authorization }),
    });
    await handle(request, response, body);
  });
  server.listen(0, "127.0.0.1", () => {
    console.log(`ready http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** The same request for a handler that takes web standards, and its response for Node. */
export async function serveWeb(
  fetch: (request: Request) => Promise<Response>,
  request: IncomingMessage,
  response: ServerResponse,
  body: string,
): Promise<void> {
  const headers = Object.entries(request.headers).flatMap(([name, value]): [string, string][] =>
    typeof value === "string" ? [[name, value]] : [],
  );
  const answer = await fetch(
    new Request(`http://${request.headers.host}${request.url}`, {
      method: request.method ?? "GET",
      headers,
      ...(body === "" ? {} : { body }),
    }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  for await (const chunk of answer.body ?? []) response.write(chunk);
  response.end();
}
