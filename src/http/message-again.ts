import type { Services } from "../services.ts";
import { findKept, keepAnswer } from "./answer-again.ts";
import type { RequestContext } from "./context.ts";

/** Where MCP is spoken. */
export const mcpPath = "/mcp";

/** What these answer depends on nothing but who asks, what is asked, and what is in memory. */
const repeatable = [
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/templates/list",
  "resources/read",
] as const;

/** Questions are short; whatever is longer is read the long way, within its bounds. */
const longestMessage = 4_096;

/**
 * An id that can be told apart and put back as it stands: a plain number, or characters that JSON need not escape. It
 * is the only thing in which two clients that ask the same differ.
 */
const plainId = /"id"\s*:\s*((?:0|[1-9]\d{0,14})|"[ !#-[\]-~]{0,64}")\s*[,}]/;

/** Headers that say, of a message, what it is and what may be answered. */
const telling = ["Content-Type", "Accept", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"];

/** Whether a POST may have been answered before: known without reading it. Older revisions do not say. */
export function mayRepeat({ url, headers }: Request): boolean {
  return (
    url.endsWith(mcpPath) &&
    (repeatable as readonly string[]).includes(headers.get("Mcp-Method") ?? "") &&
    Number(headers.get("Content-Length") ?? Number.NaN) <= longestMessage
  );
}

/** As `answerAgain`, for a message; what it read of the request comes back where it has no answer. */
export async function answerMessageAgain(services: Services, request: Request): Promise<Response | Request> {
  const bytes = await request.arrayBuffer();
  const message = split(bytes);
  const kept =
    message && !request.headers.has("Origin") && findKept(services, request.headers, questionOf(request, message));
  if (!message || !kept || kept.body === undefined || kept.body instanceof Uint8Array) {
    return new Request(request, { body: bytes });
  }
  services.metrics.record(kept.route, 200, 0, "memory");
  return new Response(`${kept.body.before}${message.id}${kept.body.behind}`, { headers: kept.headers });
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
export function keepMessageAnswer(c: RequestContext, services: Services, answered: Answered): void {
  const { body, bytes, text, headers, holds } = answered;
  const message = split(bytes);
  if (!holds?.() || message === undefined || !mayRepeat(c.req.raw) || c.req.raw.headers.has("Origin")) return;
  const { id } = body as { id?: unknown };
  const end = `"id":${message.id}}`;
  // The id must be the message's own, and a result be what was answered.
  if (JSON.stringify(id) !== message.id || !text.startsWith('{"result":') || !text.endsWith(end)) return;
  const before = text.slice(0, -message.id.length - 1);
  const contentType = headers.get("Content-Type") ?? "application/json";
  const meta = { headers: { "Cache-Control": headers.get("Cache-Control") ?? "no-store" } };
  const question = questionOf(c.req.raw, message);
  keepAnswer(c, services, { question, body: { before, behind: "}" }, contentType, meta, holds });
}

interface Split {
  before: string;
  id: string;
  behind: string;
}

/** A message around its id; undefined where there could be doubt which that is. */
function split(bytes: ArrayBuffer | Uint8Array): Split | undefined {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
  const found = plainId.exec(text);
  const id = found?.[1];
  if (found === null || id === undefined || text.indexOf('"id"') !== text.lastIndexOf('"id"')) return undefined;
  const at = found.index + found[0].indexOf(id, 4);
  return { before: text.slice(0, at), id, behind: text.slice(at + id.length) };
}

function questionOf({ url, headers }: Request, { before, behind }: Split): string {
  return [url, ...telling.map((name) => headers.get(name)), before + behind].join("\n");
}
