import type { CapabilityFlag } from "../kernel/issue.ts";
import type { CapabilityKind } from "../manifest/schema/capability.ts";
import type { ServerStatus, Visibility } from "./schema.ts";

/** What asking a source last found: not asked yet, readable, wanting a credential, something else, or nothing. */
export type ProbeState = "pending" | "live" | "gated" | "not-mcp" | "unreachable";

/** An upstream that a server's capabilities are read from, as readers of the server see it. */
export interface SourceStatus {
  id: string;
  status: ProbeState;
  /** When the status became what it is. */
  since: string;
  lastSynced?: string;
  /** Why it could not be read the last time, in a word. */
  error?: string;
}

/** The mutable pointer tenant/name → digest, with all that moves without the declared content changing. */
export interface Head {
  tenant: string;
  name: string;
  /** Absent until something is published. */
  digest?: string;
  visibility: Visibility;
  status: ServerStatus;
  /** The tenant's generation at this server's own last change. */
  generation: number;
  /** The tenant's generation at which the object confirmed this head. */
  asOf: number;
  /** Counts changes of the overlay; part of every ETag. */
  overlay: number;
  lastSynced?: string;
  disabled: { kind: CapabilityKind; key: string }[];
  /** What depends on more than content: the server's past and its neighbours. What content shows is with the content. */
  flags: CapabilityFlag[];
  /** Where the server's capabilities are read from; absent for a server that only publishes. */
  sources?: SourceStatus[];
  /** What was odd about the last reading. */
  warnings?: string[];
  /** A tombstone: the server was deleted at this generation. */
  deleted?: true;
}

/**
 * Whether `a` may follow `b` as what a reader is shown. Generations order a server's own changes; asOf orders
 * confirmations of the same state.
 */
export function notOlder(a: Pick<Head, "generation" | "asOf">, b: Pick<Head, "generation" | "asOf">): boolean {
  return a.generation > b.generation || (a.generation === b.generation && a.asOf >= b.asOf);
}
