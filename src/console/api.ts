import type { Principal } from "../auth/principal.ts";
import type { App, RequestContext } from "../http/context.ts";
import { onBehalfOf } from "../http/limits/client-address.ts";
import { actFor } from "../http/request.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import { readJson } from "../kernel/read-json.ts";
import { err, ok, type Result } from "../kernel/result.ts";

/**
 * Operations of the API, called by a page for its viewer. The request goes through the same routes as one from outside, so
 * that its checks, limits and schemas are those of the operation, and there is no second way to do anything.
 */

interface Asked {
  method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  query?: Readonly<Record<string, string | undefined>>;
  body?: unknown;
  /** The tag of the state that a write was made for. */
  ifMatch?: string | undefined;
  /** Names the request: sent twice, it has one effect. */
  key?: string | undefined;
}

interface Got<T> {
  data: T;
  etag?: string;
  generation?: number;
}

export type Api = <T>(path: string, asked?: Asked) => Promise<Result<Got<T>, Failure>>;

/** Serves a request of this registry's API for the viewer, whatever it answers. */
export type Dispatch = (request: Request) => Promise<Response>;

export function dispatchFor(app: App, c: RequestContext, principal: Principal): Dispatch {
  // Visitors without a sign-in are told apart by their addresses.
  return async (request) => app.fetch(actFor(onBehalfOf(request, c.req.raw), principal), c.env, c.executionCtx);
}

/** `origin` is that of the request, so that operations see the registry where its viewer reached it. */
export function apiOf(dispatch: Dispatch, { req, get }: RequestContext): Api {
  return async <T>(path: string, { method = "GET", query = {}, body, ifMatch, key }: Asked = {}) => {
    const url = new URL(path, req.url);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
    const headers = new Headers({ Accept: "application/json", "X-Request-Id": get("requestId") });
    if (body !== undefined) headers.set("Content-Type", "application/json");
    if (ifMatch !== undefined) headers.set("If-Match", ifMatch);
    if (key !== undefined) headers.set("Idempotency-Key", key);
    const response = await dispatch(new Request(url, { method, headers, body: JSON.stringify(body) }));
    return read<T>(response);
  };
}

async function read<T>(response: Response): Promise<Result<Got<T>, Failure>> {
  const answer = readJson(await response.text()) as { data?: T; error?: Failure };
  if (response.status >= 400) return err(answer.error ?? failure("ErrorInternalServer"));
  const generation = response.headers.get("Rollcall-Generation");
  return ok({
    data: answer.data as T,
    etag: response.headers.get("ETag") ?? undefined,
    generation: generation === null ? undefined : Number(generation),
  });
}

/** An address of the API or a page with its parts encoded: `` at`/api/hooks/${tenant}/${id}` ``. */
export function at(texts: TemplateStringsArray, ...parts: readonly string[]): string {
  return texts.reduce((path, text, index) => `${path}${pathPart(parts[index - 1] ?? "")}${text}`);
}

/** One part of a path. A part of dots alone would fold the address into another: so encoded, it names nothing. */
export function pathPart(part: string): string {
  return /^\.{1,2}$/.test(part) ? part.replaceAll(".", "%252E") : encodeURIComponent(part);
}
