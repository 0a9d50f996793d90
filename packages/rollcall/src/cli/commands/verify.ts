import { isRollcallError } from "../../client/errors.ts";
import { revision } from "../../client/read.ts";
import { compareServer } from "../../lock/compare.ts";
import { type CurrentServer, itemsOfManifest } from "../../lock/current.ts";
import { type LockFile, lockFileName } from "../../lock/lock-file.ts";
import { type ServerVerdict, type Verdict, verdict, verifyLock } from "../../lock/verify.ts";
import { type Context, readLock } from "../context.ts";
import { CliError, exitCodeOf, exitCodes, FoundError, UsageError } from "../failure.ts";
import { readCommand, readUrl } from "../reader/read-server.ts";
import { sameRegistry } from "../settings/profiles.ts";
import { plural } from "../terminal/layout.ts";
import { oneOf } from "./search.ts";
import { annotations, printVerdict, writeStepSummary } from "./verify-text.ts";

interface VerifyFlags {
  allow?: string;
  strict?: boolean;
  recompute?: boolean;
  format?: string;
  lock?: string;
  offlineOk?: boolean;
  command?: string[];
}

const classes = ["cosmetic", "additive", "breaking", "removed"];

export async function verify(context: Context, args: string[], flags: VerifyFlags): Promise<void> {
  oneOf("--format", flags.format, ["text", "json", "github"]);
  const allow = flags.allow?.split(",").map((one) => oneOf("--allow", one.trim(), classes) ?? "") ?? [];
  const path = flags.lock ?? lockFileName;
  const found = readLock(path);
  if (found === undefined)
    throw new UsageError(`There is no ${path}`, { hint: "Pin what you reviewed first: rollcall pin acme/weather" });
  const { lock, text } = found;
  const url = args.find((one) => /^https?:\/\//.test(one));
  const servers = args.filter((one) => one !== url).map((one) => context.server(one));
  const unknown = servers.find((server) => !Object.hasOwn(lock.servers, server));
  if (unknown !== undefined) {
    throw new UsageError(`${unknown} is not in ${path}`, {
      hint: `It has: ${Object.keys(lock.servers).join(", ") || "nothing"}`,
    });
  }
  const command = flags.command ?? [];
  const options = { allow, strict: flags.strict === true };
  let result: Verdict;
  if (url !== undefined || command.length > 0) {
    const [server, ...others] = servers.length > 0 ? servers : Object.keys(lock.servers);
    if (server === undefined || others.length > 0)
      throw new UsageError("Name the one server that is running", { hint: "rollcall verify acme/weather -- COMMAND" });
    const verdicts = [await verifyRunning(context, lock, server, { url, command, ...options })];
    result = { ok: verdicts.every(({ ok }) => ok), registry: lock.registry, servers: verdicts };
  } else {
    result = await verifyRegistry(context, lock, path, {
      ...options,
      servers: servers.length > 0 ? servers : undefined,
      recompute: flags.recompute,
      offlineOk: flags.offlineOk,
    });
  }
  show(context, result, { path, text }, flags.format);
  if (result.ok) return;
  const differing = result.servers.filter(({ ok }) => !ok).length;
  throw new FoundError(
    `${plural(differing, "server")} of ${path} ${differing === 1 ? "is" : "are"} not what was reviewed`,
  );
}

interface RegistryOptions {
  allow: string[];
  strict: boolean;
  servers?: string[];
  recompute?: boolean;
  offlineOk?: boolean;
}

async function verifyRegistry(
  context: Context,
  lock: LockFile,
  path: string,
  options: RegistryOptions,
): Promise<Verdict> {
  const target = context.target({ lock });
  if (!sameRegistry(target.url, lock.registry)) {
    throw new UsageError(`${path} is of another registry: ${lock.registry}, not ${target.url} (${target.from})`, {
      hint: "Verify it against its own registry, or name its file with --lock.",
      code: "ErrorLockFile",
    });
  }
  const { allow, strict, servers, recompute } = options;
  try {
    return await context.during(`Verifying ${path}`, () =>
      verifyLock(context.connection({ lock }), lock, { allow, strict, servers, recompute, signal: context.signal }),
    );
  } catch (error) {
    if (!isRollcallError(error)) throw error;
    if (exitCodeOf(error) !== exitCodes.unreachable || !options.offlineOk) throw context.signInError(error);
    context.out.warn(`Not verified: ${error.message}`);
    return { ok: true, registry: lock.registry, servers: [] };
  }
}

interface RunningOptions {
  url: string | undefined;
  command: string[];
  allow: string[];
  strict: boolean;
}

/** The running server against the lock file. The registry is asked for words alone, and need not answer. */
async function verifyRunning(
  context: Context,
  lock: LockFile,
  server: string,
  options: RunningOptions,
): Promise<ServerVerdict> {
  const { url, command, allow, strict } = options;
  const locked = lock.servers[server];
  if (locked === undefined) throw new CliError(`${server} is not pinned`);
  const reading = await context.during(`Reading ${url ?? command.join(" ")}`, (say) => {
    const how = { timeoutMs: context.timeoutMs, signal: context.signal, say };
    return url === undefined ? readCommand(command, how) : readUrl(url, how);
  });
  for (const warning of reading.warnings) context.out.warn(warning);
  // Of the server itself only the items are compared: its other members depend on how it was published.
  const current: CurrentServer = {
    items: await itemsOfManifest(reading.manifest),
    tokens: 0,
    flags: [],
    mismatches: [],
  };
  const findings = compareServer(locked, current, { allow, strict });
  const changed = findings.filter(({ finding }) => finding === "changed");
  if (changed.length > 0 && locked.digest !== undefined) {
    const before = await lockedItems(context, lock, server, locked.digest);
    for (const finding of changed) {
      finding.before = before?.get(finding.item)?.declared;
      finding.after = current.items.get(finding.item)?.declared;
    }
  }
  return verdict(server, locked, null, findings);
}

async function lockedItems(context: Context, lock: LockFile, server: string, digest: string) {
  try {
    const whole = await revision(context.connection({ lock }), server, digest, { signal: context.signal });
    return await itemsOfManifest(whole.manifest);
  } catch {
    return undefined;
  }
}

function show(
  context: Context,
  result: Verdict,
  lock: { path: string; text: string },
  format: string | undefined,
): void {
  const isGithub = format === "github" || (format === undefined && process.env["GITHUB_ACTIONS"] === "true");
  const isJson = format === "json" || context.out.isJson;
  context.out.json(result);
  if (isJson) {
    context.out.printJson(result);
    return;
  }
  printVerdict(context, result, lock.path);
  if (!isGithub) return;
  context.out.print(...annotations(result.servers, lock));
  const summary = process.env["GITHUB_STEP_SUMMARY"];
  if (summary) writeStepSummary(result.servers, summary);
}
