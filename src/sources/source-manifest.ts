import { type ListName, listNames, withoutSecrets, withServerMetadata } from "../formats/mcp/describe-item.ts";
import { clipText, createWarnings, withLineFeeds } from "../formats/text.ts";
import { isObject } from "../kernel/json.ts";
import { sections } from "../manifest/schema/manifest.ts";
import { type SourceItem, withUniqueNames } from "./unique-names.ts";

type Item = Record<string, unknown>;

/** A source and its reading. */
export interface ReadSource {
  /** Unique among the sources of a server. */
  id: string;
  url: string;
  reading: Readonly<Record<ListName, readonly Item[]>> & {
    protocolVersion: string;
    session: boolean;
    serverInfo?: Item;
    instructions?: string;
  };
}

interface SourceManifest {
  manifest: Record<string, unknown>;
  /** The id of the source of each item, by the item's place in the manifest. */
  offers: Map<string, string>;
  warnings: string[];
}

/** Limit for `serverInfo` and for `instructions`; leaves space for the other fields of a manifest. */
const maxInfoCharacters = 65_536;

/**
 * Combines the readings of a server's sources into one manifest. Items are sorted by key: some servers list them in the
 * order of a hash map, and each reading would otherwise be a change.
 */
export function sourceManifest(server: string, sources: readonly ReadSource[]): SourceManifest {
  const warnings = createWarnings();
  const manifest: Record<string, unknown> = {};
  const places = new Map<string, string>();
  // `sources` is in the order of the config: the first source with `serverInfo` describes the server.
  const serverInfo = sources.map(({ reading }) => reading.serverInfo).find((info) => info !== undefined);
  if (serverInfo !== undefined) manifest.serverInfo = fittingInfo(serverInfo);
  const mcpVersion = sources[0]?.reading.protocolVersion;
  if (mcpVersion !== undefined) manifest.mcpVersion = mcpVersion;
  const instructions = sources.flatMap(({ reading }) => reading.instructions ?? []).join("\n\n");
  const fitting = clipText(instructions, maxInfoCharacters, "what the server tells its users", warnings);
  if (fitting !== undefined) manifest.instructions = fitting;

  for (const list of listNames) {
    const offers = sources.flatMap((source) => offersOf(server, source, list));
    const key = sections[list].key;
    const items = withUniqueNames(list, offers, warnings).toSorted((a, b) => (key(a.item) < key(b.item) ? -1 : 1));
    manifest[list] = items.map(({ item }) => item);
    for (const [index, { source }] of items.entries()) places.set(`/${list}/${index}`, source);
  }
  return { manifest, offers: places, warnings: warnings.all() };
}

function offersOf(server: string, { id, url, reading }: ReadSource, list: ListName): SourceItem[] {
  const provenance = {
    server,
    serverUrl: withoutSecrets(url),
    protocol: reading.protocolVersion,
    requiresSession: reading.session ? "true" : "false",
  } as const;
  return reading[list].map((item) => ({
    source: id,
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

/**
 * Drops all but name and version from an oversized `serverInfo`: icons can have any size, and an oversized header would
 * make the whole manifest invalid.
 */
function fittingInfo(info: Item): Item {
  const plain = typeof info.description === "string" ? { ...info, description: withLineFeeds(info.description) } : info;
  if (JSON.stringify(plain).length <= maxInfoCharacters) return plain;
  const { name, version } = plain;
  return { name, version };
}
