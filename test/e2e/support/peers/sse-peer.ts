import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { listen } from "./listening.ts";
import { createV1Server } from "./v1-server.ts";

/** The official server of 2024: one event stream for all answers, and an address to post to. */
const sessions = new Map<string, SSEServerTransport>();

listen(
  async (request, response, body) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (request.method === "GET" && url.pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", response);
      sessions.set(transport.sessionId, transport);
      response.once("close", () => sessions.delete(transport.sessionId));
      await createV1Server().connect(transport);
      return;
    }
    const transport = sessions.get(url.searchParams.get("sessionId") ?? "");
    if (request.method === "POST" && url.pathname === "/messages" && transport !== undefined) {
      await transport.handlePostMessage(request, response, JSON.parse(body));
      return;
    }
    response.writeHead(404).end("Cannot find that");
  },
  () => sessions.size,
);
