import { type Attribute, countAttributes } from "../manifest/attributes.ts";
import type { CapabilityKind } from "../manifest/schema/capability.ts";
import type { DirectoryEntry, ProbeState, ServerSummary } from "./contract.ts";
import type { ServerConfig } from "./schema.ts";

interface SummarisedItem {
  kind: CapabilityKind;
  key: string;
  tokens: number;
  attributes: readonly Attribute[];
}

/** Computed at publish. When shown, title, description and version of the config win over those of the manifest. */
export function summarise<Item extends SummarisedItem>(
  header: Record<string, unknown>,
  capabilities: readonly Item[],
  isOff: (item: Item) => boolean,
): ServerSummary {
  const counts: Partial<Record<CapabilityKind, number>> = {};
  let tokens = 0;
  for (const capability of capabilities) {
    counts[capability.kind] = (counts[capability.kind] ?? 0) + 1;
    tokens += capability.tokens;
  }
  const shown = capabilities.filter((capability) => !isOff(capability));
  return {
    ...labelsOf(header),
    counts,
    tokens,
    attributes: countAttributes(shown.map(({ attributes }) => attributes)),
  };
}

/** State of a server's sources, from best to worst; `unknown` if it has none. */
export const serverProbes = ["unknown", "live", "pending", "gated", "not-mcp", "unreachable"] as const;
type ServerProbe = (typeof serverProbes)[number];

/** One row of the directory: the list entry, and the attributes by which the catalogue is filtered. */
export interface CatalogEntry extends DirectoryEntry {
  probe: ServerProbe;
  attributes: Attribute[];
}

/** The worst state of a server's sources. Nothing is known of a source that is not read. */
export function probeOf(states: readonly ProbeState[]): ServerProbe {
  const ranks = states.map((state) => (state === "not-read" ? 0 : serverProbes.indexOf(state)));
  return serverProbes[Math.max(0, ...ranks)] ?? "unknown";
}

export function directoryEntry(
  config: ServerConfig,
  { attributes: _, ...summary }: ServerSummary,
  state: { generation: number; updatedAt: string; digest?: string },
): DirectoryEntry {
  return {
    ...summary,
    ...labelsOf(config),
    tenant: config.tenant,
    name: config.name,
    visibility: config.visibility,
    status: config.status ?? "active",
    statusMessage: config.statusMessage,
    ...state,
  };
}

function labelsOf(source: Record<string, unknown>): Pick<ServerSummary, "title" | "description" | "version"> {
  const words: Pick<ServerSummary, "title" | "description" | "version"> = {};
  for (const key of ["title", "description", "version"] as const) {
    const value = source[key];
    if (typeof value === "string") words[key] = value;
  }
  return words;
}
