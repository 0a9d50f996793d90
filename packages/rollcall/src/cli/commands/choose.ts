import { dataOf, segment } from "../../client/connection.ts";
import { isRollcallError } from "../../client/errors.ts";
import { negotiate as settle } from "../../client/session.ts";
import type { components } from "../../client/types.ts";
import { lockFileName } from "../../lock/lock-file.ts";
import { pinsOf } from "../../lock/pin.ts";
import { type Context, readLock } from "../context.ts";
import { CliError, UsageError } from "../failure.ts";
import { grouped, table } from "../terminal/layout.ts";
import { printable, printableLines } from "../terminal/printable.ts";
import { includeOf, leftOutLines, modelApis, oneOf, wholeNumber } from "./search.ts";

interface NegotiateFlags {
  task?: string;
  budget?: string;
  must?: string[];
  pins?: boolean;
  for?: string;
  include?: string;
}

export async function negotiate(
  context: Context,
  _args: string[],
  flags: NegotiateFlags & { tenants: string[] },
): Promise<void> {
  const connection = context.connection();
  const lock = flags.pins ? readLock()?.lock : undefined;
  if (flags.pins && lock === undefined)
    throw new UsageError(`There is no ${lockFileName} to take pins from`, {
      hint: "rollcall pin acme/weather writes it.",
    });
  const mustHave = flags.must?.map((text) => {
    const at = text.lastIndexOf("@");
    return at > 0 ? { id: text.slice(0, at), version: text.slice(at + 1) } : { id: text };
  });
  const session = await settle(connection, {
    task: flags.task,
    budget: wholeNumber("--budget", flags.budget) ?? 2_000,
    mustHave,
    pins: lock === undefined ? undefined : await pinsOf(connection, lock),
    tenants: flags.tenants.length > 0 ? flags.tenants : undefined,
    include: includeOf(flags.include),
    for: oneOf("--for", flags.for, modelApis) as "mcp" | undefined,
    capabilities: ["sampling"],
    client: { name: "rollcall-cli", version: "1" },
    signal: context.signal,
  }).catch((error: unknown) => {
    if (isRollcallError(error) && error.status === 409) {
      throw new CliError(`The negotiation failed: ${error.message}`, {
        code: error.code,
        details: error.details,
        hint: error.hint,
      });
    }
    throw context.signInError(error);
  });
  await session.end().catch(() => {});
  const answer = session.negotiation.extensions["dev.rollcall/context"] as components["schemas"]["ContextAnswer"];
  context.out.json(answer);
  const { bold, dim, yellow, red } = context.out.colours;
  const left = leftOutLines({ leftOut: session.leftOut, moreLeftOut: answer?.more_left_out });
  const changed = session.changed.map(
    ({ id, classification }) => `changed   ${printable(id)}  ${printable(classification)}: not what was reviewed`,
  );
  if (answer?.definitions !== undefined) {
    // Definitions are JSON either way: they are pasted into a request.
    context.out.printJson(answer.definitions);
    context.out.note(...left, ...changed, ...leftOutLines({ leftOut: answer.leftOut }));
    return;
  }
  const rows = session.items.map((item) => [
    `${printable(item.tenant)}/${printable(item.server)}`,
    bold(printable(item.name)),
    grouped(item.tokens),
    item.why,
    printable((item as { description?: string }).description ?? ""),
  ]);
  context.out.print(...table(rows, { right: [2], columns: context.out.columns }));
  context.out.print(...left.map(yellow), ...changed.map(red));
  context.out.print(
    dim(
      `${session.items.length} chosen, ${grouped(answer?.used_tokens ?? 0)} of ${grouped(answer?.budget ?? 0)} tokens`,
    ),
  );
}

interface IndexFlags {
  task?: string;
  budget?: string;
}

/** The text alone: it is made to be pasted into a prompt. */
export async function index(context: Context, [place = "", variant]: string[], flags: IndexFlags): Promise<void> {
  const parts = place.split("/").map(segment).join("/");
  const connection = context.connection();
  const fail = (error: unknown): never => {
    throw context.signInError(error);
  };
  if (flags.budget !== undefined || flags.task !== undefined) {
    if (place.includes("/"))
      throw new UsageError("A budget is for a whole tenant", { hint: "rollcall index TENANT --task TEXT --budget N" });
    const body = { task: flags.task, budget: wholeNumber("--budget", flags.budget) ?? 1_000 };
    const response = await connection
      .send("POST", `/api/index/${parts}/budget`, { body, signal: context.signal })
      .catch(fail);
    const data = await dataOf<components["schemas"]["BudgetIndex"]>(response);
    context.out.json(data);
    context.out.print(printableLines(data.index.trimEnd()));
    return;
  }
  const wanted = oneOf("VARIANT", variant ?? "summary", ["summary", "full", "stats"]);
  const response = await connection
    .send("GET", `/api/index/${parts}/${wanted}`, { signal: context.signal })
    .catch(fail);
  const text = (await response.text()).trimEnd();
  context.out.json(wanted === "stats" ? JSON.parse(text) : { index: text });
  context.out.print(printableLines(text));
}
