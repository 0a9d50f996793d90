import type { Services } from "../services.ts";
import { bad } from "./context.ts";
import { wholeNumber } from "./request.ts";

/** Reads up to `limit` items after a key. */
export type ReadPage<T> = (after: string[], limit: number) => Promise<{ items: T[]; generation: number }>;

export interface Page<T> {
  items: T[];
  generation: number;
  nextCursor?: string;
  /** Something was written since the first page. What existed throughout still appears exactly once. */
  changed?: true;
}

/** One page of a list in order of tenant and name. `scope` is everything a cursor must not be carried across. */
export async function paged<T extends { tenant: string; name: string }>(
  services: Services,
  query: { limit?: string; cursor?: string },
  scope: unknown,
  read: ReadPage<T>,
): Promise<Page<T>> {
  const limit = wholeNumber("limit", query.limit, { min: 1, max: 100, fallback: 30 });
  const { cursors } = services;
  if (cursors === undefined) throw bad("ErrorNotConfigured", "Set the secret SIGNING_SECRET (at least 32 bytes)");
  const start = query.cursor === undefined ? undefined : await cursors.read(query.cursor, scope);
  if (query.cursor !== undefined && start === undefined) throw bad("ErrorCursorInvalid");

  // One more than asked for tells whether there is a next page.
  const { items, generation } = await read(start?.after ?? [], limit + 1);
  const page: Page<T> = { items: items.slice(0, limit), generation };
  const first = start?.generation ?? generation;
  const last = page.items.at(-1);
  if (items.length > limit && last !== undefined) {
    page.nextCursor = await cursors.write({ after: [last.tenant, last.name], generation: first }, scope);
  }
  if (first !== generation) page.changed = true;
  return page;
}
