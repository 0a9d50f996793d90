import { countedStub } from "../../storage/counted.ts";
import type { Operations } from "../../storage/operations.ts";
import type { SessionObject } from "./session-object.ts";

/** The verbs of a session, as its callers see them. */
export type SessionStub = Pick<SessionObject, "open" | "use" | "end" | "surrender">;

/** A session that no one has the id of yet. */
export function newSession(env: Pick<Env, "SESSIONS">, operations: Operations): { id: string; session: SessionStub } {
  const id = env.SESSIONS.newUniqueId();
  return { id: id.toString(), session: stubOf(env, id, operations) };
}

/**
 * The object of a session id. The platform signs the ids it makes, so one that was made up is undefined here and wakes
 * nothing.
 */
export function sessionOf(env: Pick<Env, "SESSIONS">, id: string, operations: Operations): SessionStub | undefined {
  if (!/^[0-9a-f]{64}$/.test(id)) return undefined;
  try {
    return stubOf(env, env.SESSIONS.idFromString(id), operations);
  } catch {
    return undefined;
  }
}

function stubOf(env: Pick<Env, "SESSIONS">, id: DurableObjectId, operations: Operations): SessionStub {
  return countedStub(env.SESSIONS.get(id), operations) as unknown as SessionStub;
}
