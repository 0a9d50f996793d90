import { isObject } from "../kernel/json.ts";
import { clip } from "../kernel/text.ts";
import { FetchError, type FetchFailureKind } from "../outbound/fetch-failure.ts";
import type { SourceFailure, SourceFailureReason } from "./contract.ts";
import type * as Sdk from "./mcp-sdk.ts";
import type { Exchange, Traffic } from "./mcp-traffic.ts";

/** Turns what somebody else wrote into a line that can be stored and shown. */
export type Redact = (text: string) => string;

const maxLineLength = 200;
/** Shorter words of a header are too common to be searched for, and too short to be a secret. */
const minSecretLength = 6;

/** A server may send back whatever it was sent: the values of the headers are taken out of all it says. */
export function createSafeLine(headers: Record<string, string>): Redact {
  const secrets = Object.values(headers)
    .flatMap((value) => [value, ...value.split(/\s+/)])
    .filter((secret) => secret.length >= minSecretLength)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    // A secret that is cut in two by the clipping would not be found any more.
    const clean = secrets.reduce((rest, secret) => rest.replaceAll(secret, "[credential]"), text);
    const line = clean
      .toWellFormed()
      .replace(/[\p{C}\s]+/gu, " ")
      .trim();
    return clip(line, maxLineLength);
  };
}

interface FailureContext {
  /** What was asked, as the message names it. */
  asked: string;
  exchange: Exchange | undefined;
  stopped: Traffic["stopped"];
  sdk: typeof Sdk;
  safeLine: Redact;
}

/** Why a request came to nothing: first what was seen on the wire, and only then what the SDK says of it. */
export function failureOf(thrown: unknown, circumstances: FailureContext): SourceFailure {
  const { asked, exchange = {}, stopped, sdk, safeLine } = circumstances;
  const { status } = exchange;
  if (stopped !== undefined) return bounded[stopped];
  if (status === 401 || status === 403) {
    return { reason: "gated", message: `It answers ${asked} with HTTP ${status}`, httpStatus: status };
  }
  if (isTimeout(thrown, sdk)) return bounded.timeout;
  if (exchange.thrown !== undefined) return unanswered(exchange.thrown);

  const rpcError = rpcErrorOf(thrown, sdk);
  const modern = newerRevisions(thrown, sdk);
  if (modern !== undefined) {
    return { reason: "unsupported-version", message: safeLine(`It speaks only newer revisions: ${modern.join(", ")}`) };
  }
  const httpStatus = status === undefined || status < 300 ? {} : { httpStatus: status };
  if (rpcError !== undefined) {
    const message = safeLine(`It answers ${asked} with error ${rpcError.code}: ${rpcError.message}`);
    return { reason: "error", message, ...httpStatus };
  }
  if (status !== undefined && status >= 300) {
    const reason = status === 429 || status >= 500 ? "unavailable" : "not-mcp";
    return { reason, message: `It answers ${asked} with HTTP ${status}`, ...httpStatus };
  }
  if (thrown instanceof sdk.SdkError && thrown.code === sdk.SdkErrorCode.ConnectionClosed) return broken;
  const contentType = exchange.contentType === undefined ? "" : ` (content type ${exchange.contentType})`;
  return { reason: "not-mcp", message: safeLine(`Its answer to ${asked} is not what MCP says${contentType}`) };
}

/** Reasons that asking in another way would not change. */
export function stopsDetection({ reason, httpStatus }: SourceFailure): boolean {
  const settled: SourceFailureReason[] = ["gated", "refused", "unreachable", "timeout", "too-large"];
  // A gateway that answers for a server says nothing about how the server speaks; a 500 may be its way to say no.
  const isElsewhere = reason === "unavailable" && httpStatus !== 500 && httpStatus !== 501;
  return settled.includes(reason) || reason === "unsupported-version" || isElsewhere;
}

/** The code and message of an MCP error, wherever the SDK put them: behind 404 it leaves the body as text. */
export function rpcErrorOf(thrown: unknown, sdk: typeof Sdk): { code: number; message: string } | undefined {
  if (thrown instanceof sdk.ProtocolError) return { code: thrown.code, message: thrown.message };
  if (!(thrown instanceof sdk.SdkHttpError) || typeof thrown.data.text !== "string") return undefined;
  const body = parsed(thrown.data.text);
  const error = isObject(body) ? body.error : undefined;
  if (!isObject(error) || typeof error.code !== "number") return undefined;
  return { code: error.code, message: String(error.message) };
}

const bounded = {
  timeout: { reason: "timeout", message: "It took too long" },
  "too-large": { reason: "too-large", message: "It sends more than is read" },
} as const satisfies Record<string, SourceFailure>;

const broken: SourceFailure = { reason: "unreachable", message: "Its connection broke off" };

/** A guarded fetch says why in words that are safe; of any other only that it failed is told. */
function unanswered(thrown: unknown): SourceFailure {
  const kind: FetchFailureKind = thrown instanceof FetchError ? thrown.failure.kind : "unreachable";
  const message = thrown instanceof FetchError ? thrown.message : "It cannot be reached";
  return { reason: kind === "too-many-redirects" || kind === "cancelled" ? "unreachable" : kind, message };
}

/** What a server offers that speaks none of the revisions known here, but later ones. */
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
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
