import { digestOf } from "../../../../src/kernel/digest.ts";
import type { Connection } from "../client/connection.ts";
import { isRollcallError } from "../client/errors.ts";
import { read, revision } from "../client/read.ts";
import { type Flag, factsOf, itemsIn, sectionKinds } from "../client/shapes.ts";

/** A server as it is now, in the registry or running. */
export interface CurrentServer {
  digest?: string;
  version?: string;
  status?: string;
  statusMessage?: string;
  /** A revision that waits for review: readers still get the approved one. */
  isPending?: boolean;
  tokens: number;
  /** By kind and name, such as `tool:get_forecast`. */
  items: Map<string, CurrentItem>;
  /** Flags about the server itself. */
  flags: Flag[];
  /** Digests that the registry states but that its own content does not have. */
  mismatches: string[];
}

export interface CurrentItem {
  id?: string;
  digest: string;
  tokens: number;
  flags: Flag[];
  status?: string;
  statusMessage?: string;
  declared: Record<string, unknown>;
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What the digest of an item covers: all but what moves by itself or is the registry's own. */
export function declaredContent(item: Json): Json {
  const { enabled: _enabled, lastSynced: _synced, registry: _registry, ...declared } = item;
  const { metadata } = declared;
  if (isObject(metadata) && isObject(metadata.discovery) && typeof metadata.discovery.created_at === "string") {
    const { created_at: _created, ...discovery } = metadata.discovery;
    declared.metadata = { ...metadata, discovery };
  }
  return declared;
}

/** Name of an item within its kind: its name, URI, URI template or type. */
export function keyOf(kind: string, item: Json): string {
  const patterns = Array.isArray(item.patterns) ? item.patterns[0] : undefined;
  const key =
    kind === "resource"
      ? item.uri
      : kind === "resourceTemplate"
        ? (item.uriTemplate ?? patterns)
        : kind === "generator"
          ? item.type
          : item.name;
  return `${kind}:${String(key)}`;
}

/** Items of a manifest with the digests that the registry would give them. */
export async function itemsOfManifest(manifest: Json): Promise<Map<string, CurrentItem>> {
  const items = new Map<string, CurrentItem>();
  for (const [section, kind] of Object.entries(sectionKinds)) {
    for (const item of Array.isArray(manifest[section]) ? (manifest[section] as Json[]) : []) {
      const declared = declaredContent(item);
      items.set(keyOf(kind, item), { digest: await digestOf(declared), tokens: 0, flags: [], declared });
    }
  }
  return items;
}

/**
 * One server of the registry. With `recompute`, every digest is hashed from the content that was received, so that the
 * registry need not be believed.
 */
export async function currentServer(
  connection: Connection,
  server: string,
  { recompute = false, fresh = true, signal }: { recompute?: boolean; fresh?: boolean; signal?: AbortSignal } = {},
): Promise<CurrentServer> {
  const data = await read(connection, server, { fresh, signal });
  const facts = factsOf(data);
  const items = new Map<string, CurrentItem>();
  const mismatches: string[] = [];
  const hashed = await itemsOfManifest(data as unknown as Json);
  let isPlain = false;
  for (const { kind, item, facts: own } of itemsIn(data)) {
    const key = keyOf(kind, item);
    const computed = hashed.get(key);
    if (computed === undefined) continue;
    const ofItem = facts.flags.filter((flag) => flag.capability !== undefined && flag.capability === own.id);
    const flags = own.flags.length > 0 ? own.flags : ofItem;
    if (own.digest === undefined) isPlain = true;
    if (recompute && own.digest !== undefined && own.digest !== computed.digest) mismatches.push(key);
    const { id, digest = computed.digest, tokens = 0, status, statusMessage } = own;
    items.set(key, { ...computed, id, digest, tokens, flags, status, statusMessage });
  }
  const digest = facts.digest;
  if (digest !== undefined && (isPlain || recompute)) {
    await addRevision(connection, server, digest, { items, mismatches, recompute, signal });
  }
  return {
    digest,
    version: data.version,
    status: facts.status,
    statusMessage: facts.statusMessage,
    isPending: facts.isPending,
    tokens: facts.tokens ?? 0,
    items,
    flags: facts.flags.filter((flag) => flag.capability === undefined),
    mismatches,
  };
}

/** The revision has what an older registry leaves out of its items, and exactly what the server's digest covers. */
async function addRevision(
  connection: Connection,
  server: string,
  digest: string,
  known: { items: Map<string, CurrentItem>; mismatches: string[]; recompute: boolean; signal?: AbortSignal },
): Promise<void> {
  try {
    const whole = await revision(connection, server, digest, { signal: known.signal });
    for (const { kind, name, id, registry } of whole.capabilities) {
      const item = known.items.get(`${kind}:${name}`);
      if (item !== undefined) Object.assign(item, { id, tokens: registry.tokens, flags: registry.flags });
    }
    if (known.recompute && (await digestOf(whole.manifest)) !== digest) known.mismatches.push("server");
  } catch (error) {
    // Members only; for others the items must do.
    if (!isRollcallError(error) || ![401, 403, 404].includes(error.status)) throw error;
  }
}
