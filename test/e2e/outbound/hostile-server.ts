import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { gzipSync } from "node:zlib";

export interface HostileServer {
  origin: string;
  /** Every request so far. */
  received: { method: string; path: string; headers: IncomingMessage["headers"]; body: string }[];
  stop(): Promise<void>;
}

/** 50 MiB that are 50 kB on the wire. */
export const bombBytes = 50 * 1_024 * 1_024;
const bomb = gzipSync(Buffer.alloc(bombBytes));

/** A server on this machine that does to its clients what servers should not do. */
export async function startHostileServer(): Promise<HostileServer> {
  const received: HostileServer["received"] = [];
  const sockets = new Map<string, Socket>();
  const server: Server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://hostile");
    if (url.pathname === "/freed") return reportFreed(sockets.get(url.searchParams.get("path") ?? ""), response);
    sockets.set(url.pathname, request.socket);
    let body = "";
    for await (const chunk of request) body += chunk;
    received.push({ method: request.method ?? "", path: url.pathname, headers: request.headers, body });
    (behaviours[url.pathname] ?? hello)(response, url);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers once the client of another request has hung up, or after a while that it has not. */
function reportFreed(socket: Socket | undefined, response: ServerResponse): void {
  const report = (text: string) => () => {
    clearTimeout(timer);
    if (!response.writableEnded) response.end(text);
  };
  const timer = setTimeout(report("held"), 3_000);
  if (socket === undefined) report("never asked")();
  else if (socket.destroyed) report("freed")();
  else socket.once("close", report("freed"));
}

type Behaviour = (response: ServerResponse, url: URL) => void;

const hello: Behaviour = (response) => response.end("hello");

const behaviours: Record<string, Behaviour> = {
  "/redirect": (response, { searchParams }) => {
    response.writeHead(Number(searchParams.get("status") ?? 302), { location: searchParams.get("to") ?? "" });
    response.end("moved");
  },
  "/redirect-drip": (response, { searchParams }) => {
    response.writeHead(302, { location: searchParams.get("to") ?? "" });
    drip(response, 10);
  },
  "/loop": (response) => response.writeHead(302, { location: "/loop" }).end(),
  "/bomb": (response) => response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
  "/bomb-without-end": (response) => response.writeHead(200, { "content-encoding": "gzip" }).write(bomb),
  "/compressed": (response) => response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("hello")),
  "/drip": (response) => drip(response.writeHead(200), 10),
  "/no-headers": () => {},
  "/hang": (response) => response.writeHead(200).write("so far"),
  "/flood": (response) => flood(response.writeHead(200)),
  "/announced": (response) => {
    response.writeHead(200, { "content-length": "1000000000" }).write("so far");
  },
  "/longer-announced": (response) => {
    response.writeHead(200, { "content-length": "100" }).write("so far", () => response.socket?.end());
  },
  "/shorter-announced": ({ socket }) => {
    socket?.end(`HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello${"x".repeat(1_000)}`);
  },
  "/reset": ({ socket }) => socket?.resetAndDestroy(),
  "/garbage": ({ socket }) => socket?.end("SSH-2.0-OpenSSH_9.2\r\n"),
  "/empty": (response) => response.writeHead(204).end(),
  // Speaks long enough that a deadline of the same length would have ended it, and then falls silent.
  "/events": (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    let count = 0;
    const timer = setInterval(() => {
      count += 1;
      if (count > 20 || response.destroyed) clearInterval(timer);
      else response.write(`data: ${count}\n\n`);
    }, 50);
  },
};

function drip(response: ServerResponse, everyMs: number): void {
  const timer = setInterval(() => response.write("."), everyMs);
  response.once("close", () => clearInterval(timer));
}

/** As fast as the client reads, for ever. */
function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536, "x");
  const pour = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", pour);
  pour();
}
