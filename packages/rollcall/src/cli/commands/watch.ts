import { type ChangesOptions, changes } from "../../client/changes.ts";
import { whoami } from "../../client/write.ts";
import type { Context } from "../context.ts";
import { CliError, exitCodes, UsageError } from "../failure.ts";
import { span } from "../terminal/layout.ts";
import { printable } from "../terminal/printable.ts";
import { changeClasses, classMark } from "./changes-text.ts";
import { oneOf, wholeNumber } from "./search.ts";

interface WatchFlags {
  class?: string[];
  since?: string;
}

export async function watch(context: Context, args: string[], flags: WatchFlags): Promise<void> {
  for (const one of flags.class ?? []) oneOf("--class", one, changeClasses);
  const servers = args.filter((one) => one.includes("/")).map((one) => context.server(one));
  const named = args.filter((one) => !one.includes("/"));
  const connection = context.connection();
  const who = await whoami(connection, context.signal).catch((error: unknown) => {
    throw context.signInError(error);
  });
  if (who.subject === null) {
    throw new CliError("Watching needs a token: a log is for its tenant", {
      exitCode: exitCodes.signIn,
      hint: "Sign in with rollcall login.",
    });
  }
  const tenants = new Set([...named, ...servers.map((server) => server.split("/")[0] ?? "")]);
  if (tenants.size === 0)
    for (const tenant of context.flags.tenant === undefined ? who.tenants : [context.flags.tenant]) tenants.add(tenant);
  if (tenants.size === 0) throw new UsageError("Name a tenant to watch");
  const since = wholeNumber("--since", flags.since, Number.MAX_SAFE_INTEGER);
  if (since !== undefined && tenants.size > 1) throw new UsageError("--since is for one tenant");

  const controller = new AbortController();
  const stop = () => controller.abort(context.signal.reason);
  context.signal.addEventListener("abort", stop, { once: true });
  const timers = untilExpiry(context, who.expiresAt, (error) => controller.abort(error));
  const { bold, dim } = context.out.colours;
  context.out.note(`Watching ${[...tenants].join(", ")}; ^C ends it.`);
  const follow = async (tenant: string) => {
    const options: ChangesOptions = {
      ...{ since, verify: true, signal: controller.signal },
      onReconnect: (error, ms) => context.out.note(dim(`${(error as Error).message}; again in ${span(ms / 1_000)}`)),
    };
    for await (const change of changes(connection, tenant, options)) {
      const server = `${tenant}/${change.server}`;
      if (servers.length > 0 && !servers.some((one) => one.toLowerCase() === server.toLowerCase())) continue;
      if (flags.class !== undefined && !flags.class.includes(change.classification)) continue;
      context.out.jsonLine({ tenant, ...change });
      const why = change.reasons[0];
      const reason = why === undefined ? "" : `${why.path} ${why.message}`.trim();
      const what = change.kind === "server" ? "server" : `${change.kind} ${bold(printable(change.name))}`;
      const time = new Date(change.at).toTimeString().slice(0, 8);
      context.out.print(
        `${dim(time)}  ${printable(server)}  ${what}  ${classMark(context, change.classification, change.classification)}  ${printable(reason)}`.trimEnd(),
      );
    }
  };
  try {
    await Promise.all([...tenants].map(follow));
    controller.signal.throwIfAborted();
  } catch (error) {
    throw context.signInError(error);
  } finally {
    for (const timer of timers) clearTimeout(timer);
    controller.abort();
  }
}

const warningSeconds = 300;

/** A warning five minutes before the token ends, and the end itself. */
function untilExpiry(context: Context, expiresAt: string | null, end: (error: Error) => void): NodeJS.Timeout[] {
  if (expiresAt === null) return [];
  const left = (Date.parse(expiresAt) - Date.now()) / 1_000;
  const warn = () =>
    context.out.warn(`The token ends in ${span(Math.min(left, warningSeconds))}; sign in again with rollcall login.`);
  const over = () =>
    end(
      new CliError("The token has ended", { exitCode: exitCodes.signIn, hint: "Sign in again with rollcall login." }),
    );
  if (left <= warningSeconds) warn();
  const longest = 2 ** 31 - 1;
  const after = (seconds: number, then: () => void) =>
    setTimeout(then, Math.min(longest, Math.max(0, seconds * 1_000)));
  return [after(left, over), ...(left > warningSeconds ? [after(left - warningSeconds, warn)] : [])];
}
