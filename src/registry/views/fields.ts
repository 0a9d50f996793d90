import { isObject } from "../../kernel/json.ts";
import type { StoredManifest } from "../../manifest/stored.ts";
import type { Head } from "../contract.ts";

/** Readers for manifest fields that may be absent or of any type. */

export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

export function object(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

export function objects(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.map(object) : [];
}

/** The manifest's own version, else the version in its `serverInfo`. */
export function versionOf(manifest: StoredManifest | undefined): string {
  const header = manifest?.header ?? {};
  return text(header.version) || text(object(header.serverInfo).version);
}

export function nameOf(manifest: StoredManifest | undefined, head: Head): string {
  return text(object(manifest?.header.serverInfo).name) || head.name;
}
