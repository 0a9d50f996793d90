import { pageOf, readCursor } from "../../http/page.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { McpCaller } from "./caller.ts";

/** More than any list of the registry's own has; those that follow what tenants advertise can be longer. */
export const pageLength = 50;

export interface ListPage<T> {
  items: T[];
  nextCursor?: string;
}

/**
 * One page of a list, in order of its keys. A cursor is signed, names a place rather than a number, and is good for the
 * caller and the list it was made for: what existed throughout appears exactly once, whatever comes and goes.
 */
export async function listPage<T>(
  { services, principal }: McpCaller,
  list: string,
  cursor: string | undefined,
  items: readonly T[],
  keyOf: (item: T, index: number) => string,
): Promise<Result<ListPage<T>, Failure>> {
  const keyed = items.map((item, index) => ({ item, key: keyOf(item, index) }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
  if (cursor === undefined && items.length <= pageLength) return ok({ items: keyed.map(({ item }) => item) });
  const scope = { list: `mcp ${list}`, caller: principal.anonymous ? "anonymous" : principal.subject };
  const start = await readCursor(services, cursor, scope);
  // What cannot be signed cannot have been given out.
  if (!start.ok) return err(cursor === undefined ? start.error : failure("ErrorCursorInvalid"));
  const after = start.value?.after[0] ?? "";
  const rest = keyed.filter(({ key }) => key > after).slice(0, pageLength + 1);
  const found = { items: rest, generation: 0 };
  const page = await pageOf(services, pageLength, scope, start.value, found, ({ key }) => [key]);
  if (!page.ok) return page;
  const { nextCursor } = page.value;
  return ok({
    items: page.value.items.map(({ item }) => item),
    nextCursor,
  });
}

/** The key of what is listed as it is written down. */
export function positionKey(_item: unknown, index: number): string {
  return String(index).padStart(4, "0");
}
