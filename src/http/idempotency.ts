import { z } from "zod";
import { digestOf } from "../kernel/digest.ts";
import type { Idempotency } from "../kernel/etag.ts";
import { withTraits } from "./parameters.ts";

/** Header of a POST that may be sent again without a second effect. */
export const idempotencyHeader = {
  "Idempotency-Key": withTraits(
    z
      .string()
      .regex(/^[\x21-\x7e]{1,200}$/, "must be 1 to 200 visible ASCII characters")
      .describe(
        "A name for this request, chosen by the client. The same request with the same key has no second effect for 24 hours: it gets the first answer.",
      ),
    { fails: ["ErrorIdempotencyKeyReused"] },
  ).optional(),
};

/** `request` is everything that the answer depends on. */
export async function idempotencyOf(
  headers: { "Idempotency-Key"?: string | undefined },
  request: { operation: string; tenant: string; [part: string]: unknown },
): Promise<Idempotency | undefined> {
  const key = headers["Idempotency-Key"];
  return key === undefined ? undefined : { key, digest: await digestOf(request) };
}
