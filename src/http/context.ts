import type { Context, Hono } from "hono";
import type { Scope } from "../auth/principal.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import type { TenantKey } from "../kernel/names.ts";
import type { AnswerSource } from "../kernel/platform/usage.ts";
import type { Result } from "../kernel/result.ts";

/** Formats of error responses: ours, that of sessions, RFC 9457 and JSON-RPC. */
export type ErrorShape = "api" | "session" | "problem" | "rpc";

/** What errors, metrics and logs need to know of the operation that a request is for. */
export interface ServedOperation {
  id: string;
  errors: ErrorShape;
  /** The scope that a challenge names; undefined if no token would help. */
  scope: Scope | undefined;
}

/** Values of one request. */
export interface Variables {
  /** Undefined for a request that no operation takes. */
  operation?: ServedOperation;
  requestId: string;
  startedAt: number;
  /** The layer that the response came from, for headers and metrics. */
  source?: AnswerSource;
  subject?: string;
  /** The tenant that the request acts on, once its name was read. */
  tenant?: TenantKey;
  /** Counts a body of this size before it is read; throws for a caller who sent too much. */
  countBytes?: (size: number) => void;
  /** Of a request that may be costly. */
  upload?: CostlyUpload;
  /** Id of the JSON-RPC message, for an error response. */
  rpcId?: string | number;
  /** The request is for a page: what fails is told to a person. */
  isPage?: boolean;
  /** The error handler has already logged the error. */
  logged?: boolean;
}

/** What a request that may be costly does while its body is read. */
export interface CostlyUpload {
  /** Counts bytes that were received; throws if there is no room for them. */
  hold: (bytes: number) => void;
  /** Takes a place if the request is costly, now that its body is here; throws if there is none in time. */
  received: (bytes: number) => Promise<void>;
}

export type App = Hono<{ Bindings: Env; Variables: Variables }>;
export type RequestContext = Context<{ Bindings: Env; Variables: Variables }>;

/** Carries a failure to the error handler. Thrown only by HTTP code, never by the rules below it. */
export class RequestFailed extends Error {
  readonly failure: Failure;

  constructor(reason: Failure) {
    super(reason.message);
    this.failure = reason;
  }
}

export function unwrap<T>(result: Result<T, Failure>): T {
  if (!result.ok) throw new RequestFailed(result.error);
  return result.value;
}

export function throwIf(error: Failure | undefined): void {
  if (error !== undefined) throw new RequestFailed(error);
}

export function requestError(...reason: Parameters<typeof failure>): RequestFailed {
  return new RequestFailed(failure(...reason));
}
