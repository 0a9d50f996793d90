import createClient from "openapi-fetch";
import type { components, paths } from "rollcall-types";

/**
 * A client as its author would write it: compiled against the types that openapi-typescript makes of the OpenAPI
 * document, then run. A line below `@ts-expect-error` is a mistake that must not compile.
 */

type Equal<A, B> = [A, B] extends [B, A] ? true : false;
function typed<_ extends true>(): void {}

export async function search(url: string, task: string) {
  const client = createClient<paths>({ baseUrl: url });
  const { data, error, response } = await client.GET("/api/search", {
    params: { query: { task, limit: 2, kind: ["tool"] } },
  });
  if (error !== undefined) throw new Error(`${response.status} ${error.error.code}: ${error.error.message}`);
  const tokens = data.data.items[0]?.tokens;
  typed<Equal<typeof tokens, number | undefined>>();
  return { tokens, names: data.data.items.map(({ name }) => name), next: data.data.nextCursor };
}

export async function failure(url: string) {
  const client = createClient<paths>({ baseUrl: url });
  // @ts-expect-error: a task is required, and limit is a number.
  const { error, response } = await client.GET("/api/search", { params: { query: { limit: "two" } } });
  return { status: response.status, code: error?.error.code };
}

export async function read(url: string, token: string, tenant: string, name: string) {
  const client = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });
  const { data, error } = await client.GET("/api/mcp/capabilities/{tenant}/{name}", {
    params: { path: { tenant, name } },
  });
  return data?.data.tools?.length ?? error?.error.code;
}

type NotFound = components["responses"]["ServerNotFound"]["content"]["application/json"];
typed<Equal<NotFound["error"]["code"], "ErrorMCPServerNotFound">>();
type SearchError = components["responses"]["BadRequestCursorInvalidTenant"]["content"]["application/json"];
typed<
  Equal<
    SearchError["error"]["code"],
    "ErrorBadRequest" | "ErrorCursorInvalid" | "ErrorTenantInvalid" | "ErrorTenantRequired"
  >
>();

export function mistakes(url: string): unknown[] {
  const client = createClient<paths>({ baseUrl: url });
  return [
    // @ts-expect-error: a limit is a number.
    () => client.GET("/api/search", { params: { query: { task: "rain", limit: "2" } } }),
    // @ts-expect-error: there is no such kind.
    () => client.GET("/api/search", { params: { query: { task: "rain", kind: ["gadget"] } } }),
    // @ts-expect-error: the path has two parameters.
    () => client.GET("/api/mcp/capabilities/{tenant}/{name}", { params: { path: { tenant: "demo" } } }),
    // @ts-expect-error: there is no such path.
    () => client.GET("/api/serach"),
  ];
}
