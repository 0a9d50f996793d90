import { itemKey } from "../../manifest/diff.ts";
import { shownFlags } from "../../manifest/flag.ts";
import { sectionForKind, sectionNames } from "../../manifest/schema/manifest.ts";
import type { StoredCapability, StoredManifest } from "../../manifest/stored.ts";
import { defaultServerInfo } from "../../manifest/validate.ts";
import type { Head } from "../contract.ts";
import { itemRecords, serverFlags, serverRecord } from "../record.ts";
import { sourceWarnings } from "../sources/warnings.ts";
import { declaredItem, enabledCapabilities } from "./enabled.ts";
import type { View } from "./view.ts";

/** Sections that the capabilities API always includes, even if empty. */
const always = ["tools", "prompts", "resources", "resourceTemplates"];

/** All enabled capabilities of a server, in the envelope of the capabilities API. */
export const capabilitiesView: View = {
  version: "c4",
  contentType: "application/json; charset=utf-8",
  render: (manifest, head) => render(manifest, head, enabledCapabilities(manifest, head)),
};

/** The same with the switched-off items among the others, for those who manage the server. */
export const managedView: View = {
  version: "c4d",
  contentType: "application/json; charset=utf-8",
  render: (manifest, head) => render(manifest, head, manifest?.capabilities ?? []),
};

function render(manifest: StoredManifest | undefined, head: Head, shown: readonly StoredCapability[]): string {
  const lastSynced = head.lastSynced ?? null;
  const off = new Set(head.disabled.map(itemKey));
  const recordOf = itemRecords(head);
  const records = new Map(shown.map((item) => [item, recordOf(item)]));
  const items = Map.groupBy(shown, ({ kind }) => sectionForKind(kind));
  const data: Record<string, unknown> = { ...manifest?.header };
  for (const section of sectionNames) {
    const list = items.get(section);
    if (list === undefined && !always.includes(section)) continue;
    data[section] = (list ?? []).map((item) => ({
      ...declaredItem(item),
      enabled: off.size === 0 || !off.has(itemKey(item)),
      lastSynced,
      registry: records.get(item),
    }));
  }
  const ofItems = [...records.values()].flatMap(({ id, flags }) => flags.map((flag) => ({ ...flag, capability: id })));
  const tokens = shown.reduce((sum, item) => sum + (off.size > 0 && off.has(itemKey(item)) ? 0 : item.tokens), 0);
  return JSON.stringify({
    success: true,
    message: "MCP capabilities retrieved successfully",
    data: {
      ...data,
      serverInfo: data.serverInfo ?? defaultServerInfo(data, head.name),
      lastSynced,
      registry: {
        digest: head.digest ?? null,
        ...serverRecord(head, tokens),
        flags: [...shownFlags(serverFlags(head)), ...ofItems],
        ...sourcesOf(head),
      },
    },
  });
}

/** The sources and their status. */
function sourcesOf(head: Head): Record<string, unknown> {
  const { sources, warnings = [] } = head;
  if (sources === undefined) return {};
  const told = sourceWarnings(head);
  return {
    sources,
    warnings: told.length + warnings.length > 0 ? [...told, ...warnings] : undefined,
  };
}
