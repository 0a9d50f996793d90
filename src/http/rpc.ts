import { type Failure, statusOf } from "../domain/failure.ts";

/** A request that never got as far as a method, as JSON-RPC tells of it. */
export function rpcError({ code, message, details }: Failure, id: string | number | undefined): unknown {
  const data = { code, ...(details === undefined ? {} : { details }) };
  return { jsonrpc: "2.0", id: id ?? null, error: { code: rpcCode(code), message, data } };
}

/** JSON-RPC's own where it has one; else the HTTP status, which is in no reserved range. */
function rpcCode(code: Failure["code"]): number {
  if (code === "ErrorInvalidBody") return -32_700;
  const status = statusOf(code);
  return status === 400 ? -32_600 : status === 500 ? -32_603 : status;
}
