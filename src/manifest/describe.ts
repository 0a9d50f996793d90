import { canonicalJson, digestOfText } from "../kernel/digest.ts";
import { isObject } from "../kernel/json.ts";
import { clip } from "../kernel/text.ts";
import { type Attribute, attributesOf } from "./attributes.ts";
import type { Flag } from "./flag.ts";
import { mentionedNames, scanCapability, schemaFlags } from "./scan.ts";
import { type SectionName, sections } from "./schema/manifest.ts";

/** What follows from an item's own text and nothing else: whoever publishes it, wherever. */
export interface ItemAnalysis {
  /** The declared capability as canonical JSON. */
  text: string;
  digest: string;
  tokens: number;
  flags: Flag[];
  /** `false` switches it off; anything else leaves it as it is. */
  enabled?: boolean;
  /** When it was first seen, in the words of its publisher; outside the digest. */
  createdAt?: string;
  /** It says how it was discovered: where it does not say when, the registry does. */
  discovered: boolean;
  /** Names in its text that may belong to another server's capability. */
  mentions: string[];
  /** What its server is found by on its account. */
  attributes: Attribute[];
}

/** Describes an item that passed the rules. */
export async function analyzeItem(
  section: SectionName,
  key: string,
  item: Record<string, unknown>,
  countTokens: (digest: string, text: string) => Promise<number>,
): Promise<ItemAnalysis> {
  const { kind } = sections[section];
  const { declared, ...normalised } = normalise(item);
  // An instruction to the registry, not a property of the generator.
  if (kind === "generator") delete declared.override;
  const text = canonicalJson(declared);
  const digest = await digestOfText(text);
  const tokens = await countTokens(digest, text);
  const flags = scanCapability({ kind, name: key, declared });
  for (const field of ["inputSchema", "outputSchema"]) {
    if (isObject(declared[field])) flags.push(...schemaFlags(declared[field], `/${field}`));
  }
  return {
    ...{ text, digest, tokens, flags: boundedFlags(flags, flagsPerItem), ...normalised },
    ...{ mentions: mentionedNames(declared), attributes: attributesOf(declared) },
  };
}

export const flagsPerItem = 20;
const flagText = 256;

/** Flags quote what the publisher wrote; however long that is, they stay short and few. */
export function boundedFlags(flags: readonly Flag[], most: number): Flag[] {
  return flags
    .slice(0, most)
    .map(({ rule, path, message }) => ({ rule, path: clip(path, flagText), message: clip(message, flagText) }));
}

/** Takes out what moves without the declared content changing. */
function normalise(item: Record<string, unknown>) {
  const { enabled, lastSynced: _, ...rest } = item;
  const declared: Record<string, unknown> = rest;
  let createdAt: string | undefined;
  const { metadata } = declared;
  if (isObject(metadata) && isObject(metadata.discovery) && typeof metadata.discovery.created_at === "string") {
    const { created_at, ...discovery } = metadata.discovery;
    createdAt = created_at as string;
    declared.metadata = { ...metadata, discovery };
  }
  return {
    declared,
    discovered: isObject(metadata) && isObject(metadata.discovery),
    enabled: typeof enabled === "boolean" ? enabled : undefined,
    createdAt,
  };
}
