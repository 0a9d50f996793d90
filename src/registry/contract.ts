import type { Precondition } from "../kernel/etag.ts";
import type { Failure } from "../kernel/failure.ts";
import type { Result } from "../kernel/result.ts";
import type { AttributeCounts } from "../manifest/attributes.ts";
import type { ChangeCounts } from "../manifest/diff.ts";
import type { CapabilityFlag } from "../manifest/flag.ts";
import type { PreparedManifest } from "../manifest/prepare.ts";
import type { CapabilityKind } from "../manifest/schema/capability.ts";
import type { StoredCapability } from "../manifest/stored.ts";
import type { ServerConfig, ServerStatus, Visibility } from "./schema.ts";

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
export function isAtLeastAsNew(a: Pick<Head, "generation" | "asOf">, b: Pick<Head, "generation" | "asOf">): boolean {
  return a.generation > b.generation || (a.generation === b.generation && a.asOf >= b.asOf);
}

/** Who writes, and what they require of the server they change. */
export interface Writer {
  tenant: string;
  subject: string;
  precondition?: Precondition;
}

/** A write's outcome with the head it left behind. */
export type Written<T> = Result<T & { head: Head }, Failure>;

/** An answer with the tenant's generation at which it was true. */
export type AsOf<T> = T & { generation: number };

/** How an upstream speaks. The last two share the `initialize` handshake of the revisions up to 2025-11-25. */
export type Era = "2026-07-28" | "2025-streamable" | "sse";

/** What one reading found out about how to speak, kept for the next, so that it costs no detection. */
export interface RememberedEra {
  era: Era;
  /** When it was found out, in milliseconds. */
  at: number;
  /**
   * What `server/discover` answered, usable as long as its own `ttlMs` says. It was given to one credential: forget it
   * when the source's address or credential changes.
   */
  discover?: Record<string, unknown>;
}

/** What became of one look at a server's sources. */
export interface Refreshed {
  outcome: "applied" | "unchanged" | "failed";
  generation: number;
  digest?: string;
  head: Head;
  /** Why each source that could not be read could not. */
  failures: { id: string; reason: string; message: string }[];
  warnings: string[];
}

/** How a look at a server's sources ended without anything to put down. */
export type RefreshSkipped = "no-sources" | "superseded";

export interface PublishRequest {
  name: string;
  subject: string;
  at: string;
  manifest: Omit<PreparedManifest, "rejected">;
  precondition?: Precondition;
  /** Says what a server can do of which only its version was known: nobody has reviewed anything yet. */
  fillsIn?: true;
}

export interface PublishOutcome {
  outcome: "created" | "changed" | "unchanged";
  generation: number;
  changes: ChangeCounts;
  flags: CapabilityFlag[];
  /** An item was switched off: answers say by when it is gone everywhere. */
  narrowed: boolean;
}

/** One entry of a server's history. */
export interface Revision {
  number: number;
  digest: string;
  generation: number;
  publishedAt: string;
  publishedBy: string;
  changes: ChangeCounts;
}

/** A server's settings as an answer shows them. */
export interface ServerEntry {
  config: ServerConfig;
  head: Head;
  summary: ServerSummary;
  createdAt: string;
  updatedAt: string;
}

/** Writes to a server that leave its manifest alone. Each runs inside one transaction of the tenant's object. */

export interface SettingsOutcome {
  generation: number;
  changed: boolean;
  /** Readers lose something: answers say by when it is gone everywhere. */
  narrowed: boolean;
}

/** A source as its owner sees it. Never with a credential: only the name of one. */
export interface SourceDetail extends SourceStatus {
  url: string;
  message?: string;
  era?: string;
  failures: number;
}

export interface Switch {
  kind: CapabilityKind;
  key: string;
  enabled: boolean;
}

/** What lists show of a server without reading its manifest. */
export interface ServerSummary {
  title?: string;
  description?: string;
  version?: string;
  counts?: Partial<Record<CapabilityKind, number>>;
  tokens?: number;
  /** Of the items that are switched on. */
  attributes?: AttributeCounts;
}
/** What the registry asks a tenant's object. */
export interface RegistryTenant {
  publish(
    writer: Writer,
    request: Omit<PublishRequest, "subject" | "at" | "precondition">,
  ): Promise<Written<PublishOutcome>>;
  createServer(writer: Writer, config: ServerConfig): Promise<Written<SettingsOutcome>>;
  replaceConfig(writer: Writer, config: ServerConfig): Promise<Written<SettingsOutcome>>;
  deleteServer(writer: Writer, name: string): Promise<Written<SettingsOutcome>>;
  switchItems(writer: Writer, name: string, switches: Switch[]): Promise<Written<SettingsOutcome>>;
  /** The head as of now, with a tombstone for what was deleted. */
  head(name: string): Promise<AsOf<{ head?: Head }>>;
  server(name: string): Promise<AsOf<{ entry?: ServerEntry }>>;
  servers(after: string, limit: number): Promise<AsOf<{ entries: ServerEntry[] }>>;
  /** The stored manifest of a server under a digest, as JSON text. */
  body(name: string, digest: string): Promise<string | undefined>;
  /** History comes with the head of the same moment: who may read it is decided by that one, not by a cached one. */
  revisions(name: string, before: number, limit: number): Promise<AsOf<{ head?: Head; revisions: Revision[] }>>;
  revision(name: string, digest: string): Promise<AsOf<{ head?: Head; revision?: Revision }>>;
  /** A current capability by its id, with the head of its server. */
  capability(id: string): Promise<AsOf<{ head?: Head; capability?: StoredCapability }>>;
  /** Reads the server's sources, anew for whoever knows of a change. */
  refresh(name: string, options: { anew: boolean }): Promise<Refreshed | RefreshSkipped>;
  /** What is known of each source, with what only the tenant is told. */
  sources(name: string): Promise<SourceDetail[]>;
}

/** What the registry asks the directory. */
export interface RegistryDirectory {
  knows(tenant: string): Promise<boolean>;
  list(query: DirectoryQuery): Promise<AsOf<{ entries: DirectoryEntry[] }>>;
}

/** One row of a list. */
export interface DirectoryEntry extends Omit<ServerSummary, "attributes"> {
  tenant: string;
  name: string;
  visibility: "tenant" | "public";
  status: "active" | "deprecated";
  generation: number;
  updatedAt: string;
  digest?: string;
}

/** Which rows a caller may see, and after which one the page starts. */
export interface DirectoryQuery {
  tenants: readonly string[] | "all";
  /** For who may not see the rest of those tenants. */
  onlyPublic: boolean;
  after: { tenant: string; name: string };
  limit: number;
}
