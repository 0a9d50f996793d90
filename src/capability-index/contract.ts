import type { Failure } from "../kernel/failure.ts";
import type { Result } from "../kernel/result.ts";
import type { CapabilityKind } from "../manifest/schema/capability.ts";
import type { AsOf, Head, Writer } from "../registry/contract.ts";
import type { Advertise } from "../registry/schema.ts";
import type { AdvertiseSettings } from "./schema.ts";

/** The data of a capability index, read directly from the rows, in pages of bounded size. */

/** Selects the elements: of one server or of all; for callers outside the tenant only of public servers. */
export interface IndexRange {
  server?: string | undefined;
  onlyPublic: boolean;
}

/** Decides who may read an index and whether a cached text is still current. */
export interface IndexState {
  /** The tenant as shown; absent before its first write. */
  tenant?: string;
  generation: number;
  /** Changes with everything that the index shows. */
  stamp: string;
  hasPublic: boolean;
  /** Settings of the tenant's own index. */
  advertise?: Advertise;
  /** The requested server; absent if it does not exist. */
  server?: { public: boolean; advertise?: Advertise };
}

export interface IndexServer {
  name: string;
  title?: string;
  version?: string;
  createdAt: string;
  updatedAt: string;
  actionTriggers?: unknown;
  relationships?: unknown;
  semantic?: unknown;
  head: Pick<Head, "status" | "statusMessage" | "sources" | "flags" | "acknowledged" | "digest">;
}

export interface IndexRow {
  server: string;
  kind: CapabilityKind;
  key: string;
  id: string;
  digest: string;
  tokens: number;
  /** JSON: flags of the item's content. */
  flags: string;
  /** JSON: the whole item, or only its declared triggers and whether it is deprecated. */
  text: string;
}

export interface IndexPage<T> {
  stamp: string;
  rows: T[];
  /** Position to continue from; absent on the last page. */
  next?: string[];
}

export interface AdvertisedServer {
  name: string;
  advertise: Advertise;
  /** Approximate cost of all its items, disabled ones included. */
  tokens: number;
}

/** The first servers that advertise an index. */
export interface AdvertisedServers {
  servers: AdvertisedServer[];
  /** How many others advertise one. */
  more: number;
  /** Approximate cost of the tenant's own index; 0 if it has no settings. */
  tokens: number;
}

/** Which variants of the tenant's own index are advertised; `since` is the generation of the last change. */
export interface TenantAdvertise {
  settings: AdvertiseSettings;
  since: number;
}

/** Outcome of a write of these settings, with the tenant as shown. */
export interface AdvertiseOutcome {
  tenant: string;
  generation: number;
  since: number;
  changed: boolean;
}

/** A capability as its publisher declared it. */
export interface DeclaredItem {
  id: string;
  digest: string;
  declared: Record<string, unknown>;
}

/** RPC methods that the index needs of a TenantObject. */
export interface IndexTenant {
  indexState(server?: string): Promise<IndexState>;
  indexServers(range: IndexRange, after: string): Promise<IndexPage<IndexServer>>;
  indexItems(range: IndexRange, part: { whole: boolean; after: readonly string[] }): Promise<IndexPage<IndexRow>>;
  /** Declared items by id, up to the size limit of one response. */
  declared(ids: readonly string[], range: Pick<IndexRange, "onlyPublic">): Promise<AsOf<{ items: DeclaredItem[] }>>;
  /** With the tenant as shown, absent before its first write. */
  advertise(): Promise<AsOf<{ tenant?: string; current?: TenantAdvertise }>>;
  setAdvertise(writer: Writer, settings: AdvertiseSettings): Promise<Result<AdvertiseOutcome, Failure>>;
  advertisedServers(limit: number): Promise<AdvertisedServers>;
}
