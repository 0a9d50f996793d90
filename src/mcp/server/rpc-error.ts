import { type Failure, type FailureCode, statusOf } from "../../kernel/failure.ts";

export const invalidParams = -32_602;
const internalError = -32_603;

/** What a handler throws: the SDK tells the client its code, message and data. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** What MCP takes for parameters that name nothing: a tool, a resource, a cursor. */
const notFound: ReadonlySet<FailureCode> = new Set([
  "ErrorBadRequest",
  "ErrorCapabilityNotFound",
  "ErrorCursorInvalid",
  "ErrorMCPServerNotFound",
  "ErrorToolArguments",
  "ErrorToolNotFound",
  "resource_not_found",
]);

/** A failure as JSON-RPC has it. Where neither it nor MCP has a code, the HTTP status serves: no range is reserved there. */
export function rpcCodeOf(code: FailureCode): number {
  if (notFound.has(code)) return invalidParams;
  const status = statusOf(code);
  return status === 500 ? internalError : status;
}

export function rpcErrorOf({ code, message, details }: Failure, about: Record<string, unknown> = {}): RpcError {
  return new RpcError(rpcCodeOf(code), message, { code, ...about, details });
}
