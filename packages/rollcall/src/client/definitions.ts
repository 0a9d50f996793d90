import { type Connection, dataOf, segment } from "./connection.ts";
import { RollcallError } from "./errors.ts";
import type { Include, Kind, SearchFilters } from "./search.ts";
import type { components } from "./types.ts";

/** The API that the definitions are for. */
export type DefinitionsFor = "anthropic" | "openai" | "openai-chat" | "mcp";

/** What stands behind a name that was sent to a model. */
export type NamedItem = components["schemas"]["SentItem"];

export interface LeftOut {
  id?: string;
  tenant?: string;
  server?: string;
  name?: string;
  reason: string;
  message?: string;
}

export interface Pin {
  id: string;
  tenant: string;
  digest: string;
}

export interface DefinitionsOptions {
  for: DefinitionsFor;
  budget?: number;
  kinds?: readonly Kind[];
  tenants?: readonly string[];
  /** Only tools with one of these values, of each filter that is given. */
  filters?: SearchFilters;
  /** The last word of the task may be unfinished. */
  prefix?: boolean;
  limit?: number;
  /** Leaves out a pinned tool whose digest is another one than was reviewed. */
  pins?: readonly (Pin | Pick<NamedItem, "tenant" | "server" | "name" | "digest">)[];
  /** Also what a choice would leave out. */
  include?: readonly Include[];
  signal?: AbortSignal;
}

export interface Definitions {
  /** Tools in the form of the chosen API, ready to be sent. */
  // biome-ignore lint/suspicious/noExplicitAny: the form is the model API's, and its SDK checks it
  definitions: any[];
  /** What they cost. */
  tokens: number;
  /** What stands behind each name. */
  names: Record<string, NamedItem>;
  leftOut: LeftOut[];
  /** Number of results that are left out and not listed. */
  moreLeftOut: number;
  /** The tool behind a name that the model called; undefined if it made the name up. */
  resolve(sentName: string): NamedItem | undefined;
}

interface DefinitionsData {
  definitions: Record<string, unknown>[];
  tokens: number;
  names: Record<string, NamedItem>;
  leftOut?: LeftOut[];
  moreLeftOut?: number;
}

/**
 * Definitions of the tools for a task, or of those named by `{tenant, id}`, in the form of a model's API. Names are valid
 * and unique there, and `resolve` finds what a tool call means.
 */
export async function definitions(
  connection: Connection,
  wanted: string | readonly { tenant: string; id: string }[],
  options: DefinitionsOptions,
): Promise<Definitions> {
  const parts =
    typeof wanted === "string" ? [await found(connection, wanted, options)] : await named(connection, wanted, options);
  const answer: Definitions = {
    definitions: [],
    tokens: 0,
    names: Object.create(null) as Record<string, NamedItem>,
    leftOut: [],
    moreLeftOut: 0,
    resolve: (sent) => (Object.hasOwn(answer.names, sent) ? answer.names[sent] : undefined),
  };
  for (const part of parts) {
    answer.tokens += part.tokens;
    answer.leftOut.push(...(part.leftOut ?? []));
    answer.moreLeftOut += part.moreLeftOut ?? 0;
    for (const definition of part.definitions) {
      const sent = nameOf(definition);
      const item = Object.hasOwn(part.names, sent) ? part.names[sent] : undefined;
      if (item === undefined) continue;
      const changed = changedSince(item, options.pins);
      if (changed !== undefined) answer.leftOut.push(changed);
      else add(answer, definition, sent, item);
    }
  }
  return answer;
}

async function found(connection: Connection, task: string, options: DefinitionsOptions): Promise<DefinitionsData> {
  const { kinds, tenants, filters, prefix, budget, limit, include } = options;
  const query = {
    task,
    definitions: options.for,
    kind: kinds,
    tenant: tenants,
    ...filters,
    prefix: prefix || undefined,
    budget,
    limit,
    include: include?.join(","),
  };
  return checked(await dataOf(await connection.send("GET", "/api/search", { query, signal: options.signal })));
}

async function named(
  connection: Connection,
  ids: readonly { tenant: string; id: string }[],
  options: DefinitionsOptions,
): Promise<DefinitionsData[]> {
  const query = { definitions: options.for, include: options.include?.join(",") };
  return Promise.all(
    ids.map(async ({ tenant, id }) => {
      const path = `/api/capabilities/${segment(tenant)}/${segment(id)}`;
      return checked(await dataOf(await connection.send("GET", path, { query, signal: options.signal })));
    }),
  );
}

function checked(data: unknown): DefinitionsData {
  const known = data as DefinitionsData | null;
  if (Array.isArray(known?.definitions) && typeof known.names === "object") return known;
  throw new RollcallError("ErrorNotImplemented", "This registry does not answer definitions", {
    hint: "It is older than this client; update the registry.",
  });
}

/** OpenAI's chat API has the name one level deeper than the others. */
function nameOf(definition: Record<string, unknown>): string {
  const { function: inner } = definition as { function?: { name?: unknown } };
  return String(definition.name ?? inner?.name);
}

/** Answers are unique each on its own; put together they may share a name. */
function add(answer: Definitions, definition: Record<string, unknown>, sent: string, item: NamedItem): void {
  let name = sent;
  for (let count = 2; Object.hasOwn(answer.names, name); count += 1) name = `${sent.slice(0, 60)}_${count}`;
  const inner = definition.function as Record<string, unknown> | undefined;
  const renamed =
    definition.name === undefined ? { ...definition, function: { ...inner, name } } : { ...definition, name };
  answer.definitions.push(name === sent ? definition : renamed);
  answer.names[name] = item;
}

function changedSince(item: NamedItem, pins: DefinitionsOptions["pins"]): LeftOut | undefined {
  const pin = pins?.find(
    (one) =>
      one.tenant.toLowerCase() === item.tenant.toLowerCase() &&
      ("id" in one ? one.id === item.id : one.server === item.server && one.name === item.name),
  );
  if (pin === undefined || pin.digest === item.digest) return undefined;
  const message = `${item.server} ${item.name} is not what was reviewed: ${item.digest} instead of ${pin.digest}`;
  return { id: item.id, tenant: item.tenant, name: item.name, reason: "changed-since-pin", message };
}
