import type { FetchFailureKind } from "../outbound/fetch-failure.ts";
import type { Era, RememberedEra } from "../registry/contract.ts";

/** What reading an MCP server takes and gives. All of it is plain data, so that it can be stored and sent. */

/** The lists that a server offers, in the order they are shown. */
export const listNames = ["tools", "prompts", "resources", "resourceTemplates"] as const;
export type ListName = (typeof listNames)[number];

export interface SourceRequest {
  id: string;
  url: string;
  /** What the publisher says it speaks: tried first, but not believed. */
  type: "streamable-http" | "sse";
  /** Sent with every request; a resolved credential is among them. */
  headers: Record<string, string>;
  remembered?: RememberedEra;
}

export interface SourceBounds {
  /** The whole source. Ending a session may take one second more. */
  deadlineMs: number;
  /** One answer. */
  requestMs: number;
  /** Of each list. */
  pages: number;
  /** Of all lists together. */
  items: number;
  /** Decoded, over everything the source sends. */
  bytes: number;
}

export const defaultSourceBounds: SourceBounds = {
  deadlineMs: 20_000,
  requestMs: 10_000,
  pages: 100,
  items: 10_000,
  bytes: 8 * 1024 * 1024,
};

export interface SourceWarning {
  list: ListName;
  message: string;
}

export type DeclaredItem = Record<string, unknown>;

/** Everything a source offers, item by item as it declares them. */
export interface SourceReading extends Record<ListName, DeclaredItem[]> {
  era: Era;
  remembered: RememberedEra;
  protocolVersion: string;
  /** Whether it keeps a session between requests. */
  session: boolean;
  /** A server of revision 2026-07-28 may leave it out. */
  serverInfo?: DeclaredItem;
  instructions?: string;
  /** The least of its cache hints; only revision 2026-07-28 has any. */
  ttlMs?: number;
  /** `private` if any list is: what was read with this credential is for nobody else. */
  cacheScope?: "public" | "private";
  /** Whether it offers to say when a list changes. */
  listChanged: boolean;
  /** Lists that could not be read, or not to their end. What is missing from them is not known to be gone. */
  incomplete: ListName[];
  warnings: SourceWarning[];
}

export type SourceFailureReason =
  /** 401 or 403: it wants another credential. */
  | "gated"
  /** It answered, and not as any MCP that is known here. */
  | "not-mcp"
  /** It speaks only revisions that are newer than this code. */
  | "unsupported-version"
  /** It answered with an MCP error. */
  | "error"
  /** 429 or 5xx: later may be better. */
  | "unavailable"
  | Exclude<FetchFailureKind, "too-many-redirects" | "cancelled">;

/** Why nothing could be read. The message is safe to store and to show to whoever owns the source. */
export interface SourceFailure {
  reason: SourceFailureReason;
  message: string;
  httpStatus?: number;
}
