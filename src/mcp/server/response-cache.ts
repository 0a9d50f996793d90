import type { Principal } from "../../auth/principal.ts";
import type { RequestContext } from "../../http/context.ts";
import {
  cacheResponse,
  consumeCallerRateLimit,
  findCached,
  maxQuestionBytes,
  readShortBody,
  withRequestId,
} from "../../http/response-cache.ts";
import type { ResponseAccess } from "../../http/response-store.ts";
import { allowCached, neverIntrospected } from "../../registry/read.ts";
import { searchStart, searchValidity } from "../../search/validity.ts";
import { searchScope } from "../../search/visible-cards.ts";
import type { McpDeps } from "../deps.ts";
import { parseResourceUri } from "../resources/uri.ts";
import { needsSession } from "./session-methods.ts";

/** Path of the MCP endpoint. */
export const mcpPath = "/mcp";

/** Methods whose response depends only on the caller, the message and data in memory. */
const cacheableMethods = ["server/discover", "tools/list", "prompts/list", "resources/read", "tools/call"] as const;

/**
 * A JSON-RPC id that can be cut out and inserted verbatim: a plain integer, or a string without JSON escapes. Equal
 * requests of different clients differ only in the id.
 */
const plainId = /"id"\s*:\s*((?:0|[1-9]\d{0,14})|"[ !#-[\]-~]{0,64}")\s*[,}]/;

/** Headers that affect how a message is read or answered. */
const cacheKeyHeaders = [
  "Content-Type",
  "Content-Encoding",
  "Accept",
  "MCP-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
];

/**
 * True if a POST may be in the cache, judged without its body. Older revisions send no Mcp-Method: never cached. A
 * session is checked by the route alone, so a message that needs the check bypasses the cache.
 */
export function isCacheable({ config }: Pick<McpDeps, "config">, { url, headers }: Request): boolean {
  if (!url.endsWith(mcpPath)) return false;
  const method = headers.get("Mcp-Method") ?? "";
  return (
    (cacheableMethods as readonly string[]).includes(method) &&
    Number(headers.get("Content-Length") ?? Number.NaN) <= maxQuestionBytes &&
    !headers.has("Origin") &&
    !(needsSession(method) && (config.requireNegotiation || headers.has("X-MCP-Session-ID")))
  );
}

/** Like `respondFromCache`, for an MCP message. On a miss, returns the request with a body that can be read again. */
export async function respondFromMessageCache(services: McpDeps, request: Request): Promise<Response | Request> {
  const { headers } = request;
  if (request.body === null) return request;
  const read = await readShortBody(request.body);
  const cached = read instanceof Uint8Array ? respondToMessage(services, request, read) : undefined;
  return cached === undefined ? new Request(request, { body: read }) : withRequestId(cached, headers);
}

function respondToMessage(services: McpDeps, request: Request, bytes: Uint8Array): Response | undefined {
  const message = splitAtId(bytes);
  const found = message && findCached(services, request.headers, cacheKey(request, message));
  if (message === undefined || found === undefined) return undefined;
  const { body, headers } = found.response;
  if (body === undefined || body instanceof Uint8Array) return undefined;
  if (!consumeCallerRateLimit(services, found, request, 200)) return undefined;
  return new Response(`${body.before}${message.id}${body.behind}`, { headers });
}

interface HandledMessage {
  /** The message as parsed JSON, and as received. */
  body: unknown;
  bytes: Uint8Array;
  /** The JSON-RPC response as sent. */
  text: string;
  headers: Headers;
  principal: Principal;
  /** undefined if only handling the message again could tell whether its result is still current. */
  reuse: Reuse | undefined;
}

/** Caches the response for the same message under any id. */
export function cacheMessageResponse(c: RequestContext, services: McpDeps, answered: HandledMessage): void {
  const { body, bytes, text, headers, principal, reuse } = answered;
  if (!reuse?.holds() || !isCacheable(services, c.req.raw) || bytes.byteLength > maxQuestionBytes) return;
  const message = splitAtId(bytes);
  if (message === undefined) return;
  const { id, method } = body as { id?: unknown; method?: unknown };
  // `isCacheable` trusts the header, so a response under another method's name must never be in the cache.
  if (method !== c.req.header("Mcp-Method")) return;
  // Cache only results, and only if the id that `split` found is the message's top-level id.
  const isOwn = JSON.stringify(id) === message.id && text.endsWith(`"id":${message.id}}`);
  if (!isOwn || !text.startsWith('{"result":') || isToolError(text)) return;
  const before = text.slice(0, -message.id.length - 1);
  const contentType = headers.get("Content-Type") ?? "application/json";
  const meta = { headers: { "Cache-Control": headers.get("Cache-Control") ?? "no-store" } };
  const question = cacheKey(c.req.raw, message);
  const parts = () => ({ before, behind: "}" });
  cacheResponse(c, services, { question, principal, body: parts, contentType, meta, ...reuse });
}

/** A tool that was not allowed to run, or could not, answers a result too. */
function isToolError(text: string): boolean {
  return text.includes('"isError":true');
}

interface SplitMessage {
  before: string;
  id: string;
  behind: string;
}

/** Splits a message at its id; undefined if it is not certain which text is the id. */
function splitAtId(bytes: Uint8Array): SplitMessage | undefined {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
  const found = plainId.exec(text);
  const id = found?.[1];
  if (found === null || id === undefined) return undefined;
  // A second "id", or one with escaped characters, could be the message's top-level id.
  if (text.indexOf('"id"') !== text.lastIndexOf('"id"') || text.includes("\\u")) return undefined;
  const at = found.index + found[0].indexOf(id, 4);
  return { before: text.slice(0, at), id, behind: text.slice(at + id.length) };
}

function cacheKey({ url, headers }: Request, { before, behind }: SplitMessage): string {
  // An empty header is not an absent one, which stands here as a character that no header can have.
  return [url, ...cacheKeyHeaders.map((name) => headers.get(name) ?? "\0"), before + behind].join("\n");
}

/** Methods whose result is fixed in code and the same for every caller. */
const fixedMethods = ["server/discover", "tools/list", "prompts/list"];

interface MessageParams {
  cursor?: unknown;
  uri?: unknown;
  name?: unknown;
}

/** When the response to a message may be sent again, and to whom. */
interface Reuse {
  /** True while the response is current. */
  holds: () => boolean;
  access: ResponseAccess;
}

const everyone: ResponseAccess = { scope: "registry:read", anonymous: true, variesBy: "nothing" };

/**
 * How long and for whom the response to a message is valid; undefined if only handling the message again could tell.
 * Call it before handling the message, so that a change in the meantime is noticed.
 */
export function validityOf(services: McpDeps, principal: Principal, message: unknown): Reuse | undefined {
  const { method, params } = (message ?? {}) as { method?: string; params?: MessageParams };
  if (fixedMethods.includes(method ?? ""))
    return params?.cursor === undefined ? { holds: () => true, access: everyone } : undefined;
  if (method === "tools/call") return params?.name === searchTool ? validityOfSearch(services, principal) : undefined;
  if (method !== "resources/read" || typeof params?.uri !== "string") return undefined;
  const parsed = parseResourceUri(params.uri);
  const server = parsed.ok ? parsed.value?.server : undefined;
  const resolved = server && services.heads.peek(server, allowCached);
  if (server === undefined || resolved?.head === undefined || neverIntrospected(resolved.head)) return undefined;
  return {
    holds: () => services.heads.peek(server, allowCached) === resolved,
    access: { ...everyone, variesBy: { member: server.tenant } },
  };
}

const searchTool = "search_capabilities";

/** Its result depends on what is public and on the tenants of the caller alone; an admin may ask for any tenant. */
function validityOfSearch(services: McpDeps, principal: Principal): Reuse | undefined {
  if (principal.admin) return undefined;
  const scope = searchScope(principal, undefined);
  const holds = searchValidity(services, scope, services.edgeDirectory.peek(), searchStart(services));
  return holds && { holds, access: { ...everyone, variesBy: "tenants" } };
}
