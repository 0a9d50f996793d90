import type { Principal } from "../auth/principal.ts";

export const maxStreams = 4;

/** The object with the caller's streams. Those without a token have nothing in common but each its session. */
export function streamsOf<S>(services: { streams(subject: string): S }, principal: Principal, sessionId: string): S {
  if (principal.anonymous) return services.streams(`session ${sessionId}`);
  return streamsOfSubject(services, principal.subject);
}

/** All streams of someone with a token, in a session or not: they are counted together. */
export function streamsOfSubject<S>(services: { streams(subject: string): S }, subject: string): S {
  return services.streams(`subject ${subject}`);
}
