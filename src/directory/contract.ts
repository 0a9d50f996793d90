import type { DirectoryState } from "../http/directory-state.ts";
import type { Root } from "./root.ts";

/** Answer to an isolate that says which root it has. */
export interface SyncAnswer extends DirectoryState {
  /**
   * A segment with every place that changed after `since`, as it is now: with it the caller has this state. Absent if
   * nothing has changed.
   */
  delta?: Uint8Array;
  /** Too much has changed for a delta, or the epoch is another: the caller must not use what it has. */
  outdated?: true;
  /** The newest root, if it is newer than the caller's. */
  root?: Root;
}

/** What the isolates ask of the directory to keep their copies. */
export interface SegmentDirectory {
  /**
   * Brings a caller with this root up to date, who has all that changed up to generation `since`, by default the root's.
   * Without a root, answers the newest one.
   */
  sync(root: DirectoryState | undefined, since?: number): Promise<SyncAnswer>;
}

/** What a rebuild asks of the directory. */
export interface RebuildDirectory {
  /** From now on every server that a tenant sends is taken, whatever the directory has of it. */
  beginRebuild(): Promise<void>;
  /** How many servers are still as they were. The last step starts a new epoch. */
  continueRebuild(isLast: boolean): Promise<DirectoryState & { waiting: number }>;
}

/** What `/healthz` asks of the directory after storage has failed. */
export interface TriedDirectory {
  /** Writes a value of its own; fails while the storage does. */
  tryStorage(): Promise<void>;
}

export interface ResendingTenant {
  /** Sends every server to the directory again, because the directory has lost data. */
  resendToDirectory(): Promise<void>;
}
