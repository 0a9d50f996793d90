import { z } from "zod";
import type { Principal } from "../../auth/principal.ts";
import { openStream } from "../../changes/open-stream.ts";
import type { Config } from "../../config.ts";
import { type Access, anyone } from "../../http/access.ts";
import { mediaType, parseJson } from "../../http/body.ts";
import { type RequestContext, RequestFailed, requestError, unwrap } from "../../http/context.ts";
import { streamLifetimeMs, streamMeta } from "../../http/event-stream.ts";
import { log } from "../../http/observe.ts";
import { operation } from "../../http/operation.ts";
import { corsHeaders } from "../../http/respond.ts";
import { prependChunk } from "../../http/response-cache.ts";
import { loopbackNames } from "../../kernel/names.ts";
import { namedSession, sessionHeader } from "../../sessions/access.ts";
import type { McpDeps } from "../deps.ts";
import { FollowedResources, maxListening, maxListeningAnonymous } from "../resources/follow-resources.ts";
import { RpcMessage, RpcResponse } from "../schema.ts";
import { McpCaller } from "../server/caller.ts";
import { invalidParamsError } from "../server/check-params.ts";
import { type EndpointOptions, type Exchange, serveMcp } from "../server/endpoint.ts";
import { maxFollowed, maxFollowedAnonymous, readAcknowledgement, subscribableUris } from "../server/listen.ts";
import { cacheMessageResponse, mcpPath as path, validityOf } from "../server/response-cache.ts";
import { needsSession } from "../server/session-methods.ts";

/** A header's value as it may be shown: bounded, without anything that is not printable. */
function quotedHeader(value: string): string {
  return value.slice(0, 200).replaceAll(/[^\x20-\x7e]/g, "?");
}

/**
 * Rejects pages of other origins, and DNS rebinding: a page that reaches a registry on the visitor's own machine by
 * a host name that resolves to it. The settings decide, never the request; loopback origins are always allowed.
 */
function checkHostAndOrigin(
  c: RequestContext,
  { mcpOrigins, mcpHosts }: Pick<Config, "mcpOrigins" | "mcpHosts">,
): void {
  const host = URL.parse(c.req.url)?.hostname ?? "";
  if (mcpHosts !== undefined && !mcpHosts.includes(host))
    throw requestError("ErrorHostRefused", `Host ${quotedHeader(host)} is not allowed for /mcp; add it to MCP_HOSTS`);
  const origin = c.req.header("Origin");
  if (origin === undefined || mcpOrigins === "*" || mcpOrigins.includes(origin)) return;
  if (!loopbackNames.includes(URL.parse(origin)?.hostname ?? ""))
    throw requestError(
      "ErrorOriginRefused",
      `Browser origin ${quotedHeader(origin)} is not allowed; add it to MCP_ORIGINS`,
    );
}

/** A client may be anyone, but no page of another origin. */
const mcpClient: Access<{ principal: Principal }> = {
  ...anyone,
  fails: ["ErrorHostRefused", "ErrorOriginRefused"],
  identify(c, services) {
    checkHostAndOrigin(c, services.config);
    return anyone.identify(c, services);
  },
};

const revision = "2026-07-28";

/**
 * The registry as an MCP server: POST only, without MCP sessions; only data that is not public needs a token. Where the
 * deployment requires negotiation, methods that give out content need a negotiated session.
 */
export function postMessage(endpoint: EndpointOptions) {
  return operation({
    id: "mcp",
    method: "post",
    path,
    tag: "MCP",
    summary: "Send an MCP message",
    description: `The registry as an MCP server of revision ${revision}; clients of the 2025 revisions are served without sessions.`,
    access: mcpClient,
    errors: "rpc",
    parameters: {
      headers: {
        "MCP-Protocol-Version": z.string().optional().describe("The revision, the same as in the message."),
        "Mcp-Method": z.string().optional().describe("The method of the message; needed since 2026-07-28."),
        "Mcp-Name": z.string().optional().describe("The tool, prompt or resource of the message, if it has one."),
        ...sessionHeader,
      },
    },
    body: { schema: RpcMessage, read: "bytes", limit: "configBytes", media: ["application/json"] },
    answers: {
      200: { description: "The response, or a stream of messages.", json: RpcResponse, media: ["text/event-stream"] },
      202: { description: "The notification is taken." },
      404: { description: "There is no such method.", json: RpcResponse },
    },
    fails: ["ErrorNotAcceptable", "ErrorSessionMissing", "ErrorSessionInvalid"],
    examples: {
      discover: {
        headers: {
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
          "MCP-Protocol-Version": revision,
          "Mcp-Method": "server/discover",
        },
        body: {
          jsonrpc: "2.0",
          id: 1,
          method: "server/discover",
          params: {
            _meta: {
              "io.modelcontextprotocol/protocolVersion": revision,
              "io.modelcontextprotocol/clientCapabilities": {},
              "io.modelcontextprotocol/clientInfo": { name: "example", version: "1.0.0" },
            },
          },
        },
      },
    },

    async handle(services: McpDeps, { principal, body: bytes, c, answer }) {
      const caller = new McpCaller(services, principal);
      const request = normalizeAccept(c);
      const body = readMessage(c, services, bytes);
      if (needsSession((body as { method?: unknown } | null)?.method)) await namedSession(c, services, principal);
      // The SDK answers with statuses of its own: 200, 202, 400 or 404.
      const pass = (response: Response) => answer.response(200, withStandardHeaders(c, services, response));
      const error = invalidParamsError(body);
      if (error !== undefined) return pass(Response.json(error));
      const reportInternalError = (cause: unknown) => logInternalError(c, cause);
      const listening = await listenRequest(caller, body);
      if (listening !== undefined) {
        const listened = await listen(services, endpoint, { request, body: listening, caller, reportInternalError });
        return listened instanceof Response ? pass(listened) : answer.raw(200, listened, streamMeta());
      }
      const reuse = validityOf(services, principal, body);
      const response = await serveMcp(endpoint, { request, body, caller, reportInternalError });
      if (!isJson(response)) return pass(await awaitFirstChunk(response, caller));
      const text = await response.text();
      if (caller.challenge !== undefined) throw new RequestFailed(caller.challenge);
      if (response.ok)
        cacheMessageResponse(c, services, { body, bytes, text, headers: response.headers, principal, reuse });
      return pass(new Response(text, response));
    },
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

/** The message, within the depth limit. Its id is stored for error responses. */
function readMessage(c: RequestContext, { config }: McpDeps, bytes: Uint8Array): unknown {
  if (mediaType(c) !== "application/json") {
    throw requestError("ErrorUnsupportedMediaType", "Content-Type must be application/json");
  }
  const { value, issues } = parseJson(bytes, config.bounds.depth);
  const [damage] = issues;
  if (damage !== undefined) throw requestError("ErrorInvalidBody", `${damage.path} ${damage.message}`, { issues });
  // MCP removed batches in 2025-06-18, and a batch of many calls would count once against the rate limit.
  if (Array.isArray(value))
    throw requestError("ErrorBadRequest", "JSON-RPC batches are not supported; send one message per request");
  const { id } = (value ?? {}) as { id?: unknown };
  if (typeof id === "string" || typeof id === "number") c.set("rpcId", id);
  return value;
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
    throw requestError("ErrorBadRequest", `At most ${most} resources per stream; ${uris.length} requested`);
  }
  const resourceSubscriptions = unwrap(await subscribableUris(caller, uris));
  return {
    ...(body as object),
    params: { ...params, notifications: { ...(notifications as object), resourceSubscriptions } },
  };
}

/**
 * The SDK validates and acknowledges the request; then a live stream goes on from there. A request without
 * anything to follow is answered by the SDK alone.
 */
async function listen(
  services: McpDeps,
  endpoint: EndpointOptions,
  exchange: Exchange,
): Promise<Response | ReadableStream<Uint8Array>> {
  const response = await serveMcp(endpoint, exchange);
  if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) return response;
  const { principal } = exchange.caller;
  const answered = await readAcknowledgement(response, principal);
  if (typeof answered === "string") return new Response(answered, response);
  const lifetimeMs = streamLifetimeMs(principal, services.now());
  const opened = await openStream({
    streams: services.streams(`mcp ${principal.subject}`),
    tenant: (key) => services.tenant(key),
    feed: (tenantOf) => new FollowedResources(answered, tenantOf),
    lifetimeMs,
    maxStreams: principal.anonymous ? maxListeningAnonymous : maxListening,
    signal: exchange.request.signal,
  });
  return unwrap(opened);
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
