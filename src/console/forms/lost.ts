import { RequestFailed } from "../../http/context.ts";
import type { Failure } from "../../kernel/failure.ts";

/** A form of somebody who may not do this any more is kept, with the reason: `mount.ts` catches this. */
export function throwIfLost(error: Failure): void {
  if (error.code === "ErrorTenantPermissionError" || error.code === "ErrorInsufficientScope")
    throw new RequestFailed(error);
}
