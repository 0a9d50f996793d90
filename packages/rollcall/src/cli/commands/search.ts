import { definitions } from "../../client/definitions.ts";
import { search as ask, type Kind, type SearchResult } from "../../client/search.ts";
import { factsOf, isHigh } from "../../client/shapes.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../failure.ts";
import { grouped, table } from "../terminal/layout.ts";
import { printable } from "../terminal/printable.ts";

export const kinds = ["tool", "prompt", "resource", "resourceTemplate", "generator", "operation"];
export const modelApis = ["mcp", "openai", "openai-chat", "anthropic"];

interface SearchFlags {
  budget?: string;
  kind?: string[];
  for?: string;
  limit?: string;
  why?: boolean;
}

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

export function flagMark(context: Context, row: object): string {
  const { flags } = factsOf(row);
  const { red, yellow } = context.out.colours;
  if (flags.length === 0) return "";
  return flags.some(isHigh) ? red("⚑") : yellow("⚐");
}

export async function search(context: Context, words: string[], flags: SearchFlags): Promise<void> {
  const task = words.join(" ");
  for (const kind of flags.kind ?? []) oneOf("--kind", kind, kinds);
  const budget = wholeNumber("--budget", flags.budget);
  const limit = wholeNumber("--limit", flags.limit, 100);
  const tenants = context.flags.tenant === undefined ? undefined : [context.flags.tenant];
  const options = { budget, limit, kinds: flags.kind as Kind[] | undefined, tenants, signal: context.signal };
  if (flags.for !== undefined) {
    const api = oneOf("--for", flags.for, modelApis) as "mcp";
    const answer = await definitions(context.connection(), task, { ...options, for: api });
    const { resolve: _resolve, ...data } = answer;
    context.out.json(data);
    // Definitions are JSON either way: they are pasted into a request.
    context.out.print(JSON.stringify(answer.definitions, null, 2));
    for (const { name, id, reason } of answer.leftOut)
      context.out.note(`left out: ${printable(name ?? id ?? "")} (${reason})`);
    return;
  }
  const page = await context.during(`Searching for ${task}`, () =>
    ask(context.connection(), task, { ...options, explain: flags.why }),
  );
  const { all: _all, ...data } = page;
  context.out.json(data);
  if (context.out.isJson) return;
  if (page.items.length === 0) {
    context.out.print(`Nothing was found for "${printable(task)}".`);
    context.out.note("→ Try fewer words, or the words that a name or a description would have.");
    return;
  }
  const { bold, dim } = context.out.colours;
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
    if (flags.why) context.out.print(`   ${dim(whyOf(item))}`);
  });
  const count = (page.leftOut?.length ?? 0) + (page.moreLeftOut ?? 0);
  const left = count === 0 ? "" : `; ${grouped(count)} left out`;
  const more = page.nextCursor === undefined ? "" : "; there are more";
  context.out.print(dim(`${page.items.length} shown, ${grouped(page.usedTokens)} tokens${left}${more}`));
}

function whyOf({ why, score }: SearchResult): string {
  if (why === undefined) return `score ${score.toFixed(2)}`;
  const meaning = why.meaning === undefined ? "" : `, meaning ${why.meaning.toFixed(2)}`;
  return `score ${score.toFixed(2)}: words ${why.words.toFixed(2)}${meaning}; found by ${printable(why.terms.join(", ")) || "meaning alone"}`;
}
