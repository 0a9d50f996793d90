import { type Connection, dataOf, metaOf, type RequestOptions, segment, serverPath } from "./connection.ts";
import { remember } from "./read.ts";
import type { components } from "./types.ts";

type Schemas = components["schemas"];
export type PublishResult = Schemas["PublishResult"];
export type ImportResult = Schemas["ImportResult"];
export type Whoami = Schemas["Whoami"];

/** Sends a write, and remembers the tenant's generation that it answers with. */
export async function write<T>(
  connection: Connection,
  tenant: string,
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<T> {
  const response = await connection.send(method, path, options);
  remember(connection, tenant, metaOf(response).generation);
  return dataOf<T>(response);
}

export interface PublishOptions {
  /** ETag or digest that the server must have now; `*` for any. Otherwise 412 and nothing changes. */
  ifMatch?: string;
  /** Answers what publishing would do, and changes nothing. */
  dryRun?: boolean;
  /** Leaves out items that are not valid, instead of refusing everything. */
  partial?: boolean;
  /** Media type of a manifest that is text; `application/yaml` for YAML. */
  type?: string;
  signal?: AbortSignal;
}

/** Publishes a manifest: an object, or its text. Publishing the same again changes nothing, so it may be repeated. */
export function publish(
  connection: Connection,
  server: string,
  manifest: object | string,
  options: PublishOptions = {},
): Promise<PublishResult> {
  const { tenant, path } = serverPath(server);
  const { ifMatch, dryRun, partial, type, signal } = options;
  return write<PublishResult>(connection, tenant, "PUT", `/api/mcp/capabilities/${path}`, {
    body: manifest,
    query: { dryRun, partial },
    headers: { ...(ifMatch && { "If-Match": ifMatch }), ...(type && { "Content-Type": type }) },
    idempotent: true,
    signal,
  });
}

export type ImportFormat = "rtfs" | "openapi" | "graphql" | "mcp";

/** Turns a document of another format into a manifest, and publishes it. */
export function importDocument(
  connection: Connection,
  format: ImportFormat,
  server: string,
  document: string,
  options: { type: string; dryRun?: boolean; signal?: AbortSignal },
): Promise<ImportResult> {
  const { tenant, name } = serverPath(server);
  return write<ImportResult>(connection, tenant, "POST", `/api/import/${format}`, {
    body: document,
    query: { tenant, name, dryRun: options.dryRun },
    headers: { "Content-Type": options.type },
    signal: options.signal,
  });
}

export async function whoami(connection: Connection, signal?: AbortSignal): Promise<Whoami> {
  return dataOf<Whoami>(await connection.send("GET", "/api/whoami", { signal }));
}

/** Paths of hooks and subscriptions differ in one word. */
function resource<Item, Created, Change, New extends { tenant: string }>(connection: Connection, word: string) {
  const at = (tenant: string, id: string, action = "") => `/api/${word}/${segment(tenant)}/${segment(id)}${action}`;
  return {
    list: async (tenant: string) =>
      dataOf<{ items: Item[]; generation: number }>(
        await connection.send("GET", `/api/${word}`, { query: { tenant } }),
      ),
    add: (body: New) => write<Created>(connection, body.tenant, "POST", `/api/${word}`, { body }),
    show: async (tenant: string, id: string) => dataOf<Item>(await connection.send("GET", at(tenant, id))),
    change: (tenant: string, id: string, body: Change) =>
      write<Item>(connection, tenant, "PATCH", at(tenant, id), { body }),
    rotate: (tenant: string, id: string, body: { overlapSeconds?: number } = {}) =>
      write<Created>(connection, tenant, "POST", at(tenant, id, "/rotate"), { body }),
    remove: (tenant: string, id: string) => write<unknown>(connection, tenant, "DELETE", at(tenant, id)),
    test: (tenant: string, id: string) =>
      write<Schemas["TestDelivery"]>(connection, tenant, "POST", at(tenant, id, "/test")),
  };
}

/** Inbound webhooks of publishers. */
export function hooks(connection: Connection) {
  type Made = Schemas["RegisteredHook"];
  const { test: _none, ...all } = resource<Schemas["Hook"], Made, Schemas["HookChange"], Schemas["HookRequest"]>(
    connection,
    "hooks",
  );
  return all;
}

/** Outbound webhooks about changes. */
export function subscriptions(connection: Connection) {
  type Made = Schemas["CreatedSubscription"];
  return resource<Schemas["Subscription"], Made, Schemas["SubscriptionChange"], Schemas["NewSubscription"]>(
    connection,
    "subscriptions",
  );
}
