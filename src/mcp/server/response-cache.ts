import type { RequestContext } from "../../http/context.ts";
import { cacheResponse, consumeRateLimitOf, findCached, withRequestId } from "../../http/response-cache.ts";
import { allowCached, neverIntrospected } from "../../registry/read.ts";
import type { McpDeps } from "../deps.ts";
import { parseResourceUri } from "../resources/uri.ts";

/** A stream of which the beginning was read already, as one from the beginning. */
export function prependChunk(
  first: Uint8Array | undefined,
  rest: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      if (first === undefined) controller.close();
      else controller.enqueue(first);
    },
    async pull(controller) {
      const { done, value } = await rest.read();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: (reason) => rest.cancel(reason),
  });
}

/** Where MCP is spoken. */
export const mcpPath = "/mcp";

/** What these answer depends on nothing but who asks, what is asked, and what is in memory. */
const cacheableMethods = [
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/templates/list",
  "resources/read",
] as const;

/** Questions are short; whatever is longer is read the long way, within its bounds. */
const maxMessageLength = 4_096;

/**
 * An id that can be told apart and put back as it stands: a plain number, or characters that JSON need not escape. It
 * is the only thing in which two clients that ask the same differ.
 */
const plainId = /"id"\s*:\s*((?:0|[1-9]\d{0,14})|"[ !#-[\]-~]{0,64}")\s*[,}]/;

/** Headers that say, of a message, what it is and what may be answered. */
const cacheKeyHeaders = [
  "Content-Type",
  "Content-Encoding",
  "Accept",
  "MCP-Protocol-Version",
  "Mcp-Method",
  "Mcp-Name",
];

/** Whether a POST may have been answered before: known without reading it. Older revisions do not say. */
export function isCacheable({ url, headers }: Request): boolean {
  return (
    url.endsWith(mcpPath) &&
    (cacheableMethods as readonly string[]).includes(headers.get("Mcp-Method") ?? "") &&
    Number(headers.get("Content-Length") ?? Number.NaN) <= maxMessageLength &&
    !headers.has("Origin")
  );
}

/** As `answerAgain`, for a message; where it has no answer, the request with what was read of it. */
export async function respondFromMessageCache(services: McpDeps, request: Request): Promise<Response | Request> {
  const { headers, body } = request;
  if (body === null) return request;
  const read = await readShortBody(body);
  if (!(read instanceof Uint8Array)) return new Request(request, { body: read });
  const message = split(read);
  const kept = message && findCached(services, headers, cacheKey(request, message));
  if (!message || !kept || kept.body === undefined || kept.body instanceof Uint8Array) {
    return new Request(request, { body: read });
  }
  if (!consumeRateLimitOf(services, kept, headers, 200)) return new Request(request, { body: read });
  const { before, behind } = kept.body;
  return withRequestId(new Response(`${before}${message.id}${behind}`, { headers: kept.headers }), headers);
}

/** All of a short message; of anything else a stream of the whole. What its length is said to be is not relied on. */
async function readShortBody(body: ReadableStream<Uint8Array>): Promise<Uint8Array | ReadableStream<Uint8Array>> {
  const reader = body.getReader({ mode: "byob" });
  try {
    const { value } = await reader.readAtLeast(maxMessageLength + 1, new Uint8Array(maxMessageLength + 1));
    if (value === undefined || value.byteLength <= maxMessageLength) return value ?? new Uint8Array();
    reader.releaseLock();
    return prependChunk(value, body.getReader());
  } catch (cause) {
    // Whoever reads it the long way finds it as broken.
    return new ReadableStream({ start: (controller) => controller.error(cause) });
  }
}

interface Answered {
  /** The message as it was read, and as it came. */
  body: unknown;
  bytes: Uint8Array;
  /** The answer as it is sent. */
  text: string;
  headers: Headers;
  /** Whether the result would still be the same; undefined where that cannot be told. */
  holds: (() => boolean) | undefined;
}

/** Keeps the answer to a message, to be sent again to whoever asks the same under any id. */
export function cacheMessageResponse(c: RequestContext, services: McpDeps, answered: Answered): void {
  const { body, bytes, text, headers, holds } = answered;
  if (!holds?.() || !isCacheable(c.req.raw) || bytes.byteLength > maxMessageLength) return;
  const message = split(bytes);
  if (message === undefined) return;
  const { id } = body as { id?: unknown };
  // The id must be the message's own, and a result be what was answered.
  const isOwn = JSON.stringify(id) === message.id && text.endsWith(`"id":${message.id}}`);
  if (!isOwn || !text.startsWith('{"result":')) return;
  const before = text.slice(0, -message.id.length - 1);
  const contentType = headers.get("Content-Type") ?? "application/json";
  const meta = { headers: { "Cache-Control": headers.get("Cache-Control") ?? "no-store" } };
  const question = cacheKey(c.req.raw, message);
  cacheResponse(c, services, { question, body: () => ({ before, behind: "}" }), contentType, meta, holds });
}

interface Split {
  before: string;
  id: string;
  behind: string;
}

/** A message around its id; undefined where there could be doubt which that is. */
function split(bytes: Uint8Array): Split | undefined {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
  const found = plainId.exec(text);
  const id = found?.[1];
  if (found === null || id === undefined) return undefined;
  // A second one, or one that is spelt otherwise, could be the message's own.
  if (text.indexOf('"id"') !== text.lastIndexOf('"id"') || text.includes("\\u")) return undefined;
  const at = found.index + found[0].indexOf(id, 4);
  return { before: text.slice(0, at), id, behind: text.slice(at + id.length) };
}

function cacheKey({ url, headers }: Request, { before, behind }: Split): string {
  return [url, ...cacheKeyHeaders.map((name) => headers.get(name)), before + behind].join("\n");
}

/** What is written in the code, and the same for everyone. */
const fixedMethods = ["server/discover", "tools/list", "prompts/list", "resources/templates/list"];

/**
 * How long the answer to a message lasts: whether, at any later moment, it would be the same. Undefined where only
 * answering it again could tell. Taken before it is answered, so that what it is about cannot change unnoticed meanwhile.
 */
export function validityOf(services: McpDeps, message: unknown): (() => boolean) | undefined {
  const { method, params } = (message ?? {}) as { method?: string; params?: { cursor?: unknown; uri?: unknown } };
  if (fixedMethods.includes(method ?? "")) return params?.cursor === undefined ? () => true : undefined;
  if (method !== "resources/read" || typeof params?.uri !== "string") return undefined;
  const parsed = parseResourceUri(params.uri);
  const server = parsed.ok ? parsed.value?.server : undefined;
  const resolved = server && services.heads.peek(server, allowCached);
  if (server === undefined || resolved?.head === undefined || neverIntrospected(resolved.head)) return undefined;
  return () => services.heads.peek(server, allowCached) === resolved;
}
