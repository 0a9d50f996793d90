/** `rollcall.lock.json`: what was reviewed. Without times and names, so that merges stay clean; git knows who and when. */

export const lockFileName = "rollcall.lock.json";
export const lockFileVersion = 1;

export interface LockedItem {
  digest: string;
  tokens: number;
  /** Rules of `high` flags that were there when it was reviewed; a new one fails. */
  flags?: string[];
}

export interface LockedServer {
  version?: string;
  /** Absent if only some items are pinned. */
  digest?: string;
  partial?: true;
  tokens: number;
  /** Rules of `high` flags about the server's own texts that were there when it was reviewed. */
  flags?: string[];
  /** By kind and name, such as `tool:get_forecast`. */
  capabilities: Record<string, LockedItem>;
}

export interface LockFile {
  lockfileVersion: number;
  /** Address of the one registry that the servers are of. */
  registry: string;
  servers: Record<string, LockedServer>;
  /** The newest entry of each tenant's log, for members: shows that the log was continued and not rewritten. */
  log?: Record<string, { sequence: number; hash: string }>;
}

export class LockFileError extends Error {
  override readonly name = "LockFileError";
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isDigest = (value: unknown) => typeof value === "string" && /^sha256-[0-9a-f]{64}$/.test(value);
const isRules = (value: unknown) =>
  value === undefined || (Array.isArray(value) && value.every((one) => typeof one === "string"));
const isCount = (value: unknown) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

/** Reads a lock file, or throws a LockFileError that says what is wrong and where. */
export function parseLockFile(text: string): LockFile {
  const repair = "Restore it from git, or delete it and run rollcall pin again.";
  let lock: unknown;
  try {
    lock = JSON.parse(text);
  } catch (error) {
    const isConflict = /^<{7} /m.test(text);
    const why = isConflict ? "it has an unresolved merge conflict" : (error as Error).message;
    throw new LockFileError(`The lock file is not JSON: ${why}`, isConflict ? "Resolve the conflict first." : repair);
  }
  const fault = (where: string, what: string) =>
    new LockFileError(`The lock file is damaged: ${where} ${what}`, repair);
  if (!isObject(lock)) throw fault("the document", "is not an object");
  const version = lock.lockfileVersion;
  if (typeof version === "number" && version > lockFileVersion) {
    throw new LockFileError(
      `The lock file has version ${version}; this rollcall reads up to version ${lockFileVersion}`,
      "Update rollcall.",
    );
  }
  if (version !== lockFileVersion) throw fault("lockfileVersion", `is not ${lockFileVersion}`);
  if (typeof lock.registry !== "string" || !/^https?:\/\//.test(lock.registry))
    throw fault("registry", "is not an address");
  if (!isObject(lock.servers)) throw fault("servers", "is not an object");
  for (const [name, server] of Object.entries(lock.servers)) {
    const at = `servers["${name}"]`;
    if (!/^[^/]+\/[^/]+$/.test(name)) throw fault(at, "is not named tenant/name");
    if (!isObject(server) || !isObject(server.capabilities)) throw fault(at, "has no capabilities");
    if (server.partial !== true && !isDigest(server.digest)) throw fault(`${at}.digest`, "is not a digest");
    if (!isRules(server.flags)) throw fault(`${at}.flags`, "is not a list of rules");
    for (const [key, item] of Object.entries(server.capabilities)) {
      const isItem = isObject(item) && isDigest(item.digest) && isCount(item.tokens) && isRules(item.flags);
      if (!isItem || !key.includes(":")) throw fault(`${at}.capabilities["${key}"]`, "is not {digest, tokens}");
    }
  }
  for (const [tenant, head] of Object.entries(isObject(lock.log) ? lock.log : {})) {
    const isHead = isObject(head) && isCount(head.sequence) && typeof head.hash === "string";
    if (!isHead) throw fault(`log["${tenant}"]`, "is not {sequence, hash}");
  }
  return lock as unknown as LockFile;
}

/** The text of a lock file: keys sorted, two spaces, a newline at the end. */
export function formatLockFile(lock: LockFile): string {
  const { lockfileVersion, registry, servers, log } = lock;
  const ordered = Object.entries(sorted(servers)).map(([name, server]) => {
    const { version, digest, partial, tokens, flags, capabilities } = server;
    return [name, { version, digest, partial, tokens, flags, capabilities: sorted(capabilities) }];
  });
  const hasLog = log !== undefined && Object.keys(log).length > 0;
  const members = {
    lockfileVersion,
    registry,
    servers: Object.fromEntries(ordered),
    log: hasLog ? sorted(log) : undefined,
  };
  return `${JSON.stringify(members, null, 2)}\n`;
}

function sorted<T>(members: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(members).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}

/** Line in which a server, or an item of it, stands in the text of a lock file; 1 if it is not there. */
export function lineInLockFile(text: string, server: string, item?: string): number {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.trimStart().startsWith(`${JSON.stringify(server)}: {`));
  if (start === -1) return 1;
  if (item === undefined) return start + 1;
  const offset = lines.slice(start).findIndex((line) => line.trimStart().startsWith(`${JSON.stringify(item)}: {`));
  return offset === -1 ? start + 1 : start + offset + 1;
}
