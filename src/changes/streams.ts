import type { Principal } from "../auth/principal.ts";

export const maxStreams = 4;

/** The object with the caller's streams. Anonymous callers have one per session: they share no subject. */
export function streamsOf<S>(services: { streams(subject: string): S }, principal: Principal, sessionId: string): S {
  if (principal.anonymous) return services.streams(`session ${sessionId}`);
  return streamsOfSubject(services, principal.subject);
}

/** All streams of an authenticated subject, in a session or not: they share one limit. */
export function streamsOfSubject<S>(services: { streams(subject: string): S }, subject: string): S {
  return services.streams(`subject ${subject}`);
}
