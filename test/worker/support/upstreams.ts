import { vi } from "vitest";
import { createMcpHandler, Server } from "../../../src/mcp/server/sdk.ts";

/** What an upstream MCP server offers; a test may change it between readings. */
export interface Offer {
  tools: Record<string, unknown>[];
  resources?: Record<string, unknown>[];
  /** False: it declares no capabilities at all. */
  declares?: boolean;
  /** It answers 403 with these words. */
  refuses?: string;
  /** True: it cannot be reached. */
  isDown?: boolean;
  /** Settles when it may answer at last. */
  hangsUntil?: Promise<void>;
}

/** MCP servers by host name. Everything that leaves the Worker ends at one of them. */
export function serveUpstreams(): Map<string, Offer> {
  const offers = new Map<string, Offer>();
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input) => {
    const request = input as Request;
    const offer = offers.get(new URL(request.url).hostname);
    if (offer === undefined || offer.isDown) return new Response("no", { status: 503 });
    await offer.hangsUntil;
    if (offer.refuses !== undefined) return new Response(offer.refuses, { status: 403 });
    const handler = createMcpHandler(() => {
      const { resources } = offer;
      const capabilities = offer.declares === false ? {} : { tools: {}, resources: resources && {} };
      const server = new Server({ name: "upstream", version: "1" }, { capabilities });
      if (offer.declares !== false) {
        server.setRequestHandler("tools/list", async () => ({ tools: offer.tools }) as never);
      }
      if (resources !== undefined) {
        server.setRequestHandler("resources/list", async () => ({ resources }) as never);
      }
      return server;
    });
    return handler.fetch(request);
  });
  return offers;
}
