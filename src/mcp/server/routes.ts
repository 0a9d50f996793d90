import type { Config } from "../../config.ts";
import { mediaType, parseJson, readBytes } from "../../http/body.ts";
import { type App, type RequestContext, RequestFailed, requestError, unwrap } from "../../http/context.ts";
import { sendEvents, streamLifetimeMs } from "../../http/event-stream.ts";
import { log } from "../../http/observe.ts";
import { authenticateOptional, readQuery } from "../../http/request.ts";
import { corsHeaders } from "../../http/respond.ts";
import { loopbackNames } from "../../kernel/names.ts";
import type { McpDeps } from "../deps.ts";
import { McpCaller } from "./caller.ts";
import { invalidParamsError } from "./check-params.ts";
import { type EndpointOptions, type Exchange, serveMcp } from "./endpoint.ts";
import { ownHandlers } from "./handlers.ts";
import { maxFollowed, maxFollowedAnonymous, readAcknowledgement, subscribableUris } from "./listen.ts";
import { cacheMessageResponse, mcpPath as path, prependChunk, validityOf } from "./response-cache.ts";

/**
 * Rejects pages of other origins, and DNS rebinding: a page that reaches a registry on the visitor's own machine by
 * a host name that resolves to it. The settings decide, never the request; loopback origins are always allowed.
 */
function checkHostAndOrigin(
  c: RequestContext,
  { mcpOrigins, mcpHosts }: Pick<Config, "mcpOrigins" | "mcpHosts">,
): void {
  const host = URL.parse(c.req.url)?.hostname ?? "";
  if (mcpHosts !== undefined && !mcpHosts.includes(host)) throw requestError("ErrorHostRefused");
  const origin = c.req.header("Origin");
  if (origin === undefined || mcpOrigins === "*" || mcpOrigins.includes(origin)) return;
  if (!loopbackNames.includes(URL.parse(origin)?.hostname ?? "")) throw requestError("ErrorOriginRefused");
}

export type { EndpointOptions } from "./endpoint.ts";

/** The endpoint of a deployed registry, without the additions of tests. */
export const ownEndpoint: EndpointOptions = { handlersFor: ownHandlers };

/** Open MCP streams per caller; for anonymous callers, per IP address. */
const maxListening = 16;
const maxListeningAnonymous = 4;

/** The registry as an MCP server: POST only, no sessions; only data that is not public needs a token. */
export function mcpRoutes(app: App, services: McpDeps, endpoint: EndpointOptions): void {
  app.post(path, async (c) => {
    checkHostAndOrigin(c, services.config);
    readQuery(c, []);
    const caller = new McpCaller(services, await authenticateOptional(c, services));
    const request = normalizeAccept(c);
    const { body, bytes } = await readMessage(c, services);
    const error = invalidParamsError(body);
    if (error !== undefined) return withStandardHeaders(c, services, Response.json(error));
    const onFault = (cause: unknown) => logInternalError(c, cause);
    const listening = await listenRequest(caller, body);
    if (listening !== undefined)
      return listen(c, services, endpoint, { request, body: listening, caller, reportInternalError: onFault });
    const reuse = validityOf(services, body);
    const response = await serveMcp(endpoint, { request, body, caller, reportInternalError: onFault });
    if (!isJson(response)) return withStandardHeaders(c, services, await awaitFirstChunk(response, caller));
    const text = await response.text();
    if (caller.challenge !== undefined) throw new RequestFailed(caller.challenge);
    if (response.ok) {
      const { principal } = caller;
      cacheMessageResponse(c, services, { body, bytes, text, headers: response.headers, principal, reuse });
    }
    return withStandardHeaders(c, services, new Response(text, response));
  });

  app.all(path, () => {
    throw requestError("ErrorMethodNotAllowed", "MCP here is POST only: there are no sessions and no stream to GET", {
      allow: "POST",
    });
  });
}

/** The SDK requires both media types in Accept by name, so wildcards are replaced. The body is passed separately. */
function normalizeAccept(c: RequestContext): Request {
  const accept = c.req.header("Accept") ?? "*/*";
  const ranges = accept.split(",").map((range) => range.split(";")[0]?.trim().toLowerCase());
  const takes = (type: string) =>
    ranges.some((range) => range === type || range === "*/*" || range === `${type.split("/")[0]}/*`);
  if (!takes("application/json") || !takes("text/event-stream")) throw requestError("ErrorNotAcceptable");
  const headers = new Headers(c.req.raw.headers);
  headers.set("Accept", "application/json, text/event-stream");
  const { url, signal } = c.req.raw;
  return new Request(url, { method: "POST", headers, signal });
}

/** The JSON body, within size and depth limits. Its id is stored for error responses. */
async function readMessage(c: RequestContext, { config }: McpDeps): Promise<{ body: unknown; bytes: Uint8Array }> {
  if (mediaType(c) !== "application/json") {
    throw requestError("ErrorUnsupportedMediaType", "Content-Type must be application/json");
  }
  const bytes = await readBytes(c, config.bounds.configBytes);
  const { value, issues } = parseJson(bytes, config.bounds.depth);
  const [damage] = issues;
  if (damage !== undefined) throw requestError("ErrorInvalidBody", `${damage.path} ${damage.message}`, { issues });
  // MCP removed batches in 2025-06-18, and a batch of many calls would count once against the rate limit.
  if (Array.isArray(value)) throw requestError("ErrorBadRequest", "A body is one message: batches are not taken");
  const { id } = (value ?? {}) as { id?: unknown };
  if (typeof id === "string" || typeof id === "number") c.set("rpcId", id);
  return { body: value, bytes };
}

function isJson({ headers }: Response): boolean {
  return headers.get("Content-Type")?.startsWith("application/json") ?? false;
}

/**
 * Only a running method finds out that a token is needed, and by then a stream may have started with status 200. So
 * wait for the first chunk: until then nothing is sent and the response can still be a 401.
 */
async function awaitFirstChunk(response: Response, caller: McpCaller): Promise<Response> {
  if (!caller.principal.anonymous || response.body === null) return response;
  const reader = response.body.getReader();
  const first = await reader.read();
  if (caller.challenge !== undefined) {
    await reader.cancel();
    throw new RequestFailed(caller.challenge);
  }
  return new Response(prependChunk(first.done ? undefined : first.value, reader), response);
}

/** A `subscriptions/listen` request with only the URIs the caller may subscribe to; undefined for other methods. */
async function listenRequest(caller: McpCaller, body: unknown): Promise<unknown> {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { notifications?: unknown } };
  if (method !== "subscriptions/listen") return undefined;
  const { notifications } = params ?? {};
  const { resourceSubscriptions: uris } = (notifications ?? {}) as { resourceSubscriptions?: unknown };
  // The SDK rejects malformed parameters.
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === "string")) return body;
  const most = caller.principal.anonymous ? maxFollowedAnonymous : maxFollowed;
  if (uris.length > most) {
    throw requestError("ErrorBadRequest", `A stream follows at most ${most} resources; these are ${uris.length}`);
  }
  const resourceSubscriptions = unwrap(await subscribableUris(caller, uris));
  return {
    ...(body as object),
    params: { ...params, notifications: { ...(notifications as object), resourceSubscriptions } },
  };
}

/** The SDK validates and acknowledges the request; then the caller's StreamObject serves the stream. */
async function listen(
  c: RequestContext,
  services: McpDeps,
  endpoint: EndpointOptions,
  exchange: Exchange,
): Promise<Response> {
  const response = await serveMcp(endpoint, exchange);
  if (!response.headers.get("Content-Type")?.startsWith("text/event-stream"))
    return withStandardHeaders(c, services, response);
  const { principal } = exchange.caller;
  const answered = await readAcknowledgement(response, principal);
  if (typeof answered === "string") return withStandardHeaders(c, services, new Response(answered, response));
  const lifetimeMs = streamLifetimeMs(principal, services.now());
  const opened = await services
    .streams(`mcp ${principal.subject}`)
    .open({ follows: answered, lifetimeMs }, principal.anonymous ? maxListeningAnonymous : maxListening);
  return sendEvents(c, services, unwrap(opened));
}

/** Adds the headers that every response of the registry has. */
function withStandardHeaders(c: RequestContext, services: McpDeps, response: Response): Response {
  const headers = new Headers(response.headers);
  const ours = {
    ...corsHeaders(services, c.req.header("Origin")),
    "X-Content-Type-Options": "nosniff",
    "X-Request-Id": c.get("requestId"),
    ...(headers.has("Cache-Control") ? {} : { "Cache-Control": "no-store" }),
  };
  for (const [name, value] of Object.entries(ours)) headers.set(name, value);
  return new Response(response.body, { status: response.status, headers });
}

function logInternalError(c: RequestContext, cause: unknown): string {
  const { message, stack } = cause as Error;
  log(c, "error", { error: message, stack });
  return `Internal error: see request ${c.get("requestId")} in the log`;
}
