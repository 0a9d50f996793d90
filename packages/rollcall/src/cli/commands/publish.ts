import { serverPath } from "../../client/connection.ts";
import { isRollcallError } from "../../client/errors.ts";
import { read } from "../../client/read.ts";
import { itemsIn } from "../../client/shapes.ts";
import { type PublishResult, publish as send, write } from "../../client/write.ts";
import type { Context } from "../context.ts";
import { CliError, exitCodes, FoundError, UsageError } from "../failure.ts";
import { readCommand, readUrl, type ServerReading } from "../reader/read-server.ts";
import { grouped, plural, short } from "../terminal/layout.ts";
import { printable } from "../terminal/printable.ts";
import { confirm } from "../terminal/prompt.ts";
import { lookAlike, readDocument } from "./document.ts";
import { publishByHook } from "./hook-event.ts";

export interface PublishFlags {
  dryRun?: boolean;
  partial?: boolean;
  visibility?: string;
  asSource?: boolean;
  hook?: boolean;
  failOn?: string;
  ifMatch?: string;
  yes?: boolean;
}

/** What is published: a manifest, or its text with a media type. */
interface Offer {
  body: object | string;
  type?: string;
  from: string;
}

/** From the mildest to the worst. */
const classes = ["cosmetic", "additive", "breaking"] as const;
type FailOn = (typeof classes)[number] | "flagged";

export async function publish(
  context: Context,
  [name = "", place]: string[],
  flags: PublishFlags & { command?: string[] },
): Promise<void> {
  const server = context.server(name);
  const failOn = checkFlags(place, flags);
  if (flags.asSource) return publishAsSource(context, server, place ?? "", flags);
  const offer = await readOffer(context, server, place, flags.command ?? []);
  const target = flags.hook ? await publishByHook(context, offer) : viaApi(context, server, offer, flags);

  // The same code on the registry's side, up to the commit: what it finds is what publishing would do.
  const preview = await context.during("Checking what would change", () => target.send(true));
  if (failOn !== undefined && isWorse(preview, failOn)) {
    report(context, server, preview, true);
    throw new FoundError(
      `This publish is ${failOn === "flagged" ? "flagged" : `${failOn} or worse`}: nothing was published`,
      {
        hint: "Look at the changes above; publish without --fail-on to take them.",
      },
    );
  }
  if (flags.dryRun) return report(context, server, preview, true);
  if (!flags.hook) await confirmRemoval(context, server, preview, flags.yes === true);
  const result = await context.during(`Publishing ${server}`, () => target.send(false));
  if (flags.visibility !== undefined) await setVisibility(context, server, flags.visibility);
  report(context, server, result, false);
}

function checkFlags(place: string | undefined, flags: PublishFlags & { command?: string[] }): FailOn | undefined {
  const { command = [], failOn, visibility, asSource } = flags;
  if (place !== undefined && command.length > 0)
    throw new UsageError("Name a file, a URL or a command, not two of them");
  if (place === undefined && command.length === 0) {
    throw new UsageError("There is nothing to publish", {
      hint: "Name a file or a URL, or a command after --: rollcall publish acme/weather -- node server.js",
    });
  }
  if (failOn !== undefined && ![...classes, "flagged"].includes(failOn)) {
    throw new UsageError(`--fail-on ${failOn} is none of: ${[...classes, "flagged"].join(", ")}`);
  }
  if (visibility !== undefined && !["tenant", "public"].includes(visibility)) {
    throw new UsageError(`--visibility ${visibility} is none of: tenant, public`);
  }
  if (asSource && !/^https?:\/\//.test(place ?? "")) throw new UsageError("--as-source needs the URL of an MCP server");
  return failOn as FailOn | undefined;
}

async function readOffer(
  context: Context,
  server: string,
  place: string | undefined,
  command: string[],
): Promise<Offer> {
  if (command.length > 0) return running(context, command.join(" "), (options) => readCommand(command, options));
  if (place !== undefined && /^https?:\/\//.test(place))
    return running(context, place, (options) => readUrl(place, options));
  const document = readDocument(place ?? "");
  const other = lookAlike(document);
  if (other !== undefined) {
    const hint = `${other.instead.replaceAll("T/NAME", server)}`;
    throw new UsageError(`${document.path} looks like ${other.what}, not like a manifest`, {
      hint,
      code: "ErrorNotManifest",
    });
  }
  return { body: document.text, type: document.type, from: document.path };
}

type ReadingOptions = Parameters<typeof readCommand>[1];

async function running(
  context: Context,
  from: string,
  read: (options: ReadingOptions) => Promise<ServerReading>,
): Promise<Offer> {
  const reading = await context.during(`Reading ${from}`, (say) =>
    read({ timeoutMs: context.timeoutMs, signal: context.signal, say }),
  );
  const counts = Object.entries(reading.counts).filter(([, count]) => count > 0);
  const said = counts.map(([section, count]) =>
    plural(
      count,
      section.replace(/s$/, "").replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`),
    ),
  );
  context.out.note(
    `Read ${said.join(", ") || "nothing"} from ${printable(from)} (${reading.seconds.toFixed(1)} s, MCP ${printable(reading.protocolVersion)})`,
  );
  for (const warning of reading.warnings) context.out.warn(printable(warning));
  return { body: reading.manifest, from };
}

export interface Target {
  send(dryRun: boolean): Promise<PublishResult>;
}

function viaApi(
  context: Context,
  server: string,
  { body, type, from }: Offer,
  { partial, ifMatch }: PublishFlags,
): Target {
  return {
    send: (dryRun) =>
      send(context.connection(), server, body, {
        ...{ type, dryRun: dryRun || undefined, partial: partial || undefined, signal: context.signal },
        ifMatch: ifMatch === undefined ? undefined : /^[*"W]/.test(ifMatch) ? ifMatch : `"${ifMatch}"`,
      }).catch((error: unknown) => {
        if (isRollcallError(error) && error.status === 412) {
          throw new CliError(`${server} changed since ${ifMatch}: nothing was published`, {
            hint: `See rollcall diff ${server}; publish without --if-match to take yours.`,
            code: error.code,
          });
        }
        if (isRollcallError(error) && error.status === 422) throw named(error, from);
        throw context.signInError(error);
      }),
  };
}

function named(error: unknown, where: string): unknown {
  if (!isRollcallError(error)) return error;
  const { issues = [] } = (error.details ?? {}) as { issues?: { path: string; message: string }[] };
  return new CliError(`${error.message}: nothing was published`, {
    where,
    code: error.code,
    details: error.details,
    lines: issues.map(({ path, message }) => `${path} ${message}`.trim()),
    hint: "Correct these items, or publish the others with --partial.",
  });
}

function isWorse({ changes, flags = [], header }: PublishResult, failOn: FailOn): boolean {
  if (failOn === "flagged") return flags.some(({ severity }) => severity === "high");
  const counted = classes.slice(classes.indexOf(failOn));
  if (counted.includes("breaking") && changes.removed > 0) return true;
  return counted.some((one) => changes[one] > 0 || header === one) || header === "removed";
}

/** A publish that takes away more than half of a server is more often a mistake than meant. */
async function confirmRemoval(
  context: Context,
  server: string,
  { changes }: PublishResult,
  yes: boolean,
): Promise<void> {
  if (changes.removed === 0 || yes) return;
  const before = itemsIn(await read(context.connection(), server, { signal: context.signal })).length;
  if (changes.removed * 2 <= before) return;
  await confirm(`This removes ${changes.removed} of ${before} items of ${server}. Publish it?`, { yes });
}

async function setVisibility(context: Context, server: string, visibility: string): Promise<void> {
  const { tenant, path } = serverPath(server);
  await write(context.connection(), tenant, "PATCH", `/api/mcp/configs/${path}`, { body: { visibility } });
}

/** The registry reads the server itself, now and whenever it is due. */
async function publishAsSource(
  context: Context,
  server: string,
  url: string,
  { visibility, dryRun }: PublishFlags,
): Promise<void> {
  if (dryRun) throw new UsageError("--as-source has no dry run: the registry reads the server when it is registered");
  const { tenant, name, path } = serverPath(server);
  const connection = context.connection();
  const body = { tenant, name, visibility, sources: [{ type: "streamable-http", url }] };
  await write(connection, tenant, "POST", "/api/mcp/configs", { body }).catch(async (error: unknown) => {
    if (!isRollcallError(error) || error.status !== 409) throw context.signInError(error);
    const { name: _name, tenant: _tenant, ...change } = body;
    await write(connection, tenant, "PATCH", `/api/mcp/configs/${path}`, { body: change });
  });
  const result = await context.during(`The registry reads ${url}`, () =>
    write<{ outcome: string; digest?: string; generation: number; failures: { message: string }[] }>(
      connection,
      tenant,
      "POST",
      `/api/mcp/capabilities/${path}/refresh`,
    ),
  );
  context.out.json({ server, ...result });
  if (result.outcome === "failed") {
    throw new CliError(`The registry could not read ${url}`, {
      lines: result.failures.map(({ message }) => message),
      hint: "The server is registered; the registry tries again. Is the address reachable from there?",
      exitCode: exitCodes.unreachable,
    });
  }
  context.out.print(`The registry reads ${server} from ${url}: ${result.outcome}, generation ${result.generation}`);
}

function report(context: Context, server: string, result: PublishResult, isDry: boolean): void {
  const { changes, flags = [], rejected = [], warnings = [], generation, digest, kept = [] } = result;
  const extra = result as { pending?: unknown };
  context.out.json({
    ...{
      server,
      outcome: result.outcome,
      digest,
      generation: generation ?? null,
      changes,
      flags,
      rejected,
      warnings,
      kept,
    },
    ...{ cost: result.cost ?? null, dryRun: isDry, pending: extra.pending ?? null },
  });
  if (context.out.isJson) return;
  const { bold, dim, green, yellow, red } = context.out.colours;
  const words = { created: "Published", changed: "Published", unchanged: "Unchanged:" }[result.outcome] ?? "Published";
  const cost = result.cost === undefined ? "" : `  ${grouped(result.cost.after)} tokens`;
  const state = isDry ? yellow("dry run") : generation === undefined ? "" : `generation ${generation}`;
  context.out.print(
    `${isDry ? `Would be ${result.outcome}:` : words} ${bold(server)}  ${dim(short(digest))}…${cost}  ${state}`,
  );
  if (result.outcome !== "unchanged") {
    const gone = changes.removed > 0 ? `  ${red(`− ${changes.removed} removed`)}` : "";
    const worse = changes.breaking - changes.removed;
    const mark = worse > 0 ? red(`▲ ${worse} breaking`) : `▲ ${Math.max(0, worse)}`;
    context.out.print(
      `${green(`+ ${changes.additive} additive`)}  ${yellow(`~ ${changes.cosmetic} cosmetic`)}  ${mark}${gone}`,
    );
  }
  if (extra.pending) context.out.print(yellow("It waits for review; readers still get the approved revision."));
  for (const { rule, severity, path, message, capability } of flags as ((typeof flags)[number] & {
    capability?: string;
  })[]) {
    const what = severity === "high" ? red("⚑ high") : yellow("⚐ low");
    context.out.print(
      `${what}  ${printable(capability ?? "server")}  ${printable(rule)}  ${printable(path)}  ${printable(message)}`,
    );
  }
  for (const { path, issues } of rejected)
    context.out.warn(`left out ${printable(path)}: ${issues.map(({ message }) => printable(message)).join("; ")}`);
  for (const { kind, name, why } of kept) context.out.note(dim(`kept ${kind} ${printable(name)} (${why})`));
  for (const warning of warnings) context.out.warn(printable(warning));
  if (isDry) context.out.note("Nothing was published.");
  else if (result.outcome === "changed") context.out.note(dim(`See rollcall diff ${server}`));
}
