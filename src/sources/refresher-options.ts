import type { Bounds } from "../kernel/bounds.ts";
import type { Failure } from "../kernel/failure.ts";
import type { Result } from "../kernel/result.ts";
import type { Head, PublishRequest } from "../registry/contract.ts";
import type { WriteContext } from "../registry/sql/listener.ts";
import type { StagedPublish } from "../registry/sql/publish/stage.ts";
import type { ReadableSource } from "../registry/sql/source-rows.ts";

/** What a refresher needs of its tenant's object. */
export interface RefresherOptions {
  sql: SqlStorage;
  context: WriteContext;
  bounds: Bounds;
  /** Must check addresses: publishers choose the URLs. */
  fetch: (input: string | URL, init?: RequestInit) => Promise<Response>;
  /** Headers that authenticate the registry at a source; empty if the source needs none. */
  credentials: (source: ReadableSource) => Record<string, string>;
  /** True if requests to this URL are forbidden. */
  isBlockedUrl: (url: string) => boolean;
  /** Takes a place for a costly refresh; undefined if there was none in time. */
  enter: () => Promise<(() => void) | undefined>;
  /** For what no reader needs to be told at once. */
  writeQuietly: <T>(work: (at: string) => T) => Promise<T>;
  write: <T extends { generation: number }>(
    server: string,
    work: (at: string) => Result<T, Failure>,
  ) => Promise<Result<T & { head: Head }, Failure>>;
  /** The same for what sources offer. */
  publish: <T extends { generation: number }>(
    request: Omit<PublishRequest, "at">,
    work: (at: string, staged: StagedPublish | "if-large") => Result<T, Failure>,
  ) => Promise<Result<T & { head: Head }, Failure>>;
}
