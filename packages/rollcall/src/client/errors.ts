/** A request that the registry refused, or that did not reach it. */
export class RollcallError extends Error {
  override readonly name = "RollcallError";
  /** Fixed name of the failure; `ErrorUnreachable`, `ErrorTimeout` and `ErrorNotRegistry` are the client's own. */
  readonly code: string;
  /** 0 if there was no answer. */
  readonly status: number;
  readonly details: Record<string, unknown> | undefined;
  /** What to do next. */
  readonly hint: string | undefined;
  readonly requestId: string | undefined;
  /** The request did nothing and may be sent again later. */
  readonly retryable: boolean;

  constructor(code: string, message: string, known: Partial<Omit<RollcallError, "code" | "message">> = {}) {
    super(message, { cause: known.cause });
    this.code = code;
    this.status = known.status ?? 0;
    this.details = known.details;
    this.hint = known.hint;
    this.requestId = known.requestId;
    this.retryable = known.retryable ?? false;
  }
}

/** True for an error of the registry or the client; with `code`, only for that one. */
export function isRollcallError(error: unknown, code?: string): error is RollcallError {
  // By name: an application may have this package twice.
  return error instanceof Error && error.name === "RollcallError" && (!code || (error as RollcallError).code === code);
}

/** Statuses of requests that did nothing: another try is safe, whatever the method. */
export const isRefusedForNow = (status: number) => status === 429 || status === 503;

type Body = Record<string, unknown>;
const isBody = (value: unknown): value is Body => typeof value === "object" && value !== null;
const text = (value: unknown) => (typeof value === "string" ? value : undefined);

/**
 * The error of an answer. The registry has four forms of it: `/api`, below `/mcp/`, `/v0.1` (problem+json) and JSON-RPC.
 */
export function errorOf(response: Response, body: unknown): RollcallError {
  const whole = isBody(body) ? body : {};
  const error = isBody(whole.error) ? whole.error : whole;
  const details = isBody(error.details) ? error.details : undefined;
  const isOurs = isBody(body);
  const code = text(error.code) ?? text(whole.code) ?? (isOurs ? "ErrorUnknown" : "ErrorNotRegistry");
  const message =
    text(error.message) ??
    text(whole.error) ??
    text(whole.detail) ??
    `HTTP ${response.status}${response.statusText && ` ${response.statusText}`}`;
  return new RollcallError(code, message, {
    status: response.status,
    details,
    hint: text(details?.hint),
    requestId: response.headers.get("X-Request-Id") ?? undefined,
    retryable: isRefusedForNow(response.status) || response.status >= 502,
  });
}
