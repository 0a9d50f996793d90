import type { SessionObject } from "./session-object.ts";

/** The verbs of a session, as its callers see them. */
export type SessionStub = Pick<SessionObject, "open" | "use" | "end" | "surrender">;

/** A session that no one has the id of yet. */
export function newSession(env: Pick<Env, "SESSIONS">): { id: string; session: SessionStub } {
  const id = env.SESSIONS.newUniqueId();
  return { id: id.toString(), session: env.SESSIONS.get(id) as unknown as SessionStub };
}

/**
 * The object of a session id. The platform signs the ids it makes, so one that was made up is undefined here and wakes
 * nothing.
 */
export function sessionOf(env: Pick<Env, "SESSIONS">, id: string): SessionStub | undefined {
  if (!/^[0-9a-f]{64}$/.test(id)) return undefined;
  try {
    return env.SESSIONS.get(env.SESSIONS.idFromString(id)) as unknown as SessionStub;
  } catch {
    return undefined;
  }
}
