import type { z } from "zod";
import { readConfig } from "../config.ts";
import { type Bounds, type ImportBound, importBounds } from "../kernel/bounds.ts";
import { characterIssues } from "../kernel/characters.ts";
import { type FailureCode, failure } from "../kernel/failure.ts";
import { issueText } from "../kernel/issue.ts";
import type { Pace } from "../kernel/pace/pace.ts";
import { uploadMs } from "../kernel/pace/uploads.ts";
import { createWorkerPace } from "../kernel/platform/worker-pace.ts";
import type { Result } from "../kernel/result.ts";
import { type JsonFault, parseStrictJson, type StrictJson, strictJsonSteps } from "../kernel/strict-json.ts";
import { withTimeout } from "../kernel/timeout.ts";
import { yamlSteps } from "../kernel/yaml.ts";
import { parseWith } from "../kernel/zod-issues.ts";
import { type RequestContext, RequestFailed, requestError } from "./context.ts";

/** Name of the bound of a body: one of `kernel/bounds.ts`, or the operation's own. */
export type BodyBound = keyof Bounds | ImportBound | "bodyBytes";

interface DocumentLimits {
  bytes: number;
  bound: BodyBound;
  depth: number;
  /** A lower limit of YAML than `importBounds.yamlBytes`. */
  yamlBytes?: number;
  /** Value of an empty body. If undefined, an empty body is an error. */
  whenEmpty?: unknown;
}

/** A parsed body and its size in bytes. */
export interface SentDocument extends StrictJson {
  bytes: number;
}

/** Reads a JSON or YAML body within the limits. Damage that may concern a single item is returned as issues. */
export async function readDocument(
  c: RequestContext,
  limits: DocumentLimits,
  pace: Pace = createWorkerPace(),
): Promise<SentDocument> {
  const format = formatOf(c.req.header("Content-Type"));
  // The YAML parser is far slower than the JSON parser and cannot always pause, so YAML documents have a lower limit.
  const yamlLimit = Math.min(limits.yamlBytes ?? importBounds.yamlBytes, importBounds.yamlBytes);
  const limit = format === "yaml" ? Math.min(limits.bytes, yamlLimit) : limits.bytes;
  const limitName = limit < limits.bytes ? "yamlBytes" : limits.bound;
  const body = await readBytes(c, limit, limitName);
  const bytes = body.byteLength;
  // A request without a body may arrive with an empty one, depending on the client and on proxies.
  if (bytes === 0 && limits.whenEmpty !== undefined) return { value: limits.whenEmpty, issues: [], bytes };
  if (format === "json") {
    return { ...jsonOrThrow(await pace.run(strictJsonSteps(body, { maxDepth: limits.depth }))), bytes };
  }
  const parsed = await pace.run(yamlSteps(body, { maxDepth: limits.depth, maxBytes: limit }));
  if (parsed.ok) return { ...parsed.value, bytes };
  const { message, line, column, tooLarge, bound } = parsed.error;
  if (tooLarge) throw requestError("ErrorTooLarge", message, { limit, bound: { name: limitName, limit } });
  const where = line === undefined ? "" : ` at line ${line}, column ${column}`;
  const place = line === undefined ? {} : { line, column };
  if (bound !== undefined) {
    throw requestError("ErrorMCPServerValidation", `${message}${where}`, { bound, ...place });
  }
  throw requestError("ErrorInvalidBody", `Invalid YAML: ${message}${where}`, place);
}

export function parseJson(bytes: Uint8Array, maxDepth: number): StrictJson {
  return jsonOrThrow(parseStrictJson(bytes, { maxDepth }));
}

function jsonOrThrow(parsed: Result<StrictJson, JsonFault>): StrictJson {
  if (parsed.ok) return parsed.value;
  const { message, line, column, path } = parsed.error;
  throw requestError("ErrorInvalidBody", `Invalid JSON: ${message}`, {
    ...(line && { line, column }),
    ...(path && { path }),
  });
}

/** Reads a body in another text format, as UTF-8. */
export async function readText(c: RequestContext, limit: number, bound: BodyBound): Promise<string> {
  return parseText(await readBytes(c, limit, bound));
}

export function parseText(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw requestError("ErrorInvalidBody", "The body is not valid UTF-8");
  }
}

export function mediaType(c: RequestContext): string {
  return (c.req.header("Content-Type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

function formatOf(contentType: string | undefined): "json" | "yaml" {
  const type = (contentType ?? "application/json").split(";")[0]?.trim().toLowerCase() ?? "";
  // Defaults of curl -d and fetch: the body is almost always JSON, and is parsed as strictly.
  if (["application/x-www-form-urlencoded", "text/plain"].includes(type)) return "json";
  if (/^application\/(?:[\w.-]+\+)?json$/.test(type)) return "json";
  if (/^(?:application|text)\/(?:x-|vnd\.)?yaml$/.test(type)) return "yaml";
  throw requestError(
    "ErrorUnsupportedMediaType",
    `The body must be application/json or application/yaml, not ${JSON.stringify(type)}`,
  );
}

/** The raw body. Not read at all if Content-Length is beyond the limit; reading stops at the limit whatever it says. */
export async function readBytes(c: RequestContext, limit: number, bound: BodyBound): Promise<Uint8Array> {
  if (c.req.header("Content-Encoding") !== undefined) {
    throw requestError("ErrorUnsupportedMediaType", "Content-Encoding is not supported; send the body as it is");
  }
  const tooLarge = () =>
    requestError("ErrorTooLarge", `The body is larger than ${sizeText(limit)}`, {
      limit,
      bound: { name: bound, limit },
    });
  const stream = c.req.raw.body;
  const announced = Number(c.req.header("Content-Length") ?? 0);
  if (announced > limit) {
    await refuseBody(c, stream);
    throw tooLarge();
  }
  const count = c.get("countBytes");
  if (announced > 0) count?.(announced);
  if (stream === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  const upload = c.get("upload");
  const receive = async () => {
    for await (const chunk of stream.values({ preventCancel: true })) {
      size += chunk.byteLength;
      if (size > limit) throw tooLarge();
      upload?.hold(chunk.byteLength);
      chunks.push(chunk);
    }
  };
  try {
    await (upload === undefined ? receive() : withTimeout(receive(), uploadMs));
  } catch (cause) {
    await refuseBody(c, stream);
    throw cause instanceof DOMException && cause.name === "TimeoutError" ? tooSlow() : cause;
  }
  if (!(announced > 0)) count?.(size);
  await upload?.received(size);
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}

function tooSlow() {
  const message = `The body was not sent within ${uploadMs / 1_000} seconds; nothing was changed`;
  return requestError("ErrorInvalidBody", message, { hint: "Send it in smaller parts, or over a faster connection" });
}

/** What is received and dropped of a refused body. */
const discardedBytes = 32 * 1024 * 1024;
const discardingMs = 10_000;

/**
 * Ends a body that nobody will read. workerd closes the connection of such a request while the client is still sending,
 * and some clients then report a reset connection instead of the answer. On Cloudflare the proxy in front takes the
 * rest; the embedded server has none, and takes it here.
 */
export async function refuseBody(c: RequestContext, stream = c.req.raw.body): Promise<void> {
  if (stream === null || stream.locked) return;
  if (readConfig(c.env).discardRefusedBodies) {
    await withTimeout(discard(stream), discardingMs).catch(() => {});
  }
  if (!stream.locked) await stream.cancel().catch(() => {});
}

async function discard(stream: ReadableStream<Uint8Array>): Promise<void> {
  let size = 0;
  for await (const chunk of stream.values({ preventCancel: true })) {
    size += chunk.byteLength;
    if (size > discardedBytes) return;
  }
}

/** A limit in whole MiB or kB where it is one: 8388608 tells nobody anything. */
function sizeText(bytes: number): string {
  if (bytes % 1_048_576 === 0) return `${bytes / 1_048_576} MiB`;
  return bytes % 1_024 === 0 ? `${bytes / 1_024} KiB` : `${bytes} bytes`;
}

/** Returns the document as the schema's type, or throws a failure that lists the issues. */
export function parseBody<Schema extends z.ZodType>(
  schema: Schema,
  document: StrictJson,
  code: FailureCode = "ErrorMCPServerValidation",
): z.infer<Schema> {
  const [damage] = document.issues;
  if (damage !== undefined) {
    throw new RequestFailed(failure("ErrorInvalidBody", issueText(damage), { issues: document.issues }));
  }
  const parsed = parseWith(schema, document.value, "");
  const issues = [...(parsed.ok ? [] : parsed.error), ...characterIssues(document.value, "")];
  const [first] = issues;
  if (!parsed.ok || first !== undefined) {
    const message = `${failure(code).message}: ${first === undefined ? "" : issueText(first)}`;
    throw new RequestFailed(failure(code, message, { issues: issues.slice(0, 100) }));
  }
  return parsed.value;
}
