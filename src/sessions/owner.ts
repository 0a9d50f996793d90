import type { Principal } from "../auth/principal.ts";
import type { Services } from "../services.ts";
import type { SessionOwner } from "./contract.ts";

/** Whom a session of this caller belongs to. */
export function ownerOf(principal: Principal): SessionOwner {
  return principal.anonymous ? "anonymous" : { subject: principal.subject };
}

/** The object with the caller's streams. Those without a token have nothing in common but each its session. */
export function streamsOf(services: Services, principal: Principal, sessionId: string) {
  if (principal.anonymous) return services.streams(`session ${sessionId}`);
  return streamsOfSubject(services, principal.subject);
}

/** All streams of someone with a token, in a session or not: they are counted together. */
export function streamsOfSubject(services: Services, subject: string) {
  return services.streams(`subject ${subject}`);
}

/** A session that is over takes its streams along. */
export async function endStreams(
  services: Services,
  principal: Principal,
  session: { id: string; held: readonly string[] },
): Promise<void> {
  if (!session.held.includes("notifications")) return;
  await streamsOf(services, principal, session.id).endSession(session.id);
}
