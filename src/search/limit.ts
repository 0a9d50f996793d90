import type { Principal } from "../auth/principal.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import type { SearchDeps } from "./deps.ts";

/** Counts a search that has to be worked out. ErrorTooManyRequests if the caller has asked for too many. */
export function checkSearchLimit(
  { searchLimiter, now }: Pick<SearchDeps, "searchLimiter" | "now">,
  { subject }: Principal,
): Failure | undefined {
  const allowed = searchLimiter.consume(subject, now());
  if (allowed.ok) return undefined;
  return failure("ErrorTooManyRequests", undefined, { retryAfterSeconds: allowed.retryAfterSeconds });
}
