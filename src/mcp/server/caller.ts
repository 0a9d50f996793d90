import type { Principal } from "../../auth/principal.ts";
import type { Failure } from "../../kernel/failure.ts";
import type { Result } from "../../kernel/result.ts";
import type { McpDeps } from "../deps.ts";
import { type RpcError, rpcErrorOf } from "./rpc-error.ts";

/** Who calls, for one HTTP request. */
export class McpCaller {
  readonly services: McpDeps;
  readonly principal: Principal;
  #challenge: Failure | undefined;

  constructor(services: McpDeps, principal: Principal) {
    this.services = services;
    this.principal = principal;
  }

  /** Why the whole request must be answered by asking for a token: found only while it is being handled. */
  get challenge(): Failure | undefined {
    return this.#challenge;
  }

  /** The value, or the error that its failure is to MCP. */
  unwrap<T>(result: Result<T, Failure>, about?: Record<string, unknown>): T {
    if (!result.ok) throw this.refusal(result.error, about);
    return result.value;
  }

  refusal(reason: Failure, about?: Record<string, unknown>): RpcError {
    if (reason.code === "ErrorUnauthorized") this.#challenge = reason;
    return rpcErrorOf(reason, about);
  }
}
