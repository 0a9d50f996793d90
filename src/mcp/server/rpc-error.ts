import { type Failure, type FailureCode, statusOf } from "../../kernel/failure.ts";

export const invalidParams = -32_602;
const internalError = -32_603;

/** Thrown by handlers: the SDK sends its code, message and data to the client. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Failures that MCP reports as invalid params, such as an unknown tool, resource or cursor. */
const notFound: ReadonlySet<FailureCode> = new Set([
  "ErrorBadRequest",
  "ErrorCapabilityNotFound",
  "ErrorCursorInvalid",
  "ErrorMCPServerNotFound",
  "ErrorToolArguments",
  "ErrorToolNotFound",
  "resource_not_found",
]);

/** If neither JSON-RPC nor MCP defines a code, the HTTP status is used: JSON-RPC does not reserve that range. */
function rpcCodeOf(code: FailureCode): number {
  if (notFound.has(code)) return invalidParams;
  const status = statusOf(code);
  return status === 500 ? internalError : status;
}

export function rpcErrorOf({ code, message, details }: Failure, about: Record<string, unknown> = {}): RpcError {
  return new RpcError(rpcCodeOf(code), message, { code, ...about, details });
}
