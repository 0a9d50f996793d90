import { isMember, type Principal } from "../auth/principal.ts";
import { unwrap } from "../http/context.ts";
import type { ServerRef } from "../kernel/names.ts";
import type { StoredCapability } from "../manifest/stored.ts";
import type { Head } from "../registry/contract.ts";
import { allowCached, readManifest } from "../registry/read.ts";
import { itemRecords, serverRecord } from "../registry/record.ts";
import type { ItemRecord, RegistryRecord } from "../registry/record-schema.ts";
import { readServer } from "../registry/servers.ts";
import { enabledCapabilities, tokensOf } from "../registry/views/enabled.ts";
import type { ConsoleDeps } from "./deps.ts";

/** A capability with what the registry knows of it. */
export interface ShownItem {
  item: StoredCapability;
  record: ItemRecord;
}

/** A server as its pages show it. */
export interface ShownServer {
  /** Of its tenant. */
  key: ServerRef["tenant"];
  tenant: string;
  name: string;
  title?: string;
  description?: string;
  version?: string;
  head: Head;
  header: Record<string, unknown>;
  items: ShownItem[];
  tokens: number;
  record: RegistryRecord;
  updatedAt: string;
  /** What the registry reads, with addresses: for members alone. */
  sources: readonly { type: string; url?: string }[];
  /** What the viewer is here: members see the history, managers may change things. */
  role: "visitor" | "member" | "manager";
  /** While true, a page made of this may be sent again. */
  holds: () => boolean;
}

/** Reads a server for a page; throws what the API would answer. */
export async function showServer(services: ConsoleDeps, principal: Principal, ref: ServerRef): Promise<ShownServer> {
  const { head, manifest } = unwrap(await readManifest(services, principal, ref));
  const remembered = services.heads.peek(ref, allowCached);
  // The settings are the object's alone; they have the labels that win over the manifest's.
  const { entry } = unwrap(await readServer(services, principal, ref));
  const { config, summary, updatedAt } = entry;
  const enabled = enabledCapabilities(manifest, head);
  const recordOf = itemRecords(head);
  const tokens = tokensOf(enabled);
  return {
    key: ref.tenant,
    tenant: head.tenant,
    name: head.name,
    title: config.title ?? summary.title,
    description: config.description ?? summary.description,
    version: summary.version,
    head,
    header: manifest?.header ?? {},
    items: enabled.map((item) => ({ item, record: recordOf(item) })),
    tokens,
    record: serverRecord(head, tokens),
    updatedAt,
    sources: config.sources ?? [],
    role: roleIn(principal, ref.tenant),
    holds: () => remembered !== undefined && services.heads.peek(ref, allowCached) === remembered,
  };
}

export function roleIn(principal: Principal, tenant: ServerRef["tenant"]): ShownServer["role"] {
  if (principal.anonymous || !isMember(principal, tenant)) return "visitor";
  return principal.scopes.includes("registry:publish") ? "manager" : "member";
}
