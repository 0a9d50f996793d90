import type { Principal } from "../auth/principal.ts";
import { streamsOf } from "../changes/streams.ts";
import type { SessionOwner } from "./contract.ts";
import type { SessionsDeps } from "./deps.ts";

/** The owner of this caller's sessions. */
export function ownerOf(principal: Principal): SessionOwner {
  return principal.anonymous ? "anonymous" : { subject: principal.subject };
}

/** Ends the streams of a session that has ended. */
export async function endStreams(
  services: SessionsDeps,
  principal: Principal,
  session: { id: string; held: readonly string[] },
): Promise<void> {
  if (!session.held.includes("notifications")) return;
  await streamsOf(services, principal, session.id).endSession(session.id);
}
