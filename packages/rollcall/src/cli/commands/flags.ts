import { dataOf } from "../../client/connection.ts";
import type { components } from "../../client/types.ts";
import { whoami } from "../../client/write.ts";
import type { Context } from "../context.ts";
import { UsageError } from "../failure.ts";
import { printable } from "../terminal/printable.ts";
import { flagLine } from "./record-text.ts";

type FlagPage = components["schemas"]["FlagPage"];

/** What is flagged in the named tenants, or in those of the login. */
export async function flags(context: Context, _args: string[], { tenants }: { tenants: string[] }): Promise<void> {
  const fail = (error: unknown): never => {
    throw context.signInError(error);
  };
  const named = tenants.length > 0 ? tenants : (await whoami(context.connection(), context.signal).catch(fail)).tenants;
  if (named.length === 0) throw new UsageError("Name the tenant: --tenant T");
  const items: (FlagPage["items"][number] & { tenant: string })[] = [];
  for (const tenant of named) {
    let cursor: string | undefined;
    do {
      const query = { tenant, limit: 100, cursor };
      const page = await dataOf<FlagPage>(
        await context.connection().send("GET", "/api/flags", { query, signal: context.signal }).catch(fail),
      );
      items.push(...page.items.map((item) => ({ tenant, ...item })));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }
  context.out.json({ items });
  if (items.length === 0) context.out.print("Nothing is flagged.");
  const { bold, dim } = context.out.colours;
  for (const { tenant, server, kind, name, flags: found, leftOut } of items) {
    const what = kind === "server" || kind === "config" ? kind : `${kind} ${bold(printable(name))}`;
    const state = leftOut ? "  left out of choices" : "";
    context.out.print(`${printable(`${tenant}/${server}`)}  ${what}${dim(state)}`);
    for (const flag of found) context.out.print(flagLine(context, flag));
  }
}
