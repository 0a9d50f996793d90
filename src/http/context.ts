import type { Context, Hono } from "hono";
import { type Failure, failure } from "../kernel/failure.ts";
import type { AnswerSource } from "../kernel/platform/usage.ts";
import type { Result } from "../kernel/result.ts";

/** What one request carries besides its services. */
export interface Variables {
  requestId: string;
  startedAt: number;
  /** Where the answer came from, for headers and metrics. */
  source?: AnswerSource;
  subject?: string;
  /** What a JSON-RPC error of this request answers. */
  rpcId?: string | number;
  /** An error has its line in the log already. */
  logged?: boolean;
}

export type App = Hono<{ Bindings: Env; Variables: Variables }>;
export type RequestContext = Context<{ Bindings: Env; Variables: Variables }>;

/** A failure on its way to the error handler: the last step of a route, never used below it. */
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

/** Stops the request where there is an objection to it. */
export function throwIf(error: Failure | undefined): void {
  if (error !== undefined) throw new RequestFailed(error);
}

export function requestError(...reason: Parameters<typeof failure>): RequestFailed {
  return new RequestFailed(failure(...reason));
}
