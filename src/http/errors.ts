import { type Failure, statusOf } from "../kernel/failure.ts";
import type { Issue } from "../kernel/issue.ts";

export const problemJson = "application/problem+json; charset=utf-8";

/** Whether a path is one of the official registry's API, under either of its names. */
export function isOfficial(path: string): boolean {
  return /^\/v0(\.1)?(\/|$)/.test(path);
}

/** The failure as that API tells of it: RFC 9457, and beside it the sentence alone for clients that look for `error`. */
export function problem({ code, message, details }: Failure): Record<string, unknown> {
  const status = statusOf(code);
  const { issues, ...others } = details ?? {};
  return {
    title: titles[status] ?? "Error",
    status,
    detail: message,
    errors: issues === undefined || issues.length === 0 ? [{ message }] : issues.map(errorOf),
    error: message,
    code,
    details: Object.keys(others).length === 0 ? undefined : others,
  };
}

function errorOf({ path, message }: Issue): { message: string; location?: string } {
  return path === "" ? { message } : { message: `${dotted(path)}: ${message}`, location: dotted(path) };
}

/** `/packages/0/version` as that API writes it: `packages[0].version`. */
export function dotted(pointer: string): string {
  return pointer
    .split("/")
    .slice(1)
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce(
      (path, segment) => (/^\d+$/.test(segment) ? `${path}[${segment}]` : path === "" ? segment : `${path}.${segment}`),
      "",
    );
}

const titles: Partial<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  409: "Conflict",
  412: "Precondition Failed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Entity",
  429: "Too Many Requests",
  500: "Internal Server Error",
  501: "Not Implemented",
  503: "Service Unavailable",
};

/** A request that never got as far as a method, as JSON-RPC tells of it. */
export function rpcError({ code, message, details }: Failure, id: string | number | undefined): unknown {
  const data = { code, details };
  return { jsonrpc: "2.0", id: id ?? null, error: { code: rpcCode(code), message, data } };
}

/** JSON-RPC's own where it has one; else the HTTP status, which is in no reserved range. */
function rpcCode(code: Failure["code"]): number {
  if (code === "ErrorInvalidBody") return -32_700;
  const status = statusOf(code);
  return status === 400 ? -32_600 : status === 500 ? -32_603 : status;
}
