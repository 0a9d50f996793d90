/**
 * Where answers say what the registry knows of a server or an item: tokens, flags, status. The one place that knows that
 * older registries have these beside the declared members, and newer ones in a member `registry`.
 */

export interface Flag {
  rule: string;
  severity?: string;
  path: string;
  message: string;
  capability?: string;
  acknowledged?: { by?: string };
}

export interface Facts {
  id?: string;
  digest?: string;
  tokens?: number;
  flags: Flag[];
  status?: string;
  statusMessage?: string;
  isStale?: boolean;
  /** A change waits for review. */
  isPending?: boolean;
  warnings: string[];
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The arrays of a manifest, and the kind of their items. */
export const sectionKinds = {
  tools: "tool",
  prompts: "prompt",
  resources: "resource",
  resourceTemplates: "resourceTemplate",
  generators: "generator",
  operations: "operation",
  agents: "agent",
  skills: "skill",
} as const;

/** What the registry knows of a server, an item, or a row of search and catalogue. */
export function factsOf(answer: object): Facts {
  const own = answer as Json;
  const known = isObject(own.registry) ? { ...own, ...own.registry } : own;
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  return {
    id: text(known.id),
    digest: text(known.digest),
    tokens: typeof known.tokens === "number" ? known.tokens : undefined,
    flags: Array.isArray(known.flags) ? (known.flags as Flag[]) : [],
    status: text(known.status),
    statusMessage: text(known.statusMessage),
    isStale: known.stale === true || undefined,
    isPending: known.pending === "review" || undefined,
    warnings: Array.isArray(known.warnings) ? known.warnings.map(String) : [],
  };
}

export interface ShownItem {
  kind: string;
  item: Json;
  facts: Facts;
}

/** Items of an answer about a server, in the registry's order. What an item declares itself is no fact. */
export function itemsIn(answer: object): ShownItem[] {
  return Object.entries(sectionKinds).flatMap(([section, kind]) => {
    const list = (answer as Json)[section];
    if (!Array.isArray(list)) return [];
    return list
      .filter(isObject)
      .map((item) => ({ kind, item, facts: factsOf(isObject(item.registry) ? item.registry : {}) }));
  });
}

/** Flags that must be looked at before an item is used. */
export const isHigh = (flag: Flag) => flag.severity === "high" && !flag.acknowledged;
