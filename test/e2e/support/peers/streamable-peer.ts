import { randomUUID } from "node:crypto";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { listen } from "./listening.ts";
import { createV1Server } from "./v1-server.ts";

/** The official server of 2025, Streamable HTTP with a session for each client. With `json` it answers without streams. */
const enableJsonResponse = process.argv[2] === "json";
const sessions = new Map<string, StreamableHTTPServerTransport>();

listen(
  async (request, response, body) => {
    const id = request.headers["mcp-session-id"];
    const message = body === "" ? undefined : JSON.parse(body);
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    const transport = known ?? (await begin());
    await transport.handleRequest(request, response, message);
  },
  () => sessions.size,
);

async function begin(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse,
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  // Its optional callbacks are typed without exactOptionalPropertyTypes in mind.
  await createV1Server().connect(transport as never);
  return transport;
}
