import { pageOf, readCursor } from "../../http/page.ts";
import { type Failure, failure } from "../../kernel/failure.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { McpCaller } from "./caller.ts";

/** Longer than every fixed list of the registry. The list of resources can be longer: it has advertised indexes. */
const pageLength = 50;

interface ListPage<T> {
  items: T[];
  nextCursor?: string;
}

/**
 * One page of a list, sorted by key. A cursor is signed, holds a key instead of an offset, and is valid only for its
 * caller and list. So an item that exists throughout appears exactly once, even if others are added or removed.
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
  // Without a signing secret no cursor was ever issued, so a given cursor is invalid then too.
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

/** Key of an item in a list that keeps its given order. */
export function positionKey(_item: unknown, index: number): string {
  return String(index).padStart(4, "0");
}
