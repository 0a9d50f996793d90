import type { TenantKey } from "../kernel/names.ts";
import { countedStub } from "../kernel/platform/counted-bindings.ts";
import type { Usage } from "../kernel/platform/usage.ts";
import type { SessionLeases, SessionStub } from "../sessions/contract.ts";
import type { Directory, StreamRpc, Tenant } from "./contract.ts";

/** There is one directory per deployment. */
export function directoryOf(env: Pick<Env, "DIRECTORY">, operations: Usage): Directory {
  const stub = env.DIRECTORY.get(env.DIRECTORY.idFromName("directory"));
  return countedStub(stub, operations) as unknown as Directory;
}

/** A session object with a new id. */
export function newSession(env: Pick<Env, "SESSIONS">, operations: Usage): { id: string; session: SessionStub } {
  const id = env.SESSIONS.newUniqueId();
  return { id: id.toString(), session: stubOf(env, id, operations) };
}

/**
 * The object of a session id. The platform signs the ids it creates, so a forged id returns undefined and wakes no
 * object.
 */
export function sessionOf(env: Pick<Env, "SESSIONS">, id: string, operations: Usage): SessionStub | undefined {
  if (!/^[0-9a-f]{64}$/.test(id)) return undefined;
  try {
    return stubOf(env, env.SESSIONS.idFromString(id), operations);
  } catch {
    return undefined;
  }
}

function stubOf(env: Pick<Env, "SESSIONS">, id: DurableObjectId, operations: Usage): SessionStub {
  return countedStub(env.SESSIONS.get(id), operations) as unknown as SessionStub;
}

/** The object that counts sessions of callers without a token. Its id is no session's: it has no record. */
export function sessionLeases(env: Pick<Env, "SESSIONS">, operations: Usage): SessionLeases {
  const id = env.SESSIONS.idFromName("leases of anonymous sessions");
  return countedStub(env.SESSIONS.get(id), operations) as unknown as SessionLeases;
}

/** An id for a hook. The platform signs it, so that a made-up one is known without asking its tenant's object. */
export function newHookId(env: Pick<Env, "TENANTS">): string {
  return env.TENANTS.newUniqueId().toString();
}

/** True if the platform made the id for this deployment. */
export function isIssuedId(env: Pick<Env, "TENANTS">, id: string): boolean {
  if (!/^[0-9a-f]{64}$/.test(id)) return false;
  try {
    env.TENANTS.idFromString(id);
    return true;
  } catch {
    return false;
  }
}

/** All streams of a caller live in one object, where they can be counted. */
export function streamOf(env: Pick<Env, "STREAMS">, subject: string, operations: Usage): StreamRpc {
  return countedStub(env.STREAMS.get(env.STREAMS.idFromName(subject)), operations) as unknown as StreamRpc;
}

/** The stream object that registered as a watcher, by the id it gave. */
export function watcherOf(env: Pick<Env, "STREAMS">, id: string, operations: Usage): StreamRpc {
  return countedStub(env.STREAMS.get(env.STREAMS.idFromString(id)), operations) as unknown as StreamRpc;
}

/** The object of a tenant. A call for an unknown tenant wakes an object that stores nothing. */
export function tenantOf(env: Pick<Env, "TENANTS">, key: TenantKey, operations: Usage): Tenant {
  return countedStub(env.TENANTS.get(env.TENANTS.idFromName(key)), operations) as unknown as Tenant;
}
