import type { CapabilityKind } from "../schemas/index.ts";
import type { Classification, Reason } from "./classify/classify.ts";

export type { Classification };

/** How many changes of each class one write made. A removal counts as removed and as breaking. */
export type ChangeCounts = Record<Classification, number>;

/** What a write hands to the log. `server` is the kind of a change to the server's own settings or header. */
export interface NewChange {
  kind: CapabilityKind | "server";
  key: string;
  classification: Classification;
  from?: string;
  to?: string;
  reasons: Reason[];
}

/** One entry of a tenant's ordered log. */
export interface Change {
  sequence: number;
  generation: number;
  at: string;
  server: string;
  kind: CapabilityKind | "server";
  name: string;
  classification: Classification;
  breaking: boolean;
  from?: string;
  to?: string;
  reasons: Reason[];
}

/** An entry that cannot be rewritten without showing: its hash covers all of it and the hash of the one before. */
export interface ChainedChange extends Change {
  previous: string;
  hash: string;
}
