import { isHigh } from "../../client/shapes.ts";
import { type CurrentServer, currentServer } from "../../lock/current.ts";
import { formatLockFile, type LockFile, lockFileName, lockFileVersion } from "../../lock/lock-file.ts";
import { lockServer, logHead } from "../../lock/pin.ts";
import { verifyLock } from "../../lock/verify.ts";
import { type Context, readLock } from "../context.ts";
import { CliError, UsageError } from "../failure.ts";
import { nearestNames } from "../nearest-names.ts";
import { sameRegistry, writeWhole } from "../settings/profiles.ts";
import { grouped, plural, short } from "../terminal/layout.ts";
import { printable } from "../terminal/printable.ts";
import { confirm } from "../terminal/prompt.ts";
import { withNearest } from "./show.ts";
import { findingLines } from "./verify-text.ts";

interface PinFlags {
  only?: string[];
  update?: boolean;
  lock?: string;
  yes?: boolean;
}

export async function pin(context: Context, names: string[], flags: PinFlags): Promise<void> {
  const path = flags.lock ?? lockFileName;
  const found = readLock(path);
  const servers =
    names.length === 0 && flags.update
      ? Object.keys(found?.lock.servers ?? {})
      : names.map((name) => context.server(name));
  if (servers.length === 0)
    throw new UsageError("Name a server to pin", {
      hint: "rollcall pin acme/weather, or rollcall pin --update for all.",
    });
  if (flags.only && servers.length > 1) throw new UsageError("--only is for one server");
  const connection = context.connection({ lock: found?.lock });
  if (found !== undefined && !sameRegistry(found.lock.registry, connection.url)) {
    throw new UsageError(`${path} is of another registry, ${found.lock.registry}`, {
      hint: `A lock file has one registry. Use --lock OTHER.json for ${connection.url}.`,
      code: "ErrorLockFile",
    });
  }
  const lock: LockFile = found?.lock ?? { lockfileVersion: lockFileVersion, registry: connection.url, servers: {} };
  if (flags.update && found !== undefined) await showWhatChanged(context, lock, servers);

  const next: LockFile = { ...lock, servers: { ...lock.servers }, log: { ...lock.log } };
  for (const server of servers) {
    const isPinned = Object.hasOwn(lock.servers, server);
    if (isPinned && !flags.update) {
      throw new UsageError(`${server} is pinned already`, {
        hint: `Take what is there now with rollcall pin ${server} --update`,
      });
    }
    const current = await withNearest(context, server, () =>
      currentServer(connection, server, { recompute: true, signal: context.signal }),
    );
    if (current.mismatches.length > 0) {
      throw new CliError(
        `${server} cannot be pinned: its content does not hash to the digests that the registry states`,
        {
          lines: current.mismatches,
          hint: "Ask the operator of the registry.",
        },
      );
    }
    await askAboutFlags(context, server, current, flags);
    const only = flags.only === undefined ? undefined : flags.only.map((wanted) => itemKey(server, current, wanted));
    next.servers[server] = lockServer(current, only);
    const tenant = server.split("/")[0] ?? "";
    const head = await logHead(connection, tenant);
    if (head !== undefined && next.log !== undefined) next.log[tenant] = head;
  }
  const text = formatLockFile(next);
  // Another pin, or git, may have written the file while this one asked.
  if (readLock(path)?.text !== found?.text) {
    throw new UsageError(`${path} was changed by someone else meanwhile: nothing was pinned`, {
      hint: "Run it again.",
    });
  }
  try {
    writeWhole(path, text, 0o644);
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${(error as NodeJS.ErrnoException).code}`, {
      hint: "Nothing was pinned.",
    });
  }
  context.out.json({
    lock: path,
    servers: Object.fromEntries(servers.map((server) => [server, next.servers[server]])),
  });
  for (const server of servers) {
    const { capabilities, tokens, digest, version } = next.servers[server] ?? { capabilities: {}, tokens: 0 };
    const { bold, dim, green } = context.out.colours;
    const what = [
      bold(server),
      printable(version ?? ""),
      plural(Object.keys(capabilities).length, "item"),
      `${grouped(tokens)} tokens`,
      dim(digest === undefined ? "partial" : `${short(digest)}…`),
    ];
    context.out.print(`${green("✓")} Pinned ${what.filter((part) => part !== "").join("  ")}`);
  }
  context.out.note(`Commit ${path}; rollcall verify compares it with what is there.`);
}

function itemKey(server: string, { items }: CurrentServer, wanted: string): string {
  const key = [...items.keys()].find((one) => one === wanted || one.slice(one.indexOf(":") + 1) === wanted);
  if (key !== undefined) return key;
  const near = nearestNames(
    wanted,
    [...items.keys()].map((one) => one.slice(one.indexOf(":") + 1)),
  );
  throw new CliError(`${server} has no item "${wanted}"`, {
    hint: near.length > 0 ? `Did you mean ${near.join(", ")}?` : undefined,
  });
}

/** A person decides about text that a model should perhaps not read. */
async function askAboutFlags(
  context: Context,
  server: string,
  current: CurrentServer,
  { yes }: PinFlags,
): Promise<void> {
  const flags = [...current.items].flatMap(([key, item]) =>
    item.flags.filter(isHigh).map((flag) => ({ key, ...flag })),
  );
  const all = [...current.flags.filter(isHigh).map((flag) => ({ key: "server", ...flag })), ...flags];
  if (all.length === 0) return;
  for (const { key, rule, path, message } of all)
    context.out.warn(
      `⚑ high  ${server} ${printable(key)}  ${printable(rule)}  ${printable(path)}  ${printable(message)}`,
    );
  await confirm(`${server} has ${plural(all.length, "high flag")}. Pin it all the same?`, { yes: yes === true });
}

async function showWhatChanged(context: Context, lock: LockFile, servers: readonly string[]): Promise<void> {
  const pinned = servers.filter((server) => Object.hasOwn(lock.servers, server));
  const verdict = await verifyLock(context.connection(), lock, { servers: pinned, signal: context.signal });
  for (const { server, findings } of verdict.servers) {
    if (findings.length === 0) continue;
    context.out.note(`${server}: ${plural(findings.length, "finding")}`);
    for (const finding of findings) context.out.note(...findingLines(context, finding));
  }
}
