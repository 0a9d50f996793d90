import { canonicalJson, digestOfText } from "../kernel/digest.ts";
import { isObject } from "../kernel/json.ts";
import { clip } from "../kernel/text.ts";
import { type Attribute, attributesOf } from "./attributes.ts";
import { definitionText } from "./definition.ts";
import { type Flag, keepSevere } from "./flag.ts";
import { type Mention, mentionedNames, scanCapability, schemaFlags } from "./scan.ts";
import type { CapabilityKind } from "./schema/capability.ts";
import { type SectionName, sections } from "./schema/manifest.ts";

/** Everything derived from an item's content alone, independent of its publisher and server. */
export interface ItemAnalysis {
  /** The declared capability as canonical JSON. */
  text: string;
  digest: string;
  tokens: number;
  flags: Flag[];
  /** `false` switches the capability off; any other value does not change its state. */
  enabled?: boolean;
  /** First-seen time as declared by the publisher (`discovery.created_at`). Not covered by the digest. */
  createdAt?: string;
  /** The item declares `metadata.discovery`: if it has no `created_at`, the registry sets the first-seen time. */
  discovered: boolean;
  /** Names in the descriptions that may belong to another server's capability. */
  mentions: Mention[];
  /** Values by which the catalog finds the item's server. */
  attributes: Attribute[];
}

/** Analyzes an item that passed validation. */
export async function analyzeItem(
  section: SectionName,
  key: string,
  item: Record<string, unknown>,
  countTokens: (text: string) => Promise<number>,
): Promise<ItemAnalysis> {
  const { kind } = sections[section];
  const { declared, ...normalised } = normalise(item);
  // `override` is an instruction to the registry, not a property of the generator.
  if (kind === "generator") delete declared.override;
  const text = canonicalJson(declared);
  const digest = await digestOfText(text);
  const tokens = await countTokens(definitionText(kind, text));
  return {
    ...{ text, digest, tokens, flags: itemFlags(kind, key, declared), ...normalised },
    ...{ mentions: mentionedNames(declared), attributes: attributesOf(declared) },
  };
}

/**
 * Version of what is derived from the content of an item and stored with it: its tokens and its flags. Raised when the
 * same content gives other values; the stored ones are then derived again by a migration step.
 */
export const analysisVersion = 1;

export function itemFlags(kind: CapabilityKind, key: string, declared: Record<string, unknown>): Flag[] {
  const flags = scanCapability({ kind, name: key, declared });
  for (const field of ["inputSchema", "outputSchema"]) {
    if (isObject(declared[field])) flags.push(...schemaFlags(declared[field], `/${field}`));
  }
  return boundedFlags(flags, flagsPerItem);
}

export const flagsPerItem = 20;
const flagText = 256;

/** Limits the number and length of flags, because they quote published content. */
export function boundedFlags(flags: readonly Flag[], most: number): Flag[] {
  return keepSevere(flags, most).map(({ rule, path, message }) => ({
    rule,
    path: clip(path, flagText),
    message: clip(message, flagText),
  }));
}

/** Only the registry writes under this key. */
const registryMeta = "dev.rollcall/registry";

/** Removes the fields that change without the declared content changing. */
function normalise(item: Record<string, unknown>) {
  const { enabled, lastSynced: _, ...rest } = item;
  const declared: Record<string, unknown> = rest;
  let createdAt: string | undefined;
  if (isObject(declared._meta) && Object.hasOwn(declared._meta, registryMeta)) {
    const { [registryMeta]: _claimed, ...meta } = declared._meta;
    declared._meta = meta;
  }
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
