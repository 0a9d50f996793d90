import type { SessionRecord } from "./contract.ts";

/** A session expires when it has not been used for longer than this. */
export const sessionIdleMs = 3_600_000;

/** A use within this time of the stored last activity is not written. */
export const activityWriteMs = 60_000;

/** How long an isolate may cache a session. An ended session stays valid in other isolates for at most this time. */
const sessionTrustMs = 5_000;

/** How long after its expiry a session can be resumed. */
export const resumeWindowMs = 86_400_000;

export function isExpired(lastActivity: number, now: number): boolean {
  return now - lastActivity > sessionIdleMs;
}

/** When the session's data can be deleted: after its expiry and resume window. */
export function deleteAt({ resume }: Pick<SessionRecord, "resume">, lastActivity: number): number {
  return lastActivity + sessionIdleMs + (resume?.windowMs ?? 0);
}

/** How long a checked session may be cached: never past the time when the next use must be written. */
export function trustMs(lastActivity: number, now: number): number {
  return Math.max(0, Math.min(sessionTrustMs, lastActivity + activityWriteMs - now));
}
