import { changePage } from "../client/changes.ts";
import type { Connection } from "../client/connection.ts";
import { isRollcallError } from "../client/errors.ts";
import { type Flag, isHigh } from "../client/shapes.ts";
import { type CurrentServer, currentServer } from "./current.ts";
import type { LockedItem, LockedServer, LockFile } from "./lock-file.ts";

/** A server as the lock file keeps it. With `only`, these items (`tool:name`) and no digest of the whole. */
export function lockServer(current: CurrentServer, only?: readonly string[]): LockedServer {
  const items = [...current.items].filter(([key]) => only === undefined || only.includes(key));
  const capabilities = Object.fromEntries(
    items.map(([key, { digest, tokens, flags }]): [string, LockedItem] => [
      key,
      { digest, tokens, flags: highRules(flags) },
    ]),
  );
  const tokens = items.reduce((sum, [, item]) => sum + item.tokens, 0);
  const { version, digest } = current;
  return only === undefined
    ? { version, digest, tokens, flags: highRules(current.flags), capabilities }
    : { version, partial: true, tokens, capabilities };
}

/** Rules of flags that a reviewer accepts by pinning; undefined if there are none. */
function highRules(flags: readonly Flag[]): string[] | undefined {
  const rules = [...new Set(flags.filter(isHigh).map(({ rule }) => rule))].sort();
  return rules.length > 0 ? rules : undefined;
}

/** The newest entry of a tenant's log; undefined for those who may not read it. */
export async function logHead(
  connection: Connection,
  tenant: string,
): Promise<{ sequence: number; hash: string } | undefined> {
  try {
    const { head } = await changePage(connection, tenant, { limit: 1 });
    return { sequence: head.sequence, hash: head.hash };
  } catch (error) {
    if (isRollcallError(error) && [401, 403, 404].includes(error.status)) return undefined;
    throw error;
  }
}

/** What negotiation takes as pins: ids and digests of everything in a lock file. */
export async function pinsOf(
  connection: Connection,
  lock: LockFile,
  servers: readonly string[] = Object.keys(lock.servers),
): Promise<{ id: string; tenant: string; digest: string }[]> {
  const pins: { id: string; tenant: string; digest: string }[] = [];
  for (const server of servers) {
    const current = await currentServer(connection, server, { fresh: false });
    for (const [key, { digest }] of Object.entries(lock.servers[server]?.capabilities ?? {})) {
      const id = current.items.get(key)?.id;
      if (id !== undefined) pins.push({ id, tenant: server.split("/")[0] ?? "", digest });
    }
  }
  return pins;
}
