/** An MCP server publishes itself: at start, and whenever it says that one of its lists changed. */

export { publishingFactory, type ServerLike } from "./factory.ts";
export type { PublishingOptions } from "./publisher.ts";
export { publishing, type TransportLike } from "./publishing.ts";
