import { type Failure, failure } from "../kernel/failure.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { Position } from "./cursor.ts";
import type { HttpDeps } from "./deps.ts";
import { integerParam } from "./request.ts";

/** The page that a query string asks for. */
export function readPageRequest({ limit, cursor }: { limit?: string; cursor?: string }): PageRequest {
  return { limit: integerParam("limit", limit, { min: 1, max: 100, fallback: 30 }), cursor };
}

/** How much of a list, and from where: the cursor is the one a page before came with. */
export interface PageRequest {
  limit: number;
  cursor?: string | undefined;
}

/** What was read for a page: one more than asked for, where there are more. */
export interface ReadItems<T> {
  items: T[];
  generation: number;
  /** Where reading stopped although the page is not full: the next one starts there. */
  stoppedAt?: { tenant: string; name: string };
}

/** Reads up to `limit` items after a key. */
export type ReadPage<T> = (after: string[], limit: number) => Promise<ReadItems<T>>;

export interface Page<T> {
  items: T[];
  generation: number;
  nextCursor?: string;
  /** Something was written since the first page. What existed throughout still appears exactly once. */
  changed?: true;
}

/** One page of a list in order of tenant and name. `scope` is everything a cursor must not be carried across. */
export function listPage<T extends { tenant: string; name: string }>(
  services: HttpDeps,
  request: PageRequest,
  scope: unknown,
  read: ReadPage<T>,
): Promise<Result<Page<T>, Failure>> {
  return listPageBy(services, request, scope, read, serverKey);
}

/** The key of a list in order of tenant and name. */
export function serverKey({ tenant, name }: { tenant: string; name: string }): string[] {
  return [tenant, name];
}

/** The same in the order of another key. */
export async function listPageBy<T>(
  services: HttpDeps,
  { limit, cursor }: PageRequest,
  scope: unknown,
  read: ReadPage<T>,
  keyOf: (item: T) => string[],
): Promise<Result<Page<T>, Failure>> {
  const start = await readCursor(services, cursor, scope);
  if (!start.ok) return start;
  // One more than asked for tells whether there is a next page.
  const found = await read(start.value?.after ?? [], limit + 1);
  return pageOf(services, limit, scope, start.value, found, keyOf);
}

/** Where a page starts; nowhere in particular for the first. */
export async function readCursor(
  { cursors }: HttpDeps,
  cursor: string | undefined,
  scope: unknown,
): Promise<Result<Position | undefined, Failure>> {
  if (cursors === undefined) return err(unsigned());
  const start = cursor === undefined ? undefined : await cursors.read(cursor, scope);
  return cursor !== undefined && start === undefined ? err(failure("ErrorCursorInvalid")) : ok(start);
}

/** What was read as a page, with the cursor of the next. */
export async function pageOf<T>(
  { cursors }: HttpDeps,
  limit: number,
  scope: unknown,
  start: Position | undefined,
  { items, generation, stoppedAt }: ReadItems<T>,
  keyOf: (item: T) => string[],
): Promise<Result<Page<T>, Failure>> {
  if (cursors === undefined) return err(unsigned());
  const page: Page<T> = { items: items.slice(0, limit), generation };
  const first = start?.generation ?? generation;
  const last = page.items.at(-1);
  const after = items.length > limit && last !== undefined ? keyOf(last) : stoppedAt && serverKey(stoppedAt);
  if (after !== undefined) page.nextCursor = await cursors.write({ after, generation: first }, scope);
  if (first !== generation) page.changed = true;
  return ok(page);
}

function unsigned(): Failure {
  return failure("ErrorNotConfigured", "Set the secret SIGNING_SECRET (at least 32 bytes)");
}
