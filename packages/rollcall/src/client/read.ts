import { type AnswerMeta, type Connection, dataIn, metaOf, type Query, segment, serverPath } from "./connection.ts";
import { isRollcallError } from "./errors.ts";
import type { components } from "./types.ts";

type Schemas = components["schemas"];
export type Capabilities = Schemas["Capabilities"];
export type Capability = Schemas["Capability"];
export type CatalogPage = Schemas["CatalogPage"];
export type RevisionPage = Schemas["RevisionPage"];
export type RevisionDiff = Schemas["RevisionDiff"];
export type WholeRevision = Schemas["WholeRevision"];

/** Data of an answer, frozen: a later 304 answers the same object. `meta` says how fresh it is. */
export type Read<T> = Readonly<T> & { readonly meta: AnswerMeta };

export interface ReadOptions {
  /** The answer is at least as new as this generation of the tenant. */
  minGeneration?: number;
  /** Asks the object that orders the tenant's writes, past every cache. */
  fresh?: boolean;
  signal?: AbortSignal;
}

interface Kept {
  etag: string;
  data: object;
  bytes: number;
}

/**
 * A read of one tenant: never below the generation that this connection has written or seen, and answered from memory if
 * the registry says 304.
 */
export async function readPath<T extends object>(
  connection: Connection,
  tenant: string | undefined,
  path: string,
  { minGeneration, fresh, signal }: ReadOptions = {},
  query: Query = {},
  whole = false,
): Promise<Read<T>> {
  const key = tenant?.toLowerCase();
  const isSession = connection.options.consistency !== "none";
  const known = key !== undefined && isSession ? connection.generations.get(key) : undefined;
  const least = Math.max(minGeneration ?? 0, known ?? 0);
  const place = `${await connection.subject()} ${path} ${JSON.stringify(query)}`;
  const kept = connection.kept.get(place) as Kept | undefined;
  const ask = (strong: boolean) =>
    connection.send("GET", path, {
      query,
      signal,
      headers: {
        ...(least > 0 && !strong && { "Rollcall-Min-Generation": String(least) }),
        ...(strong && { "Cache-Control": "no-cache" }),
        ...(kept && { "If-None-Match": kept.etag }),
      },
    });
  let response: Response;
  try {
    response = await ask(fresh === true);
  } catch (error) {
    // The tenant is behind what was seen: restored from a backup, or another registry behind the same address.
    if (!isRollcallError(error) || error.status !== 412 || minGeneration !== undefined || known === undefined)
      throw error;
    connection.generations.delete(key ?? "");
    response = await ask(true);
  }
  const meta = metaOf(response);
  if (key !== undefined) remember(connection, key, meta.generation);
  if (response.status === 304 && kept !== undefined) {
    await response.body?.cancel();
    return withMeta<T>(kept.data as T, meta);
  }
  const text = await response.text();
  const data = freeze(dataIn<T>(response, text, whole));
  const etag = response.headers.get("ETag");
  if (etag !== null) keep(connection, place, { etag, data, bytes: text.length });
  return withMeta<T>(data, meta);
}

const metas = new WeakMap<object, AnswerMeta>();

/** The data object stays the same; only what is known of its freshness moves. */
function withMeta<T extends object>(data: T, meta: AnswerMeta): Read<T> {
  metas.set(data, meta);
  return data as Read<T>;
}

export function remember(connection: Connection, tenant: string, generation: number | undefined): void {
  const key = tenant.toLowerCase();
  if (generation !== undefined && generation > (connection.generations.get(key) ?? 0)) {
    connection.generations.set(key, generation);
  }
}

/** The least recently used answers go first. */
function keep({ kept, options }: Connection, place: string, entry: Kept): void {
  const most = options.cache?.bytes ?? 8_000_000;
  kept.delete(place);
  if (entry.bytes > most) return;
  kept.set(place, entry);
  let total = 0;
  for (const one of kept.values()) total += (one as Kept).bytes;
  for (const [old, one] of kept) {
    if (total <= most) break;
    kept.delete(old);
    total -= (one as Kept).bytes;
  }
}

function freeze<T extends object>(data: T): T {
  // The freshness of an answer is not part of its data, so JSON.stringify leaves it out.
  Object.defineProperty(data, "meta", { enumerable: false, get: () => metas.get(data) });
  const todo: object[] = [data];
  for (let one = todo.pop(); one !== undefined; one = todo.pop()) {
    Object.freeze(one);
    for (const child of Object.values(one)) if (typeof child === "object" && child !== null) todo.push(child);
  }
  return data;
}

/** Everything that a server can do. Without a token: what the public catalogue shows of it. */
export async function read(
  connection: Connection,
  server: string,
  options: ReadOptions & { digest?: string; include?: readonly string[] } = {},
): Promise<Read<Capabilities>> {
  const { tenant, path } = serverPath(server);
  const { digest, include, ...rest } = options;
  const query = { include: include?.join(",") };
  if (digest !== undefined) {
    const whole = await revision(connection, server, digest, rest);
    return whole.manifest as unknown as Read<Capabilities>;
  }
  const isAnonymous = (await connection.subject()) === "";
  const base = isAnonymous ? "/api/catalog" : "/api/mcp/capabilities";
  return readPath<Capabilities>(connection, tenant, `${base}/${path}`, rest, query);
}

/** One capability by its id. */
export function capability(connection: Connection, tenant: string, id: string, options: ReadOptions = {}) {
  const path = `/api/capabilities/${segment(tenant)}/${segment(id)}`;
  return readPath<Capability>(connection, tenant, path, options);
}

export type ViewName = "server" | "tools" | "resources" | "generators";

export function view(connection: Connection, server: string, name: ViewName, options: ReadOptions = {}) {
  const { tenant, path } = serverPath(server);
  return readPath<Schemas["AnyView"] & object>(
    connection,
    tenant,
    `/api/mcp/capabilities/${path}/${name}`,
    options,
    {},
    true,
  );
}

export interface CatalogFilter {
  tenant?: string;
  kind?: string;
  category?: string;
  status?: string;
  updatedSince?: string;
  limit?: number;
  cursor?: string;
}

export function catalog(connection: Connection, filter: CatalogFilter = {}, options: ReadOptions = {}) {
  const { updatedSince, ...query } = filter;
  return readPath<CatalogPage>(connection, undefined, "/api/catalog", options, {
    ...query,
    updated_since: updatedSince,
  });
}

export function history(
  connection: Connection,
  server: string,
  options: ReadOptions & { limit?: number; cursor?: string } = {},
) {
  const { tenant, path } = serverPath(server);
  const { limit, cursor, ...rest } = options;
  return readPath<RevisionPage>(connection, tenant, `/api/mcp/capabilities/${path}/revisions`, rest, { limit, cursor });
}

export function revision(connection: Connection, server: string, digest: string, options: ReadOptions = {}) {
  const { tenant, path } = serverPath(server);
  return readPath<WholeRevision>(
    connection,
    tenant,
    `/api/mcp/capabilities/${path}/revisions/${segment(digest)}`,
    options,
  );
}

export function diff(
  connection: Connection,
  server: string,
  from: string,
  options: ReadOptions & { to?: string; items?: boolean } = {},
) {
  const { tenant, path } = serverPath(server);
  const { to, items, ...rest } = options;
  const query = { from, to, include: items ? "items" : undefined };
  return readPath<RevisionDiff>(connection, tenant, `/api/mcp/capabilities/${path}/diff`, rest, query);
}
