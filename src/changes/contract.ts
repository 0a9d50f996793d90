import type { TenantKey } from "../kernel/names.ts";
import type { StreamEvent } from "../kernel/sse.ts";
import type { ChainedChange, Change, LogHead } from "../registry/change-chain.ts";
import type { AsOf } from "../registry/contract.ts";

/** Capabilities of one tenant whose changes a reader follows. */
export interface FollowedItems {
  tenant: TenantKey;
  /** True for a reader outside the tenant: changes made while a server is not public are left out. */
  onlyPublic: boolean;
  servers: {
    server: string;
    /** Generation at which the server's capabilities were chosen. */
    since: number;
    /** Generation up to which the reader claims to have seen all changes. */
    after: number;
    /**
     * The server was public when chosen, so a reader outside the tenant may learn that it became private or was
     * deleted.
     */
    wasPublic: boolean;
    items: { kind: Exclude<Change["kind"], "server">; key: string; id: string }[];
  }[];
}

/** A change to a followed capability, or a change of its server: it is unavailable, or its status or flags are others. */
export interface ItemChange extends Change {
  tenant: string;
  /** Id of the capability; absent if the change is about the whole server. */
  id?: string;
}

export interface ItemChanges {
  changes: ItemChange[];
  /** Generation up to which the changes are complete; below the tenant's own if they do not fit one page. */
  upTo: number;
  generation: number;
  /** False if the log has been pruned past the requested generation. */
  complete: boolean;
}

/** Source of a live stream: changes of some tenants, each read page by page from its last position. */
export interface ChangeFeed {
  readonly tenants: readonly TenantKey[];
  /** Position of the reader, used as the event id to resume from. */
  readonly position: string;
  /** The next events of one tenant, oldest first, and whether more are available already. */
  next(tenant: TenantKey): Promise<{ events: StreamEvent[]; more: boolean }>;
  /** Reads the initial state before the stream opens, for feeds that compare states instead of reading a log. */
  snapshot?(): Promise<void>;
  /** First and last text of a stream that cannot be resumed. */
  readonly frame?: { opening: string; closing: string };
}

/** What the stream object keeps of one stream, on its WebSocket, while it sleeps. */
export interface StreamAttachment {
  /** Tenants whose writes the stream is told of. */
  tenants: readonly TenantKey[];
  /** Where the stream began. It moves in the Worker, which reads the log and knows what the client has taken. */
  position: string;
  endsAt: number;
  /** Session that the stream belongs to; when it ends, the stream is closed. */
  session?: string;
}

/** A request for a WebSocket that is told of writes. */
export interface StreamRequest extends Omit<StreamAttachment, "endsAt"> {
  /** Not a time: the object's clock decides when the stream ends. */
  lifetimeMs: number;
  maxStreams: number;
}

/**
 * The streams of one caller. The Worker holds the client's connection and one WebSocket to this object per stream, so
 * that the object can hibernate while nothing changes.
 */
export interface Streams {
  /** Takes a StreamRequest in the header `streamRequestHeader`; answers 101 with a WebSocket, or a failure as JSON. */
  fetch(request: Request): Promise<Response>;
  endSession(session: string): Promise<void>;
  count(): Promise<number>;
}

export const streamRequestHeader = "Rollcall-Stream";

/** Sent to a Worker instead of a tenant's name: find out now whether the client is still there. */
export const askForClient = "";

/** Change log methods of the tenant object. */
export interface ChangesTenant {
  /** Log entries after a sequence number, and the head of the log; no head before the first write. */
  changes(since: number, limit: number): Promise<AsOf<{ changes: ChainedChange[]; head?: LogHead }>>;
  /** Changes to the followed capabilities. */
  changesOf(topic: FollowedItems): Promise<ItemChanges>;
  /** Notifies the watcher of every write until the given time, the tenant's first write included. */
  watch(watcher: string, until: number): Promise<void>;
  unwatch(watcher: string): Promise<void>;
}
