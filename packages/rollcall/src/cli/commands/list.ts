import { catalog } from "../../client/read.ts";
import { factsOf } from "../../client/shapes.ts";
import type { Context } from "../context.ts";
import { grouped, table } from "../terminal/layout.ts";
import { printable } from "../terminal/printable.ts";
import { flagMark, stateOf } from "./record-text.ts";
import { kinds, oneOf, wholeNumber } from "./search.ts";

interface ListFlags {
  kind?: string;
  category?: string;
  status?: string;
  updatedSince?: string;
  limit?: string;
  all?: boolean;
}

export async function list(context: Context, _args: string[], flags: ListFlags): Promise<void> {
  oneOf("--kind", flags.kind, kinds);
  oneOf("--status", flags.status, ["active", "deprecated", "withdrawn"]);
  const { kind, category, status, updatedSince } = flags;
  const filter = { tenant: context.flags.tenant, kind, category, status, updatedSince };
  const limit = wholeNumber("--limit", flags.limit, 100) ?? (flags.all ? 100 : undefined);
  const first = await catalog(context.connection(), { ...filter, limit }, { signal: context.signal });
  const items = [...first.items];
  let next = first.nextCursor;
  while (flags.all && next !== undefined) {
    const page = await catalog(context.connection(), { ...filter, limit, cursor: next }, { signal: context.signal });
    items.push(...page.items);
    next = page.nextCursor;
  }
  context.out.json({ ...first, items, nextCursor: next });
  if (context.out.isJson) return;
  if (items.length === 0) {
    context.out.print("No server matches.");
    return;
  }
  const { bold, dim, yellow } = context.out.colours;
  const rows = items.map((item) => [
    `${printable(item.tenant)}/${bold(printable(item.name))}`,
    printable(item.version ?? ""),
    grouped(Object.values((item.counts ?? {}) as Record<string, number>).reduce((sum, count) => sum + count, 0)),
    grouped(item.tokens ?? 0),
    `${flagMark(context, item)} ${yellow(stateOf(factsOf(item)))}`.trim(),
    printable(item.description ?? item.title ?? ""),
  ]);
  const head = ["server", "version", "items", "tokens", "", "description"].map((name) => dim(name));
  context.out.print(...table([head, ...rows], { right: [2, 3], columns: context.out.columns }));
  if (next !== undefined) context.out.note(dim(`${items.length} shown, there are more: --all`));
}
