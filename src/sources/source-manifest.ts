import { type ListName, listNames, withoutSecrets, withServerMetadata } from "../formats/mcp/describe-item.ts";
import { createWarnings } from "../formats/text.ts";
import { isObject } from "../kernel/json.ts";
import { sections } from "../manifest/schema/manifest.ts";
import { type SourceCopy, type SourceOffer, sourceHeader } from "../registry/sources/offer.ts";
import { type NameBefore, type SourceItem, withUniqueNames } from "./unique-names.ts";

type Item = Record<string, unknown>;

/** A source and what it offers. */
export interface ReadSource {
  /** Unique among the sources of a server. */
  id: string;
  /** The address that offers this. */
  url: string;
  offer: SourceOffer;
  /** Its last copy, of whatever address: items keep the names that they have. */
  copy?: SourceCopy;
  /** True if this was offered at an address that the source has no longer: the items are hidden. */
  isFormer?: boolean;
}

interface SourceManifest {
  manifest: Record<string, unknown>;
  /** The source of each item, and its name there, by the item's place in the manifest. */
  offers: Map<string, { source: string; list: ListName; own: string }>;
  /** By source, the names of items that have another name now, or none. */
  names: Map<string, SourceCopy["names"]>;
  warnings: string[];
}

/**
 * Combines the offers of a server's sources into one manifest. Items are sorted by key: some servers list them in the
 * order of a hash map, and each reading would otherwise be a change.
 */
export function sourceManifest(server: string, sources: readonly ReadSource[]): SourceManifest {
  const warnings = createWarnings();
  const present = sources.filter(({ isFormer }) => isFormer !== true).map(({ offer }) => offer);
  const manifest: Record<string, unknown> = sourceHeader(present, warnings);
  const places: SourceManifest["offers"] = new Map();
  const names: SourceManifest["names"] = new Map(sources.map(({ id }) => [id, {}]));
  for (const list of listNames) {
    const offers = sources.flatMap((source) => offersOf(server, source, list));
    const key = sections[list].key;
    const named = withUniqueNames(list, offers, namesBefore(list, sources), warnings);
    const items = named.items.toSorted((a, b) => (key(a.item) < key(b.item) ? -1 : 1));
    manifest[list] = items.map(({ item }) => item);
    for (const [index, { source, own }] of items.entries()) places.set(`/${list}/${index}`, { source, list, own });
    for (const [source, given] of Map.groupBy(named.names, (one) => one.source)) {
      const ofList = { [list]: Object.fromEntries(given.map(({ own, name }) => [own, name])) };
      names.set(source, { ...names.get(source), ...ofList });
    }
  }
  return { manifest, offers: places, names, warnings: warnings.all() };
}

function namesBefore(list: ListName, sources: readonly ReadSource[]): NameBefore {
  const known = new Map(
    sources.map(({ id, copy }) => {
      const names = new Map(Object.entries(copy?.names[list] ?? {}));
      return [id, new Map(copy?.offer[list].map((item) => [ownKey(list, item), names.get(ownKey(list, item))]))];
    }),
  );
  return (source, own) => {
    const copied = known.get(source);
    if (copied?.has(own) !== true) return undefined;
    const name = copied.get(own) ?? own;
    return name === "" ? undefined : name;
  };
}

/** The name or URI that identifies an item in its list. */
export function ownKey(list: ListName, item: Item): string {
  return sections[list].key(item);
}

function offersOf(server: string, { id, url, offer, isFormer }: ReadSource, list: ListName): SourceItem[] {
  const provenance = {
    server,
    serverUrl: withoutSecrets(url),
    protocol: offer.protocolVersion,
    requiresSession: offer.session ? "true" : "false",
  } as const;
  return offer[list].map((item) => ({
    source: id,
    own: ownKey(list, item),
    isFormer,
    item: { ...withServerMetadata(withoutReservedFields(item), list, provenance), provider: "mcp" },
  }));
}

/**
 * Removes the fields that a source must not set: discovery, address and names are recorded by the registry; `id`,
 * `enabled` and `lastSynced` belong to the registry.
 */
function withoutReservedFields({ id: _id, enabled: _enabled, lastSynced: _lastSynced, ...item }: Item): Item {
  const { metadata } = item;
  if (!isObject(metadata)) return item;
  const { discovery: _discovery, mcp, ...others } = metadata;
  if (!isObject(mcp)) return { ...item, metadata: others };
  const seen = ["server_url", "server_name", "tool_name", "prompt_name", "protocol_version", "requires_session"];
  const hints = Object.fromEntries(Object.entries(mcp).filter(([key]) => !seen.includes(key)));
  return { ...item, metadata: { ...others, mcp: hints } };
}
