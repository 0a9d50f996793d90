import type { Failure } from "../kernel/failure.ts";
import type { Result } from "../kernel/result.ts";
import type { StreamEvent } from "../kernel/sse.ts";
import type { ChainedChange, Change, LogHead } from "../registry/change-chain.ts";
import type { AsOf } from "../registry/contract.ts";

/** A part of one tenant whose changes somebody follows. */
export interface FollowedItems {
  tenant: string;
  /** For a reader outside the tenant: what is not public any more is not told. */
  onlyPublic: boolean;
  servers: {
    server: string;
    /** The generation at which it was chosen. */
    since: number;
    /** The generation up to which its reader says to have seen everything. */
    after: number;
    /** It was read as a public server: then its loss may be told to those outside. */
    wasPublic: boolean;
    items: { kind: Exclude<Change["kind"], "server">; key: string; id: string }[];
  }[];
}

/** A change to a followed capability, or one to its server that takes it away. */
export interface ItemChange extends Change {
  tenant: string;
  /** The capability's id; absent where its whole server is concerned. */
  id?: string;
}

export interface ItemChanges {
  changes: ItemChange[];
  /** The generation up to which this is everything; below the tenant's own where one answer does not hold it all. */
  upTo: number;
  generation: number;
  /** False where the log no longer reaches back as far as was asked. */
  complete: boolean;
}

/** What a stream tells of: tenants, each read on from where it was left, page by page. */
export interface ChangeFeed {
  readonly tenants: readonly string[];
  /** How far the reader has come: the id that it comes back with. */
  readonly position: string;
  /** The next events of one tenant, oldest first, and whether there are others after them already. */
  next(tenant: string): Promise<{ events: StreamEvent[]; more: boolean }>;
  /** Looks once before the stream opens, where that is not told but compared with later. */
  snapshot?(): Promise<void>;
  /** First and last words of a stream whose readers cannot come back to a position. */
  readonly frame?: { opening: string; closing: string };
}

/** What a stream of changes follows. Other rooms have more kinds. */
export type LogSubject = { kind: "log"; tenant: string; since: number };
export type ChosenSubject = { kind: "subset"; topics: FollowedItems[] };

export interface StreamOptions<I> {
  follows: I;
  lifetimeMs: number;
  /** The session it belongs to, which ends it. */
  session?: string;
}

/** The streams of one caller. */
export interface Streams<I> {
  open(options: StreamOptions<I>, maxStreams: number): Promise<Result<ReadableStream<Uint8Array>, Failure>>;
  endSession(session: string): Promise<void>;
  count(): Promise<number>;
}

/** What readers of the log ask a tenant's object. */
export interface ChangesTenant {
  /** Entries of the log after a sequence number, and where it ends; no end before the first write. */
  changes(since: number, limit: number): Promise<AsOf<{ changes: ChainedChange[]; head?: LogHead }>>;
  /** What happened to the items that somebody follows. */
  changesOf(topic: FollowedItems): Promise<ItemChanges>;
  /** From now on and until then, the watcher is told of every write. False before the first: it has to ask again. */
  watch(watcher: string, until: number): Promise<boolean>;
  unwatch(watcher: string): Promise<void>;
}
