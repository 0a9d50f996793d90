import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { capabilities, instructions, methods, pageOf, serverInfo } from "./declared.ts";
import { listen, serveWeb } from "./listening.ts";

/** The official server of revision 2026-07-28, which refuses every older client. Its argument is a ttl in ms. */
const ttlMs = Number(process.argv[2] ?? 0);
const hint = { ttlMs, cacheScope: "public" as const };

const handler = createMcpHandler(
  () => {
    const cacheHints = {
      "server/discover": hint,
      "tools/list": { ...hint, ttlMs: ttlMs + 500 },
      "prompts/list": { ...hint, ttlMs: ttlMs + 900 },
      "resources/list": { ...hint, ttlMs: ttlMs + 900 },
      "resources/templates/list": { ...hint, ttlMs: ttlMs + 900 },
    };
    const server = new Server(serverInfo, { capabilities, instructions, cacheHints });
    for (const [method, list] of Object.entries(methods)) {
      server.setRequestHandler(method as "tools/list", ({ params }) => pageOf(list, params?.cursor) as never);
    }
    return server;
  },
  { legacy: "reject" },
);

listen((request, response, body) => serveWeb(handler.fetch, request, response, body));
