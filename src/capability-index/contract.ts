import type { Failure } from "../kernel/failure.ts";
import type { Result } from "../kernel/result.ts";
import type { CapabilityKind } from "../manifest/schema/capability.ts";
import type { AsOf, Writer } from "../registry/contract.ts";
import type { Advertise } from "../registry/schema.ts";
import type { AdvertiseSettings } from "./schema.ts";

/** What a capability index is made of, read straight from the rows: a page at a time, each bounded in bytes. */

/** Whose elements: of one server or all, and for outsiders only of public servers. */
export interface IndexRange {
  server?: string | undefined;
  onlyPublic: boolean;
}

/** Enough to decide who may read an index, and whether a rendered one is still good. */
export interface IndexState {
  generation: number;
  /** Moves with everything that an index of the range shows. */
  stamp: string;
  hasPublic: boolean;
  /** Of the tenant's own index. */
  advertise?: Advertise;
  /** The server that was asked for, while it is there. */
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
}

export interface IndexRow {
  server: string;
  kind: CapabilityKind;
  key: string;
  id: string;
  digest: string;
  /** JSON: the whole item, or what it declares as its triggers. */
  text: string | null;
}

export interface IndexPage<T> {
  stamp: string;
  rows: T[];
  /** Where to go on; absent on the last page. */
  next?: string[];
}

export interface AdvertisedServer {
  name: string;
  advertise: Advertise;
  /** About what its items cost, switched off or not. */
  tokens: number;
}

/** Which variants of the tenant's own index are advertised, and the generation at which that was said. */
export interface TenantAdvertise {
  settings: AdvertiseSettings;
  since: number;
}

/** A capability as its publisher declared it. */
export interface DeclaredItem {
  id: string;
  digest: string;
  declared: Record<string, unknown>;
}

/** What the index asks a tenant's object. */
export interface IndexTenant {
  /** Who may read an index, and whether one that was rendered is still good. */
  indexState(server?: string): Promise<IndexState>;
  indexServers(range: IndexRange, after: string): Promise<IndexPage<IndexServer>>;
  indexItems(range: IndexRange, part: { whole: boolean; after: readonly string[] }): Promise<IndexPage<IndexRow>>;
  /** What items declare, by their ids, as far as one answer has room. */
  declared(ids: readonly string[], range: Pick<IndexRange, "onlyPublic">): Promise<AsOf<{ items: DeclaredItem[] }>>;
  advertise(): Promise<AsOf<{ current?: TenantAdvertise }>>;
  setAdvertise(
    writer: Writer,
    settings: AdvertiseSettings,
  ): Promise<Result<{ generation: number; since: number; changed: boolean }, Failure>>;
  advertisedServers(limit: number): Promise<{ servers: AdvertisedServer[]; tokens: number }>;
}
