import { type Failure, type FailureCode, statusOf } from "../../kernel/failure.ts";

export const invalidParams = -32_602;
const internalError = -32_603;
/** Of the 2025 revisions; since 2026-07-28 a resource that is not there is an invalid parameter. */
const resourceNotFound = -32_002;

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

const missingResource: ReadonlySet<unknown> = new Set<FailureCode>(["ErrorMCPServerNotFound", "resource_not_found"]);

/** True if `resources/read` failed because the resource is not there. */
export function isMissingResource(method: string, { code, data }: RpcError): boolean {
  return (
    method === "resources/read" && code === invalidParams && missingResource.has((data as { code?: unknown })?.code)
  );
}

/**
 * The response with the code that the 2025 revisions have for a resource that is not there. The SDK sends the code of
 * 2026-07-28 to every client, so it is replaced in the text of the response.
 */
export function withLegacyCode(response: Response, isMissing: () => boolean): Response {
  if (response.body === null) return response;
  const [from, to] = [invalidParams, resourceNotFound].map((code) => `"error":{"code":${code}`) as [string, string];
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const text = isMissing() ? new TextDecoder().decode(chunk) : undefined;
        controller.enqueue(text?.includes(from) ? new TextEncoder().encode(text.replace(from, to)) : chunk);
      },
    }),
  );
  return new Response(body, response);
}
