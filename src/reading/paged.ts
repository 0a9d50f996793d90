import { type Failure, failure } from "../domain/failure.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { Services } from "../services.ts";

/** How much of a list, and from where: the cursor is the one a page before came with. */
export interface PageRequest {
  limit: number;
  cursor?: string | undefined;
}

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
export function paged<T extends { tenant: string; name: string }>(
  services: Services,
  request: PageRequest,
  scope: unknown,
  read: ReadPage<T>,
): Promise<Result<Page<T>, Failure>> {
  return pagedBy(services, request, scope, read, ({ tenant, name }) => [tenant, name]);
}

/** The same in the order of another key. */
export async function pagedBy<T>(
  services: Services,
  { limit, cursor }: PageRequest,
  scope: unknown,
  read: ReadPage<T>,
  keyOf: (item: T) => string[],
): Promise<Result<Page<T>, Failure>> {
  const { cursors } = services;
  if (cursors === undefined) {
    return err(failure("ErrorNotConfigured", "Set the secret SIGNING_SECRET (at least 32 bytes)"));
  }
  const start = cursor === undefined ? undefined : await cursors.read(cursor, scope);
  if (cursor !== undefined && start === undefined) return err(failure("ErrorCursorInvalid"));

  // One more than asked for tells whether there is a next page.
  const { items, generation } = await read(start?.after ?? [], limit + 1);
  const page: Page<T> = { items: items.slice(0, limit), generation };
  const first = start?.generation ?? generation;
  const last = page.items.at(-1);
  if (items.length > limit && last !== undefined) {
    page.nextCursor = await cursors.write({ after: keyOf(last), generation: first }, scope);
  }
  if (first !== generation) page.changed = true;
  return ok(page);
}
