import { type Failure, failure } from "../kernel/failure.ts";
import { tenantKey } from "../kernel/names.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { Position } from "./cursor.ts";
import type { HttpDeps } from "./deps.ts";

/** `cursor` is the `nextCursor` of the previous page. */
export interface PageRequest {
  limit: number;
  cursor?: string | undefined;
}

/** Items read for a page: one more than the page holds if there is a next page. */
interface ReadItems<T> {
  items: T[];
  generation: number;
}

/** Reads up to `limit` items after a sort key. */
export type ReadPage<T> = (after: string[], limit: number) => Promise<ReadItems<T>>;

export interface Page<T> {
  items: T[];
  generation: number;
  nextCursor?: string;
  /** Something was written since the first page. Items that existed throughout still appear exactly once. */
  changed?: true;
}

/** One page of a list ordered by tenant and name. A cursor is valid only for the `scope` it was made for. */
export function listPage<T extends { tenant: string; name: string }>(
  services: HttpDeps,
  request: PageRequest,
  scope: unknown,
  read: ReadPage<T>,
): Promise<Result<Page<T>, Failure>> {
  return listPageBy(services, request, scope, read, serverKey);
}

/** Sort key of a list ordered by tenant and name, whatever the spelling that an item shows. */
export function serverKey({ tenant, name }: { tenant: string; name: string }): string[] {
  return [tenantKey(tenant), name];
}

/** Like `listPage`, ordered by the sort key that `keyOf` returns. */
export async function listPageBy<T>(
  services: HttpDeps,
  { limit, cursor }: PageRequest,
  scope: unknown,
  read: ReadPage<T>,
  keyOf: (item: T) => string[],
): Promise<Result<Page<T>, Failure>> {
  const start = await readCursor(services, cursor, scope);
  if (!start.ok) return start;
  // One extra item shows whether there is a next page.
  const found = await read(start.value?.after ?? [], limit + 1);
  return pageOf(services, limit, scope, start.value, found, keyOf);
}

/** Verifies a cursor and returns its position; undefined for the first page. */
export async function readCursor(
  { cursors }: HttpDeps,
  cursor: string | undefined,
  scope: unknown,
): Promise<Result<Position | undefined, Failure>> {
  if (cursors === undefined) return err(missingSigningSecret());
  const start = cursor === undefined ? undefined : await cursors.read(cursor, scope);
  return cursor !== undefined && start === undefined ? err(failure("ErrorCursorInvalid")) : ok(start);
}

/** Makes a page of the items, with the cursor of the next page. */
export async function pageOf<T>(
  { cursors }: HttpDeps,
  limit: number,
  scope: unknown,
  start: Position | undefined,
  { items, generation }: ReadItems<T>,
  keyOf: (item: T) => string[],
): Promise<Result<Page<T>, Failure>> {
  if (cursors === undefined) return err(missingSigningSecret());
  const page: Page<T> = { items: items.slice(0, limit), generation };
  const first = start?.generation ?? generation;
  const last = page.items.at(-1);
  const after = items.length > limit && last !== undefined ? keyOf(last) : undefined;
  if (after !== undefined) page.nextCursor = await cursors.write({ after, generation: first }, scope);
  if (first !== generation) page.changed = true;
  return ok(page);
}

function missingSigningSecret(): Failure {
  return failure(
    "ErrorNotConfigured",
    "Paging is not configured. Operator: set the secret SIGNING_SECRET (32 bytes or more)",
  );
}
