import { checkLink } from "../client/chain.ts";
import { changePage } from "../client/changes.ts";
import type { Connection } from "../client/connection.ts";
import { isRollcallError } from "../client/errors.ts";
import { diff, type RevisionDiff } from "../client/read.ts";
import { type CompareOptions, compareServer, type Finding } from "./compare.ts";
import { type CurrentServer, currentServer } from "./current.ts";
import type { LockedServer, LockFile } from "./lock-file.ts";

export interface VerifyOptions extends Pick<CompareOptions, "allow" | "strict"> {
  /** Only these servers of the lock file; all if absent. */
  servers?: readonly string[];
  /** Hashes the received content itself instead of believing the registry's digests. */
  recompute?: boolean;
  signal?: AbortSignal;
}

export interface ServerVerdict {
  server: string;
  ok: boolean;
  /** Digest in the lock file; null if only some items are pinned. */
  locked: string | null;
  /** Digest now; null if the server is gone. */
  current: string | null;
  /** Items in the lock file. */
  items: number;
  findings: Finding[];
}

export interface Verdict {
  ok: boolean;
  registry: string;
  servers: ServerVerdict[];
}

/** Compares a lock file with its registry. Throws a RollcallError if the registry cannot be asked. */
export async function verifyLock(
  connection: Connection,
  lock: LockFile,
  options: VerifyOptions = {},
): Promise<Verdict> {
  const names = options.servers ?? Object.keys(lock.servers);
  const servers: ServerVerdict[] = [];
  for (const server of names) {
    const locked = lock.servers[server];
    if (locked !== undefined) servers.push(await verifyServer(connection, server, locked, options));
  }
  const rewritten = await verifyLogs(connection, lock, names, options.signal);
  for (const [tenant, finding] of rewritten) {
    const first = servers.find(({ server }) => server.split("/")[0] === tenant);
    if (first === undefined) continue;
    first.findings.push(finding);
    first.ok = false;
  }
  return { ok: servers.every(({ ok }) => ok), registry: lock.registry, servers };
}

async function verifyServer(
  connection: Connection,
  server: string,
  locked: LockedServer,
  options: VerifyOptions,
): Promise<ServerVerdict> {
  const { recompute, signal } = options;
  let current: CurrentServer;
  try {
    current = await currentServer(connection, server, { recompute, signal });
  } catch (error) {
    if (!isRollcallError(error) || error.status !== 404) throw error;
    const why = "The registry has no such server, or no longer shows it to you";
    const gone: Finding = {
      item: "server",
      finding: "gone",
      class: "removed",
      level: "fail",
      from: locked.digest,
      reasons: [why],
    };
    return verdict(server, locked, null, [gone]);
  }
  // Without it the server's own texts cannot be compared.
  if (locked.digest !== undefined && current.digest === undefined) current.mismatches.push("server");
  const isSame = locked.digest !== undefined && locked.digest === current.digest;
  const explanation = isSame ? undefined : await reasons(connection, server, locked, current, signal);
  return verdict(
    server,
    locked,
    current.digest ?? null,
    compareServer(locked, current, { ...options, diff: explanation }),
  );
}

export function verdict(
  server: string,
  locked: LockedServer,
  current: string | null,
  findings: Finding[],
): ServerVerdict {
  const ok = findings.every(({ level }) => level !== "fail");
  const items = Object.keys(locked.capabilities).length;
  return { server, ok, locked: locked.digest ?? null, current, items, findings };
}

/** Why it differs, for members and as long as the registry keeps the locked revision. */
async function reasons(
  connection: Connection,
  server: string,
  { digest }: LockedServer,
  current: CurrentServer,
  signal?: AbortSignal,
): Promise<RevisionDiff | undefined> {
  if (digest === undefined || current.digest === undefined) return undefined;
  const to = current.digest;
  for (const items of [true, false]) {
    try {
      return await diff(connection, server, digest, { to, items, signal });
    } catch (error) {
      // An older registry does not know `include=items`.
      const isRefused = isRollcallError(error) && error.status >= 400 && error.status < 500;
      if (!isRefused) throw error;
    }
  }
  return undefined;
}

/** Whether the logs that were seen are the ones that went on. */
async function verifyLogs(
  connection: Connection,
  { log = {} }: LockFile,
  servers: readonly string[],
  signal?: AbortSignal,
): Promise<Map<string, Finding>> {
  const findings = new Map<string, Finding>();
  for (const [tenant, { sequence, hash }] of Object.entries(log)) {
    if (sequence === 0 || !servers.some((server) => server.split("/")[0] === tenant)) continue;
    try {
      const page = await changePage(connection, tenant, { since: sequence - 1, limit: 1, signal });
      const [entry] = page.items;
      // Pruned since: there is nothing left to compare with.
      if (entry !== undefined && entry.sequence > sequence) continue;
      const isSame = entry !== undefined && entry.sequence === sequence && entry.hash === hash;
      if (isSame) await checkLink(entry, undefined);
      else findings.set(tenant, rewritten(hash, entry?.hash));
    } catch (error) {
      if (isRollcallError(error, "ErrorChainBroken")) findings.set(tenant, rewritten(hash, undefined));
      // Members only. A log that has not reached the number is a shorter one than was seen.
      else if (isRollcallError(error) && error.status === 400) findings.set(tenant, rewritten(hash, undefined));
      else if (!isRollcallError(error) || ![401, 403].includes(error.status)) throw error;
    }
  }
  return findings;
}

function rewritten(from: string, to: string | undefined): Finding {
  const why = "The tenant's log is not the one that was seen when the lock file was written";
  return { item: "server", finding: "rewritten-log", level: "fail", from, to, reasons: [why] };
}
