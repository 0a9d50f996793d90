import type { CapabilityKind, ServerConfig } from "../schemas/index.ts";

/** What lists show of a server without reading its manifest. */
export interface ServerSummary {
  title?: string;
  description?: string;
  version?: string;
  counts?: Partial<Record<CapabilityKind, number>>;
  tokens?: number;
}

/** Worked out at publish. The config's own words win over the manifest's when shown. */
export function summarise(
  header: Record<string, unknown>,
  capabilities: readonly { kind: CapabilityKind; tokens: number }[],
): ServerSummary {
  const counts: Partial<Record<CapabilityKind, number>> = {};
  let tokens = 0;
  for (const capability of capabilities) {
    counts[capability.kind] = (counts[capability.kind] ?? 0) + 1;
    tokens += capability.tokens;
  }
  return { ...wordsOf(header), counts, tokens };
}

/** One row of the directory. */
export interface DirectoryEntry extends ServerSummary {
  tenant: string;
  name: string;
  visibility: "tenant" | "public";
  status: "active" | "deprecated";
  generation: number;
  updatedAt: string;
  digest?: string;
}

export function directoryEntry(
  config: ServerConfig,
  summary: ServerSummary,
  state: { generation: number; updatedAt: string; digest?: string },
): DirectoryEntry {
  return {
    ...summary,
    ...wordsOf(config),
    tenant: config.tenant,
    name: config.name,
    visibility: config.visibility,
    status: config.status ?? "active",
    ...state,
  };
}

function wordsOf(source: Record<string, unknown>): Pick<ServerSummary, "title" | "description" | "version"> {
  const words: Pick<ServerSummary, "title" | "description" | "version"> = {};
  for (const key of ["title", "description", "version"] as const) {
    const value = source[key];
    if (typeof value === "string") words[key] = value;
  }
  return words;
}
