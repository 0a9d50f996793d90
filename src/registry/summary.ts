import { type Attribute, countAttributes } from "../manifest/attributes.ts";
import { type CapabilityFlag, keepSevere } from "../manifest/flag.ts";
import type { CapabilityKind } from "../manifest/schema/capability.ts";
import type { DirectoryEntry, Head, ProbeState, ServerSummary } from "./contract.ts";
import { entryRecord, factsOf, type ServerFacts, serverFlags, statusFlagsIn } from "./record.ts";
import type { ServerConfig } from "./schema.ts";
import type { ListedServer } from "./server-schema.ts";

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

/** The row that the directory stores of a server. */
export function directoryEntry(
  config: ServerConfig,
  { attributes: _, ...summary }: ServerSummary,
  head: Head,
  updatedAt: string,
): DirectoryEntry {
  const { generation, digest } = head;
  return {
    ...summary,
    ...labelsOf(config),
    tenant: config.tenant,
    name: config.name,
    visibility: config.visibility,
    ...withoutStatusFlags(factsOf(head)),
    flags: listedFlags(serverFlags(head)),
    ...{ generation, updatedAt, digest },
  };
}

/** The row's own flags have them. */
function withoutStatusFlags({ statusFlags: _, ...facts }: ServerFacts): Omit<ServerFacts, "statusFlags"> {
  return facts;
}

/** A list has many rows, so each shows the most severe flags only. */
const flagsPerRow = 5;

function listedFlags(flags: readonly CapabilityFlag[]): readonly CapabilityFlag[] | undefined {
  if (flags.length === 0) return undefined;
  // Those of the status message first: every item of the server shows them.
  const ofStatus = statusFlagsIn(flags) ?? [];
  return keepSevere([...ofStatus, ...flags.filter((flag) => !ofStatus.includes(flag))], flagsPerRow);
}

/** A server as lists show it. */
export function listedServer({ statusMessage, stale, pending, flags, ...entry }: DirectoryEntry): ListedServer {
  const registry = entryRecord({ ...entry, statusMessage, stale, pending, flags });
  return { ...entry, flags: registry.flags, registry };
}

function labelsOf(source: Record<string, unknown>): Pick<ServerSummary, "title" | "description" | "version"> {
  const words: Pick<ServerSummary, "title" | "description" | "version"> = {};
  for (const key of ["title", "description", "version"] as const) {
    const value = source[key];
    if (typeof value === "string") words[key] = value;
  }
  return words;
}
