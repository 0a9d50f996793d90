import type { CapabilityKind } from "../manifest/schema/capability.ts";

/** A current capability as a search or a negotiation sees it: enough to choose by, without its schema. */
export interface CapabilityCard {
  tenant: string;
  server: string;
  kind: CapabilityKind;
  /** Name, URI, URI template or generator type. */
  key: string;
  id: string;
  digest: string;
  tokens: number;
  /** Declared by the item, else by its server. */
  version?: string;
  title?: string;
  /** The first few hundred characters. */
  description?: string;
}

/** What to look for among current capabilities that are switched on. */
export interface CardQuery {
  /** Plain words, never query syntax. Empty lists in order of server, kind and key. */
  text: string;
  kinds?: readonly CapabilityKind[];
  /** By name, of whichever tenants are asked. */
  servers?: readonly string[];
  limit: number;
}
