import { isObject } from "../../kernel/json.ts";
import type { StoredCapability, StoredManifest } from "../../manifest/stored.ts";
import type { Head } from "../contract.ts";

/** The manifest without the items that are hidden: nobody is shown them, whatever the view. */
export function visibleManifest(manifest: StoredManifest, head: Head): StoredManifest {
  if (head.hidden === undefined) return manifest;
  return { ...manifest, capabilities: manifest.capabilities.filter((_, at) => !isHidden(head, at)) };
}

/** True if the item at this place of the manifest is hidden with its source. */
export function isHidden({ hidden = [] }: Head, at: number): boolean {
  return hidden.some(([first, last]) => first <= at && at <= last);
}

/** The capabilities that views show: those that are not switched off. */
export function enabledCapabilities(manifest: StoredManifest | undefined, head: Head): StoredCapability[] {
  if (manifest === undefined) return [];
  if (head.disabled.length === 0) return manifest.capabilities;
  const off = new Set(head.disabled.map(({ kind, key }) => `${kind} ${key}`));
  return manifest.capabilities.filter(({ kind, key }) => !off.has(`${kind} ${key}`));
}

/** Cost of all definitions together. */
export function tokensOf(shown: readonly StoredCapability[]): number {
  return shown.reduce((sum, { tokens }) => sum + tokens, 0);
}

/**
 * The declared item, with its creation time restored at `metadata.discovery.created_at`. An item that declares no
 * provenance gets none here: published back, it would be another item.
 */
export function declaredItem(capability: StoredCapability): Record<string, unknown> {
  const { declared, createdAt } = capability;
  const { metadata } = declared;
  if (createdAt === undefined || !isObject(metadata) || !isObject(metadata.discovery)) return declared;
  const { discovery } = metadata;
  return { ...declared, metadata: { ...metadata, discovery: { ...discovery, created_at: createdAt } } };
}
