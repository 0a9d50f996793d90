import { canonicalJson } from "../kernel/digest.ts";
import type { Flag } from "./flag.ts";
import type { CapabilityKind } from "./schema/capability.ts";
import { sectionForKind } from "./schema/manifest.ts";

/** A stored capability: the declared content, and the data derived from it at publish. */
export interface StoredCapability {
  kind: CapabilityKind;
  /** Name, URI, URI template or generator type. Unique per kind within a manifest. */
  key: string;
  id: string;
  digest: string;
  tokens: number;
  flags: Flag[];
  /** First-seen time, declared by the publisher or set by the registry. Not covered by the digest. */
  createdAt?: string;
  declared: Record<string, unknown>;
}

/** A stored manifest. Its declared content is immutable under its digest. */
export interface StoredManifest {
  digest: string;
  /** The version of the analysis that tokens and flags are from; absent in copies of the first release. */
  analysis?: number;
  /** The fields of the manifest other than its capabilities. */
  header: Record<string, unknown>;
  capabilities: StoredCapability[];
}

/**
 * The declared manifest as canonical JSON, which the digest covers. Built from the canonical text of the capabilities,
 * so that a large manifest is not serialized twice.
 */
export function canonicalManifest(
  header: Record<string, unknown>,
  capabilities: readonly { kind: CapabilityKind; text: string }[],
): string {
  const members = new Map(Object.entries(header).map(([key, value]) => [key, canonicalJson(value)]));
  for (const [kind, items] of Map.groupBy(capabilities, (capability) => capability.kind)) {
    members.set(sectionForKind(kind), `[${items.map(({ text }) => text).join(",")}]`);
  }
  // The default sort compares UTF-16 code units, as RFC 8785 requires.
  const names = [...members.keys()].sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${members.get(name)}`).join(",")}}`;
}
