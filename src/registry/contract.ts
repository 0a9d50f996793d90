import type { DirectoryState } from "../http/directory-state.ts";
import type { Idempotency, Precondition } from "../kernel/etag.ts";
import type { Failure, IdCollision } from "../kernel/failure.ts";
import type { NamedTenant, TenantKey } from "../kernel/names.ts";
import type { Result } from "../kernel/result.ts";
import type { AttributeCounts } from "../manifest/attributes.ts";
import type { Classification } from "../manifest/classify/classify.ts";
import type { KeptItem, Placement } from "../manifest/compose.ts";
import type { ChangeCounts } from "../manifest/diff.ts";
import type { CapabilityFlag, Flag, FlagRule } from "../manifest/flag.ts";
import type { AcceptedManifest, PreparedCapability, Rejection } from "../manifest/prepare.ts";
import type { CapabilityKind } from "../manifest/schema/capability.ts";
import type { StoredCapability } from "../manifest/stored.ts";
import type { SourceStatus } from "./answer-schema.ts";
import type { ConfigMembers } from "./config-change.ts";
import type { Revision } from "./history-schema.ts";
import type { ServerConfig, ServerStatus, Visibility } from "./schema.ts";
import type { DirectoryEntry, RefreshResult, SourceDetail } from "./server-schema.ts";

/** Answers that the objects give as they are. */
export type { DirectoryEntry, Revision, SourceDetail, SourceStatus };

/**
 * Result of the last read of a source: not read yet, readable, credential required, not an MCP server, or no response.
 */
export type ProbeState = SourceStatus["status"];

/**
 * The mutable pointer tenant/name → digest, with the overlay: everything that changes without the declared content
 * changing.
 */
export interface Head {
  /** As shown; `refOf` makes the key. */
  tenant: string;
  name: string;
  /** Absent until a manifest is published. */
  digest?: string;
  visibility: Visibility;
  status: ServerStatus;
  statusMessage?: string;
  /** The tenant's generation at the last change of this server. */
  generation: number;
  /** The tenant's generation at which the object confirmed this head. */
  asOf: number;
  /** Number of overlay changes; part of every ETag. */
  overlay: number;
  lastSynced?: string;
  disabled: { kind: CapabilityKind; key: string }[];
  /**
   * Positions in the manifest, `[first, last]` of each run, of items that are not shown to anyone: their source offered
   * them at another address than its present one, which was never read.
   */
  hidden?: [first: number, last: number][];
  /**
   * Flags of the manifest as a whole, and flags that depend on the server's history or on the tenant's other servers.
   * Flags about the content of one capability are stored with the capability.
   */
  flags: CapabilityFlag[];
  /** Flags that an admin has acknowledged. Absent if there are none. */
  acknowledged?: AcknowledgedFlag[];
  /** Absent if the server has no sources. */
  sources?: SourceStatus[];
  /** Warnings of the last read of the sources. */
  warnings?: string[];
  /** A tombstone: the server was deleted at this head's generation. */
  deleted?: true;
}

/** A flag that an admin accepts, of the content with this digest: an item's, the manifest's, or the config's. */
export interface AcknowledgedFlag {
  digest: string;
  rule: FlagRule;
  path: string;
  message: string;
  /** The path is one of the server's config. The acknowledgement ends when the config changes. */
  of?: "config";
  by: string;
  at: string;
}

/**
 * True if a reader who has seen `b` may be shown `a`. `generation` orders the changes of a server; `asOf` orders
 * confirmations of the same state.
 */
export function isAtLeastAsNew(a: Pick<Head, "generation" | "asOf">, b: Pick<Head, "generation" | "asOf">): boolean {
  return a.generation > b.generation || (a.generation === b.generation && a.asOf >= b.asOf);
}

/** What tells states of a head apart; kept beside it in KV, so that a list has it without a read of each. */
export type HeadStamp = Pick<Head, "generation" | "asOf" | "overlay">;

export interface NamedStamp extends HeadStamp {
  name: string;
}

/** The author of a write, the tenant as the request names it, and the precondition on the server. */
export interface Writer extends NamedTenant {
  subject: string;
  precondition?: Precondition;
  idempotency?: Idempotency;
}

/** The outcome of a write with the resulting head. */
export type Written<T> = Result<T & WriteReceipt, Failure>;

export interface WriteReceipt {
  head: Head;
  /** A state of the directory that has the write; absent if the directory did not confirm it in time. */
  directory?: DirectoryState;
}

/** A result with the tenant's generation at which it was read. */
export type AsOf<T> = T & { generation: number };

/**
 * MCP protocol variant of an upstream. The last two share the `initialize` handshake of the revisions up to 2025-11-25.
 */
export type Era = "2026-07-28" | "2025-streamable" | "sse";

/** The protocol variant that one read detected, stored so that the next read skips detection. */
export interface RememberedEra {
  era: Era;
  /** Time of detection, in epoch milliseconds. */
  at: number;
  /**
   * The result of `server/discover`, valid for its own `ttlMs`. It was sent to one credential: discard it when the
   * source's URL or credential changes.
   */
  discover?: Record<string, unknown>;
}

/** Result of one refresh of a server's sources. */
export interface Refreshed extends Omit<RefreshResult, "sources">, WriteReceipt {}

/**
 * Why a refresh stored nothing: the server has no sources, it was deleted or its sources changed during the refresh, or
 * they offer so much that the refresh has to wait for others.
 */
export type RefreshSkipped = "no-sources" | "superseded" | "busy";

export interface PublishRequest {
  name: string;
  subject: string;
  at: string;
  manifest: AcceptedManifest;
  /** How the manifest is combined with what the server has. */
  placement: Placement;
  /** Leave out the items that cannot be published, instead of publishing nothing. */
  partial: boolean;
  precondition?: Precondition;
  /**
   * Set by refreshes. If the previous revision has no items, a change under the same version is neither flagged nor
   * refused: there was no content that anyone could have reviewed.
   */
  isFirstIntrospection?: true;
  /** Sent through a hook: warnings name events instead of requests. */
  throughHook?: boolean;
  /**
   * Set if the publish follows from a change of settings: it shares that write's generation, if there is one yet, and is
   * what the owner asked for, whatever the policy on versions.
   */
  ofSettings?: { generation?: number };
}

export interface PublishOutcome {
  outcome: "created" | "changed" | "unchanged";
  generation: number;
  /** Of the stored manifest, which may have more items than the one that was sent. */
  digest: string;
  /** Of items. */
  changes: ChangeCounts;
  /** The change of the manifest's own fields, if there is one. */
  header?: Classification;
  flags: CapabilityFlag[];
  /** An item was switched off: the response says by when no data centre shows it. */
  narrowed: boolean;
  /** Tokens of the items that readers see. */
  cost: { before: number; after: number };
  /** The server had items, and has none now. */
  emptied?: true;
  /** Items that stay although the manifest does not name them. */
  kept: KeptItem[];
  /** Items that were left out because of what the tenant has. */
  rejected: Rejection[];
  /** Ids among the rejected that belong to other items of the tenant. */
  collisions: IdCollision[];
  warnings: string[];
}

/** What a publish would do. */
export type Rehearsed = Result<PublishOutcome, Failure>;

/** A publish as the Worker sends it. */
export type NewPublish = Omit<PublishRequest, "subject" | "at" | "precondition">;

/** A server with its config, head and summary. */
export interface ServerEntry {
  config: ServerConfig;
  head: Head;
  summary: ServerSummary;
  createdAt: string;
  updatedAt: string;
}

/**
 * A server's status and the message about it. They are in its config and nowhere else; versions of the official API
 * follow. A withdrawn server keeps its content, history and readers.
 */
export interface ServerState {
  status: ServerStatus;
  statusMessage?: string;
}

/** Outcome of a write to a server that leaves its manifest unchanged. */
export interface SettingsOutcome {
  generation: number;
  changed: boolean;
  /** Readers lose access to something: the response says by when no data centre shows it. */
  narrowed: boolean;
}

/** Outcome of a change of a server's config. */
export interface ConfigOutcome extends SettingsOutcome {
  config: ServerConfig;
  /** Names of the members that are different now. */
  members: string[];
  warnings: string[];
}

export interface Switch {
  kind: CapabilityKind;
  key: string;
  enabled: boolean;
}

/** The part of a server that lists show without reading its manifest. */
export interface ServerSummary {
  title?: string;
  description?: string;
  version?: string;
  counts?: Partial<Record<CapabilityKind, number>>;
  tokens?: number;
  /** Counts only items that are switched on. */
  attributes?: AttributeCounts;
}

/** RPC methods of a tenant's object that the registry uses. */
export interface RegistryTenant extends DefinitionsTenant {
  /** Sends some items of a manifest that is too large for one call. Returns false if the object holds too many. */
  sendItems(transfer: string, items: PreparedCapability[]): Promise<boolean>;
  publish(writer: Writer, request: NewPublish): Promise<Written<PublishOutcome>>;
  /** Everything that `publish` does, undone before it returns. */
  rehearsePublish(writer: Writer, request: NewPublish): Promise<Rehearsed>;
  createServer(writer: Writer, config: ServerConfig): Promise<Written<SettingsOutcome>>;
  /** Changes the members that are named, and no others. */
  changeConfig(writer: Writer, name: string, change: ConfigMembers): Promise<Written<ConfigOutcome>>;
  deleteServer(writer: Writer, name: string): Promise<Written<SettingsOutcome>>;
  switchItems(writer: Writer, name: string, switches: Switch[]): Promise<Written<SettingsOutcome>>;
  /** The current head; a tombstone if the server was deleted. */
  head(name: string): Promise<AsOf<{ head?: Head }>>;
  /**
   * Call if the object is behind what was shown of a server: it was set back, and goes on above that and above everything
   * that KV has of it.
   */
  afterRestore(shown: NamedStamp): Promise<void>;
  server(name: string): Promise<AsOf<{ entry?: ServerEntry }>>;
  servers(after: string, limit: number): Promise<AsOf<{ entries: ServerEntry[] }>>;
  /** The stored manifest of a server with this digest, as JSON text. */
  body(name: string, digest: string): Promise<string | undefined>;
  /**
   * Revisions come with the head of the same moment: permission must be checked against this head, not a cached one.
   */
  revisions(name: string, before: number, limit: number): Promise<AsOf<{ head?: Head; revisions: Revision[] }>>;
  revision(name: string, digest: string): Promise<AsOf<{ head?: Head; revision?: Revision }>>;
  /** A current capability by its id, with the head of its server. */
  capability(id: string): Promise<AsOf<{ head?: Head; capability?: StoredCapability }>>;
  /**
   * Reads the server's sources. With `anew`, a refresh that is already running does not count: it may have read before
   * the change that the caller knows of.
   */
  refresh(name: string, options: { afterRunning: boolean }): Promise<Refreshed | RefreshSkipped>;
  /** The status of each source, with the details that only members may see. */
  sources(name: string): Promise<SourceDetail[]>;
}

/** A current item, with what decides whether a model may be given it. */
export interface StoredDefinition {
  server: string;
  kind: CapabilityKind;
  key: string;
  id: string;
  digest: string;
  /** Absent if they must be counted anew. */
  tokens?: number;
  flags: Flag[];
  /** The server's. */
  status: ServerStatus;
  /** JSON; absent if it is too long to be sent. */
  declared?: string;
}

/** RPC methods of a tenant that definitions for models need. */
export interface DefinitionsTenant {
  /** Current, enabled items by id; `onlyPublic` for callers outside the tenant. */
  definable(ids: readonly string[], options: { onlyPublic: boolean }): Promise<AsOf<{ items: StoredDefinition[] }>>;
}

/** RPC methods of the directory that the registry uses. */
export interface RegistryDirectory {
  knows(tenant: TenantKey): Promise<boolean>;
  list(query: DirectoryQuery): Promise<AsOf<{ entries: DirectoryEntry[] }>>;
}

/** The rows a caller may see, and the position after which the page starts. */
export interface DirectoryQuery {
  tenants: readonly TenantKey[] | "all";
  /** Set for callers who may not see the private servers of those tenants. */
  onlyPublic: boolean;
  /** `tenant` is a key or, for a list by prefix, a text to start from. */
  after: { tenant: string; name: string };
  limit: number;
}
