import type { ListName } from "../../formats/mcp/describe-item.ts";
import { clipText, type Warnings, withLineFeeds } from "../../formats/text.ts";

type Item = Record<string, unknown>;

/** What a source offers; items are unchanged, as the source declares them. */
export interface SourceOffer extends Readonly<Record<ListName, readonly Item[]>> {
  protocolVersion: string;
  /** True if callers need an MCP session. */
  session: boolean;
  serverInfo?: Item;
  instructions?: string;
}

/** What a source offered when it was last read. */
export interface SourceCopy {
  offer: SourceOffer;
  /** By list, the names of items that are published under another name; the empty text for an item that is left out. */
  names: Partial<Record<ListName, Record<string, string>>>;
}

/** Limit for `serverInfo` and for `instructions`; leaves space for the other fields of a manifest. */
const maxInfoCharacters = 65_536;

/** The fields of a manifest that sources set. `offers` is in the order of the config: the first describes the server. */
export function sourceHeader(offers: readonly SourceOffer[], warnings: Warnings): Record<string, unknown> {
  const header: Record<string, unknown> = {};
  const serverInfo = offers.map((offer) => offer.serverInfo).find((info) => info !== undefined);
  if (serverInfo !== undefined) header.serverInfo = fittingInfo(serverInfo);
  const mcpVersion = offers[0]?.protocolVersion;
  if (mcpVersion !== undefined) header.mcpVersion = mcpVersion;
  const instructions = offers.flatMap((offer) => offer.instructions ?? []).join("\n\n");
  const fitting = clipText(instructions, maxInfoCharacters, "what the server tells its users", warnings);
  if (fitting !== undefined) header.instructions = fitting;
  return header;
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
