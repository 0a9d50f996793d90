import { isObject } from "../kernel/json.ts";
import { readJson } from "../kernel/read-json.ts";
import { clip } from "../kernel/text.ts";
import { FetchError, type FetchFailureKind } from "../outbound/fetch-failure.ts";
import type { SourceFailure, SourceFailureReason } from "./contract.ts";
import type * as Sdk from "./mcp-sdk.ts";
import type { Exchange, Traffic } from "./mcp-traffic.ts";
import { wordsForMembers } from "./source-words.ts";

/** Turns untrusted text into a line that is safe to store and show. */
export type Redact = (text: string) => string;

const maxLineLength = 200;
/** Shorter words of a header value are too common to search for and too short to be a secret. */
const minSecretLength = 6;

/** Removes header values from the text: a server may echo the credentials it received. */
export function createSafeLine(headers: Record<string, string>): Redact {
  const secrets = Object.values(headers)
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter((secret) => secret.length >= minSecretLength)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    // Redact before clipping: a secret cut in two would not be found.
    const clean = secrets.reduce((rest, secret) => rest.replaceAll(secret, "[credential]"), text);
    const line = clean
      .toWellFormed()
      .replace(/[\p{C}\s]+/gu, " ")
      .trim();
    return clip(line, maxLineLength);
  };
}

interface FailureContext {
  /** Name of the request in the message. */
  asked: string;
  exchange: Exchange | undefined;
  stopped: Traffic["stopped"];
  sdk: typeof Sdk;
  safeLine: Redact;
}

/** Explains why a request failed. The HTTP exchange takes precedence over the SDK's error. */
export function failureOf(thrown: unknown, circumstances: FailureContext): SourceFailure {
  const { asked, exchange = {}, stopped, sdk, safeLine } = circumstances;
  const { status } = exchange;
  if (stopped !== undefined) return bounded[stopped];
  if (status === 401 || status === 403) {
    const message = `${asked} returned HTTP ${status}${wordsOf(exchange, safeLine)}`;
    return { reason: "gated", message, httpStatus: status };
  }
  if (isTimeout(thrown, sdk)) return bounded.timeout;
  if (exchange.thrown !== undefined) return fetchFailureOf(exchange.thrown);

  const rpcError = rpcErrorOf(thrown, sdk);
  const modern = newerRevisions(thrown, sdk);
  if (modern !== undefined) {
    return {
      reason: "unsupported-version",
      message: safeLine(`The source supports only newer MCP revisions: ${modern.join(", ")}`),
    };
  }
  const httpStatus = status === undefined || status < 300 ? {} : { httpStatus: status };
  if (rpcError !== undefined) {
    const message = `${asked} returned error ${rpcError.code} and says ${wordsForMembers(safeLine(rpcError.message))}`;
    return { reason: "error", message, ...httpStatus };
  }
  if (status !== undefined && status >= 300) {
    const reason = status === 429 || status >= 500 ? "unavailable" : "not-mcp";
    return { reason, message: `${asked} returned HTTP ${status}${wordsOf(exchange, safeLine)}`, ...httpStatus };
  }
  if (thrown instanceof sdk.SdkError && thrown.code === sdk.SdkErrorCode.ConnectionClosed) return broken;
  const contentType = exchange.contentType === undefined ? "" : ` (content type ${exchange.contentType})`;
  return { reason: "not-mcp", message: safeLine(`The response to ${asked} is not valid MCP${contentType}`) };
}

/** The first line that a refusing source said, quoted. Markup is left out: it is a page for browsers. */
function wordsOf({ said = "" }: Exchange, safeLine: Redact): string {
  const line = said.split(/[\r\n]+/).find((text) => text.trim() !== "");
  if (line === undefined || line.trimStart().startsWith("<")) return "";
  return ` and says ${wordsForMembers(safeLine(line))}`;
}

/** True if trying another era would give the same failure. */
export function stopsDetection({ reason, httpStatus }: SourceFailure): boolean {
  const settled: SourceFailureReason[] = ["gated", "refused", "unreachable", "timeout", "too-large"];
  // 429 and most 5xx may come from a gateway and say nothing about the era. 500 and 501 may be how the server rejects
  // an unknown era.
  const isGatewayError = reason === "unavailable" && httpStatus !== 500 && httpStatus !== 501;
  return settled.includes(reason) || reason === "unsupported-version" || isGatewayError;
}

/** Code and message of an MCP error. For HTTP errors such as 404 the SDK leaves the body unparsed as text. */
export function rpcErrorOf(thrown: unknown, sdk: typeof Sdk): { code: number; message: string } | undefined {
  if (thrown instanceof sdk.ProtocolError) return { code: thrown.code, message: thrown.message };
  if (!(thrown instanceof sdk.SdkHttpError) || typeof thrown.data.text !== "string") return undefined;
  const body = parsed(thrown.data.text);
  const error = isObject(body) ? body.error : undefined;
  if (!isObject(error) || typeof error.code !== "number") return undefined;
  return { code: error.code, message: String(error.message) };
}

const bounded = {
  timeout: { reason: "timeout", message: "No response in time" },
  "too-large": { reason: "too-large", message: "The source sent more than the registry reads" },
} as const satisfies Record<string, SourceFailure>;

const broken: SourceFailure = { reason: "unreachable", message: "The connection closed early" };

/** Messages of a guarded fetch are safe to show; any other error is reported without its text. */
function fetchFailureOf(thrown: unknown): SourceFailure {
  const kind: FetchFailureKind = thrown instanceof FetchError ? thrown.failure.kind : "unreachable";
  const message = thrown instanceof FetchError ? thrown.message : "Could not connect, or the connection closed early";
  return { reason: kind === "too-many-redirects" || kind === "cancelled" ? "unreachable" : kind, message };
}

/** The revisions of a server that supports only newer ones than 2026-07-28; undefined otherwise. */
function newerRevisions(thrown: unknown, sdk: typeof Sdk): string[] | undefined {
  if (!(thrown instanceof sdk.UnsupportedProtocolVersionError)) return undefined;
  const supported = thrown.supported;
  return supported.length > 0 && supported.every((version) => version > "2026-07-28") ? supported : undefined;
}

function isTimeout(thrown: unknown, sdk: typeof Sdk): boolean {
  if (thrown instanceof DOMException) return thrown.name === "TimeoutError";
  return thrown instanceof sdk.SdkError && thrown.code === sdk.SdkErrorCode.RequestTimeout;
}

function parsed(text: string): unknown {
  try {
    return readJson(text);
  } catch {
    return undefined;
  }
}
