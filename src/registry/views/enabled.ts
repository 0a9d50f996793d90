import type { StoredCapability, StoredManifest } from "../../manifest/stored.ts";
import type { Head } from "../contract.ts";

/** The capabilities that views show: those that are not switched off. */
export function enabledCapabilities(manifest: StoredManifest | undefined, head: Head): StoredCapability[] {
  if (manifest === undefined) return [];
  if (head.disabled.length === 0) return manifest.capabilities;
  const off = new Set(head.disabled.map(({ kind, key }) => `${kind} ${key}`));
  return manifest.capabilities.filter(({ kind, key }) => !off.has(`${kind} ${key}`));
}

/** The declared item, with its creation time restored at `metadata.discovery.created_at`. */
export function declaredItem(capability: StoredCapability): Record<string, unknown> {
  const { declared, createdAt } = capability;
  if (createdAt === undefined) return declared;
  const metadata = (declared.metadata ?? {}) as Record<string, unknown>;
  const discovery = (metadata.discovery ?? {}) as Record<string, unknown>;
  return { ...declared, metadata: { ...metadata, discovery: { ...discovery, created_at: createdAt } } };
}
