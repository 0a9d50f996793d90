import { definitions, type LeftOut } from "../../client/definitions.ts";
import {
  search as ask,
  type Include,
  type Kind,
  type SearchDimension,
  type SearchFilters,
  type SearchPage,
  type SearchResult,
} from "../../client/search.ts";
import { factsOf } from "../../client/shapes.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../failure.ts";
import { grouped, table } from "../terminal/layout.ts";
import { printable } from "../terminal/printable.ts";
import { flagMark, stateOf } from "./record-text.ts";

export const kinds = ["tool", "prompt", "resource", "resourceTemplate", "generator", "operation"];
export const modelApis = ["mcp", "openai", "openai-chat", "anthropic"];

interface SearchFlags {
  budget?: string;
  kind?: string[];
  for?: string;
  limit?: string;
  include?: string;
  provider?: string[];
  category?: string[];
  permission?: string[];
  effect?: string[];
  type?: string[];
  status?: string[];
  prefix?: boolean;
  facets?: boolean;
  why?: boolean;
}

const statuses = ["active", "deprecated", "withdrawn"];
const dimensions: readonly SearchDimension[] = [
  ...(["tenant", "kind", "provider", "category", "permission", "effect", "capability_type", "status"] as const),
];

export function wholeNumber(name: string, text: string | undefined, most = 1_000_000): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > most)
    throw new UsageError(`${name} ${text} is not a whole number from 0 to ${most}`);
  return value;
}

export function oneOf<T extends string>(name: string, value: T | undefined, known: readonly string[]): T | undefined {
  if (value !== undefined && !known.includes(value))
    throw new UsageError(`${name} ${value} is none of: ${known.join(", ")}`);
  return value;
}

/** What choices leave out by themselves, and take if they are told to. */
export function includeOf(text: string | undefined): Include[] | undefined {
  return text?.split(",").map((one) => oneOf("--include", one.trim() as Include, ["flagged", "withdrawn"]) as Include);
}

export async function search(
  context: Context,
  words: string[],
  flags: SearchFlags & { tenants: string[] },
): Promise<void> {
  const task = words.join(" ");
  for (const kind of flags.kind ?? []) oneOf("--kind", kind, kinds);
  const budget = wholeNumber("--budget", flags.budget);
  const limit = wholeNumber("--limit", flags.limit, 100);
  const tenants = flags.tenants.length > 0 ? flags.tenants : undefined;
  const kindsWanted = flags.kind as Kind[] | undefined;
  const include = includeOf(flags.include);
  for (const status of flags.status ?? []) oneOf("--status", status, statuses);
  const { provider, category, permission, effect, type, status, prefix } = flags;
  const filters = { provider, category, permission, effect, capability_type: type, status } as SearchFilters;
  const options = { budget, limit, kinds: kindsWanted, tenants, filters, prefix, include, signal: context.signal };
  if (flags.for !== undefined) {
    const api = oneOf("--for", flags.for, modelApis) as "mcp";
    const answer = await definitions(context.connection(), task, { ...options, for: api });
    const { resolve: _resolve, ...data } = answer;
    context.out.json(data);
    // Definitions are JSON either way: they are pasted into a request.
    context.out.printJson(answer.definitions);
    context.out.note(...leftOutLines(answer));
    return;
  }
  const page = await context.during(`Searching for ${task}`, () =>
    ask(context.connection(), task, {
      ...options,
      facets: flags.facets ? dimensions : undefined,
      explain: flags.why,
    }),
  );
  const { all: _all, ...data } = page;
  context.out.json(data);
  if (context.out.isJson) return;
  if (page.items.length === 0) {
    const left = leftOutLines(page);
    context.out.print(
      left.length > 0 ? "Nothing that was found fits." : `Nothing was found for "${printable(task)}".`,
      ...left,
    );
    if (left.length === 0) context.out.note("→ Try fewer words, or the words that a name or a description would have.");
    return;
  }
  const { bold, dim, yellow } = context.out.colours;
  const rows = page.items.map((item, index) => [
    String(index + 1),
    `${printable(item.tenant)}/${printable(item.server)}`,
    bold(printable(item.name)) + (item.kind === "tool" ? "" : dim(` ${item.kind}`)),
    flagMark(context, item),
    grouped(item.tokens),
    printable(item.description ?? item.title ?? ""),
  ]);
  const lines = table(rows, { right: [0, 4], columns: context.out.columns });
  page.items.forEach((item, index) => {
    context.out.print(lines[index] ?? "");
    const facts = factsOf(item);
    const state = [stateOf(facts), printable(facts.statusMessage ?? "")].filter((part) => part !== "").join(": ");
    if (state !== "") context.out.print(`   ${yellow(state)}`);
    if (flags.why) context.out.print(`   ${dim(whyOf(item))}`);
  });
  const more = page.nextCursor === undefined ? "" : "; there are more";
  context.out.print(dim(`${page.items.length} shown, ${grouped(page.usedTokens)} tokens${more}`));
  context.out.print(...leftOutLines(page).map((line) => dim(line)));
  context.out.print(...facetLines(page));
}

/** One line for each dimension that has a value. */
function facetLines({ facets = {} }: Pick<SearchPage, "facets">): string[] {
  return Object.entries(facets).flatMap(([dimension, { values, more }]) => {
    const counts = values.map(({ value, count }) => `${printable(value)} ${grouped(count)}`);
    return values.length === 0 ? [] : [`${dimension}: ${counts.join(", ")}${more ? ", …" : ""}`];
  });
}

/** One line for each, with its reason; those that the registry only counts in the last. */
export function leftOutLines({
  leftOut = [],
  moreLeftOut = 0,
}: {
  leftOut?: readonly LeftOut[];
  moreLeftOut?: number;
}): string[] {
  const lines = leftOut.map((one: LeftOut) => {
    const what = [one.tenant, one.server].filter((part) => part !== undefined).join("/");
    return `left out  ${printable(`${what} ${one.name ?? one.id ?? ""}`)}  ${printable(one.reason)}: ${printable((one.message ?? "").replace(/include "(\w+)"/, "--include $1"))}`;
  });
  return moreLeftOut > 0 ? [...lines, `left out  ${grouped(moreLeftOut)} more`] : lines;
}

function whyOf({ why, score }: SearchResult): string {
  if (why === undefined) return `score ${score.toFixed(2)}`;
  const meaning = why.meaning === undefined ? "" : `, meaning ${why.meaning.toFixed(2)}`;
  return `score ${score.toFixed(2)}: words ${why.words.toFixed(2)}${meaning}; found by ${printable(why.terms.join(", ")) || "meaning alone"}`;
}
