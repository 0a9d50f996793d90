import { itemKey } from "../../manifest/diff.ts";
import { type CapabilityFlag, shownFlags } from "../../manifest/flag.ts";
import { sectionForKind, sectionNames } from "../../manifest/schema/manifest.ts";
import type { StoredCapability, StoredManifest } from "../../manifest/stored.ts";
import { defaultServerInfo } from "../../manifest/validate.ts";
import type { Head } from "../contract.ts";
import { declaredItem, enabledCapabilities } from "./enabled.ts";
import type { View } from "./view.ts";

/** Sections that the capabilities API always includes, even if empty. */
const always = ["tools", "prompts", "resources", "resourceTemplates"];

/** All enabled capabilities of a server, in the envelope of the capabilities API. */
export const capabilitiesView: View = {
  version: "c3",
  contentType: "application/json; charset=utf-8",
  render: (manifest, head) => render(manifest, head, enabledCapabilities(manifest, head)),
};

/** The same with the switched-off items among the others, for those who manage the server. */
export const managedView: View = {
  version: "c3d",
  contentType: "application/json; charset=utf-8",
  render: (manifest, head) => render(manifest, head, manifest?.capabilities ?? []),
};

function render(manifest: StoredManifest | undefined, head: Head, shown: readonly StoredCapability[]): string {
  const lastSynced = head.lastSynced ?? null;
  const off = new Set(head.disabled.map(itemKey));
  const items = Map.groupBy(shown, ({ kind }) => sectionForKind(kind));
  const data: Record<string, unknown> = { ...manifest?.header };
  for (const section of sectionNames) {
    const list = items.get(section);
    if (list === undefined && !always.includes(section)) continue;
    data[section] = (list ?? []).map((item) => ({
      ...declaredItem(item),
      enabled: off.size === 0 || !off.has(itemKey(item)),
      lastSynced,
    }));
  }
  const ids = new Set(shown.map(({ id }) => id));
  const flags: CapabilityFlag[] = [
    ...head.flags.filter(({ capability }) => capability === undefined || ids.has(capability)),
    ...shown.flatMap(({ flags, id }) => flags.map((flag) => ({ ...flag, capability: id }))),
  ];
  return JSON.stringify({
    success: true,
    message: "MCP capabilities retrieved successfully",
    data: {
      ...data,
      serverInfo: data.serverInfo ?? defaultServerInfo(data, head.name),
      lastSynced,
      status: head.status,
      digest: head.digest ?? null,
      tokens: shown.reduce((sum, item) => sum + (off.size > 0 && off.has(itemKey(item)) ? 0 : item.tokens), 0),
      flags: flags.length > 0 ? shownFlags(flags) : undefined,
      ...sourcesOf(head),
    },
  });
}

/** The sources and their status. `stale`: no source could be read the last time, so the capabilities are older. */
function sourcesOf({ sources, warnings = [] }: Head): Record<string, unknown> {
  if (sources === undefined) return {};
  const failed = sources.filter(({ status }) => status !== "live" && status !== "pending");
  const told = failed.map(({ id, status }) => `Source ${id} is ${status}; showing its last known capabilities`);
  return {
    sources,
    stale: failed.length === sources.length ? true : undefined,
    warnings: told.length + warnings.length > 0 ? [...told, ...warnings] : undefined,
  };
}
