import { Asker } from "./ask.ts";
import { introductionIn, isObject, type Json } from "./manifest.ts";
import { type PublishingOptions, publisherFor } from "./publisher.ts";
import { type TransportLike, watch } from "./publishing.ts";

/** What McpServer and Server of the official SDKs have in common. */
export interface ServerLike {
  // biome-ignore lint/suspicious/noExplicitAny: the transports of either SDK
  connect(transport: any): Promise<void>;
  close(): Promise<void>;
}

/**
 * Makes the servers of a factory publish themselves: `createMcpHandler(publishingFactory(() => makeServer()))`, and the
 * same with `serveStdio`. One more instance is made when the first one is, asked for its lists, and closed.
 */
export function publishingFactory<Context, Server extends ServerLike>(
  factory: (context: Context) => Server | Promise<Server>,
  options: PublishingOptions = {},
): (context: Context) => Promise<Server> {
  const publisher = publisherFor(options);
  return async (context) => {
    const server = await factory(context);
    if (publisher === undefined) return server;
    publisher.start(() => readOnce(factory, server));
    const { connect } = server;
    server.connect = (transport: TransportLike) => {
      watch(transport, publisher, { asksAtStart: false });
      return connect.call(server, transport);
    };
    return server;
  };
}

async function readOnce<Context, Server extends ServerLike>(
  factory: (context: Context) => Server | Promise<Server>,
  taken: Server,
): Promise<Json | undefined> {
  // As an unauthenticated client of 2025 would be served.
  const own = await factory({ era: "legacy" } as Context);
  // A server can be connected once: this one belongs to the client.
  if (own === taken) return undefined;
  const transport: TransportLike = {
    start: async () => {},
    send: async (message) => {
      asker.take(message);
    },
    close: async () => transport.onclose?.(),
  };
  const asker = new Asker((message) => transport.onmessage?.(message));
  try {
    await own.connect(transport);
    const greeting = {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "rollcall", version: "1" },
    };
    const answer = await asker.request("initialize", greeting, false);
    if (!isObject(answer?.result)) return undefined;
    asker.tell("notifications/initialized");
    return await asker.manifest({ introduction: introductionIn(answer.result), modern: false });
  } finally {
    await own.close().catch(() => {});
  }
}
