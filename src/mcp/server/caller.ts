import type { Principal } from "../../auth/principal.ts";
import type { Failure } from "../../kernel/failure.ts";
import type { Result } from "../../kernel/result.ts";
import type { McpDeps } from "../deps.ts";
import { type RpcError, rpcErrorOf } from "./rpc-error.ts";

/** The caller of one HTTP request. */
export class McpCaller {
  readonly services: McpDeps;
  readonly principal: Principal;
  #challenge: Failure | undefined;

  constructor(services: McpDeps, principal: Principal) {
    this.services = services;
    this.principal = principal;
  }

  /** Set if a handler finds that the request needs a token: the whole response is then a 401. */
  get challenge(): Failure | undefined {
    return this.#challenge;
  }

  /** Returns the value, or throws the failure as an RpcError. */
  unwrap<T>(result: Result<T, Failure>, about?: Record<string, unknown>): T {
    if (!result.ok) throw this.refusal(result.error, about);
    return result.value;
  }

  refusal(reason: Failure, about?: Record<string, unknown>): RpcError {
    if (reason.code === "ErrorUnauthorized") this.#challenge = reason;
    return rpcErrorOf(reason, about);
  }
}
