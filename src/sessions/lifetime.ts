import type { SessionRecord } from "./contract.ts";
/** A session is expired when nothing used it for longer than this. */
export const sessionIdleMs = 3_600_000;

/** A use within this of the last one is not written down. */
export const activityWriteMs = 60_000;

/** How long one isolate may trust what the session's object said: the most that an ended session lives elsewhere. */
export const sessionTrustMs = 5_000;

/** How long after it expired a session can be resumed. */
export const resumeWindowMs = 86_400_000;

export function isExpired(lastActivity: number, now: number): boolean {
  return now - lastActivity > sessionIdleMs;
}

/** When nothing of a session is needed any more. */
export function deleteAt({ resume }: Pick<SessionRecord, "resume">, lastActivity: number): number {
  return lastActivity + sessionIdleMs + (resume?.windowMs ?? 0);
}

/** How long an answer of the object may be reused: never past the moment when the next use must be written down. */
export function trustMs(lastActivity: number, now: number): number {
  return Math.max(0, Math.min(sessionTrustMs, lastActivity + activityWriteMs - now));
}
