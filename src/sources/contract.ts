import type { FetchFailureKind } from "../outbound/fetch-failure.ts";
import type { Era, RememberedEra } from "../registry/contract.ts";

/** Input and output of reading an MCP server. Plain data, so that it can be stored and sent. */

/** The lists of an MCP server, in display order. */
export const listNames = ["tools", "prompts", "resources", "resourceTemplates"] as const;
export type ListName = (typeof listNames)[number];

export interface SourceRequest {
  id: string;
  url: string;
  /** Transport that the publisher declares. Detection tries it but does not rely on it. */
  type: "streamable-http" | "sse";
  /** Sent with every request; includes the resolved credential. */
  headers: Record<string, string>;
  remembered?: RememberedEra;
}

export interface SourceBounds {
  /** For the whole source. Ending the session may take one second more. */
  deadlineMs: number;
  /** Per request. */
  requestMs: number;
  /** Per list. */
  pages: number;
  /** Total over all lists. */
  items: number;
  /** Total of decoded bytes received from the source. */
  bytes: number;
}

export const defaultSourceBounds: SourceBounds = {
  deadlineMs: 20_000,
  requestMs: 10_000,
  pages: 100,
  items: 10_000,
  bytes: 8 * 1024 * 1024,
};

interface SourceWarning {
  list: ListName;
  message: string;
}

export type DeclaredItem = Record<string, unknown>;

/** Everything that a source offers; items are unchanged, as the source declares them. */
export interface SourceReading extends Record<ListName, DeclaredItem[]> {
  era: Era;
  remembered: RememberedEra;
  protocolVersion: string;
  /** True if the source uses an MCP session. */
  session: boolean;
  /** Optional in revision 2026-07-28. */
  serverInfo?: DeclaredItem;
  instructions?: string;
  /** The lowest `ttlMs` of all lists; only revision 2026-07-28 has cache hints. */
  ttlMs?: number;
  /** `private` if any list is: the content read with this credential must not be shown to others. */
  cacheScope?: "public" | "private";
  /** True if the source announces `listChanged` notifications for any list. */
  listChanged: boolean;
  /** True if its capabilities announce none of the lists. */
  declaresNothing: boolean;
  /** Lists that could not be read, or only in part. An item missing from such a list is not known to be removed. */
  incomplete: ListName[];
  warnings: SourceWarning[];
}

export type SourceFailureReason =
  /** 401 or 403: the source requires another credential. */
  | "gated"
  /** The response is not valid in any known MCP revision. */
  | "not-mcp"
  /** It no longer declares any of the lists that it offered before. */
  | "undeclared"
  /** All items that it offers were refused. */
  | "unpublishable"
  /** The source supports only revisions newer than 2026-07-28. */
  | "unsupported-version"
  /** The source responded with a JSON-RPC error. */
  | "error"
  /** 429 or 5xx: a retry may succeed. */
  | "unavailable"
  | Exclude<FetchFailureKind, "too-many-redirects" | "cancelled">;

/** Why the source could not be read. The message is safe to store and to show to the source's owner. */
export interface SourceFailure {
  reason: SourceFailureReason;
  message: string;
  httpStatus?: number;
}
