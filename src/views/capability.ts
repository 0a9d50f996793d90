import type { CapabilityFlag } from "../domain/issue.ts";
import { runtimeHints } from "../domain/runtime-hints.ts";
import type { StoredCapability } from "../domain/stored.ts";
import { declaredItem } from "./enabled.ts";

/** One capability with where it belongs and what is known of it. */
export interface CapabilityDocument {
  server: { tenant: string; name: string };
  capability: StoredCapability;
  flags: CapabilityFlag[];
}

export interface CapabilityOptions {
  /** Say where and with which variables a runtime would call it. */
  hints: boolean;
}

/** Generic fields at the top, provider details and provenance under `metadata`, what the registry knows beside them. */
export function capabilityDocument(
  { server, capability, flags }: CapabilityDocument,
  { hints }: CapabilityOptions,
): Record<string, unknown> {
  const { id, kind, digest, tokens } = capability;
  return {
    ...declaredItem(capability),
    id,
    kind,
    registry: { ...server, digest, tokens, flags: [...capability.flags, ...flags] },
    ...(hints ? { runtime: runtimeHints(capability) } : {}),
  };
}
