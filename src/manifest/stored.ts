import { canonicalJson } from "../kernel/digest.ts";
import type { Flag } from "./flag.ts";
import type { CapabilityKind } from "./schema/capability.ts";
import { sectionForKind } from "./schema/manifest.ts";

/** One capability as it is kept: what was declared, and what was worked out about it once, at publish. */
export interface StoredCapability {
  kind: CapabilityKind;
  /** Name, URI, URI template or generator type: unique among its kind in a manifest. */
  key: string;
  id: string;
  digest: string;
  tokens: number;
  flags: Flag[];
  /** When it was first seen, in the words of its publisher; outside the digest. */
  createdAt?: string;
  declared: Record<string, unknown>;
}

/** A manifest as it is kept: immutable under its digest. */
export interface StoredManifest {
  digest: string;
  /** The manifest's own fields, without its capabilities. */
  header: Record<string, unknown>;
  capabilities: StoredCapability[];
}

/**
 * The declared manifest as canonical JSON: what the digest covers. Put together from capabilities that are canonical
 * already, so that a large manifest is not walked twice.
 */
export function canonicalManifest(
  header: Record<string, unknown>,
  capabilities: readonly { kind: CapabilityKind; text: string }[],
): string {
  const members = new Map(Object.entries(header).map(([key, value]) => [key, canonicalJson(value)]));
  for (const [kind, items] of Map.groupBy(capabilities, (capability) => capability.kind)) {
    members.set(sectionForKind(kind), `[${items.map(({ text }) => text).join(",")}]`);
  }
  // The default sort compares UTF-16 code units, which is the order RFC 8785 asks for.
  const names = [...members.keys()].sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${members.get(name)}`).join(",")}}`;
}
