import type { CapabilityKind } from "../manifest/schema/capability.ts";
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
