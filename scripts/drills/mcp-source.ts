import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";

/** An MCP server on this machine, made with the official SDK, that offers these tools, or what they are when it is asked. */
export async function startSource(
  tools: readonly object[] | (() => readonly object[]),
): Promise<{ url: string; stop(): Promise<void> }> {
  const handler = createMcpHandler(() => {
    const server = new Server({ name: "source", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({ tools: typeof tools === "function" ? tools() : tools }) as never);
    return server;
  });
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method = "POST" } = incoming;
    const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]);
    const request = new Request("http://source.invalid/mcp", { method, headers, body: await text(incoming) });
    const response = await handler.fetch(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(await response.text());
  };
  // Whoever asks may be killed in the middle of it.
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing).catch(() => outgoing.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
