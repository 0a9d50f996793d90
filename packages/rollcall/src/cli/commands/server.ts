import { serverPath } from "../../client/connection.ts";
import { read } from "../../client/read.ts";
import { itemsIn } from "../../client/shapes.ts";
import { write } from "../../client/write.ts";
import { keyOf } from "../../lock/current.ts";
import type { Context } from "../context.ts";
import { CliError, exitCodes, UsageError } from "../failure.ts";
import { plural } from "../terminal/layout.ts";
import { confirm } from "../terminal/prompt.ts";
import { oneOf } from "./search.ts";
import { withNearest } from "./show.ts";

interface ServerFlags {
  title?: string;
  description?: string;
  visibility?: string;
  status?: string;
  statusMessage?: string;
  source?: string[];
  yes?: boolean;
}

function configOf(flags: ServerFlags): Record<string, unknown> {
  oneOf("--visibility", flags.visibility, ["tenant", "public"]);
  oneOf("--status", flags.status, ["active", "deprecated", "withdrawn"]);
  const sources = flags.source?.map((url) => ({ type: "streamable-http", url }));
  const { title, description, visibility, status, statusMessage } = flags;
  return { title, description, visibility, status, statusMessage, sources };
}

type Answer = { generation?: number };

async function change(context: Context, server: string, work: () => Promise<Answer>, said: string): Promise<void> {
  const answer = await withNearest(context, server, work);
  context.out.json({ server, ...answer });
  context.out.print(`${said} ${server}${answer.generation === undefined ? "" : `  generation ${answer.generation}`}`);
}

export async function serverCreate(context: Context, [given = ""]: string[], flags: ServerFlags): Promise<void> {
  const server = context.server(given);
  const { tenant, name } = serverPath(server);
  const body = { tenant, name, ...configOf(flags) };
  await change(
    context,
    server,
    () => write<Answer>(context.connection(), tenant, "POST", "/api/mcp/configs", { body }),
    "Created",
  );
}

export async function serverEdit(context: Context, [given = ""]: string[], flags: ServerFlags): Promise<void> {
  const server = context.server(given);
  const { tenant, path } = serverPath(server);
  const body = configOf(flags);
  if (Object.values(body).every((value) => value === undefined))
    throw new UsageError("There is nothing to change", { hint: "rollcall server edit --help lists what can be." });
  await change(
    context,
    server,
    () => write<Answer>(context.connection(), tenant, "PATCH", `/api/mcp/configs/${path}`, { body }),
    "Changed",
  );
}

export async function serverDelete(context: Context, [given = ""]: string[], { yes }: ServerFlags): Promise<void> {
  const server = context.server(given);
  const { tenant, path } = serverPath(server);
  await confirm(`Delete ${server} with its history?`, { yes: yes === true });
  await change(
    context,
    server,
    () => write<Answer>(context.connection(), tenant, "DELETE", `/api/mcp/configs/${path}`),
    "Deleted",
  );
}

interface Refresh extends Answer {
  outcome: string;
  failures: { message: string }[];
}

export async function serverRefresh(context: Context, [given = ""]: string[]): Promise<void> {
  const server = context.server(given);
  const { tenant, path } = serverPath(server);
  const result = await context.during(`The registry reads ${server}`, () =>
    withNearest(context, server, () =>
      write<Refresh>(context.connection(), tenant, "POST", `/api/mcp/capabilities/${path}/refresh`),
    ),
  );
  context.out.json({ server, ...result });
  context.out.print(`Read ${server}: ${result.outcome}  generation ${result.generation}`);
  if (result.outcome === "failed") {
    throw new CliError(`The registry could not read ${server}`, {
      lines: result.failures.map(({ message }) => message),
      exitCode: exitCodes.unreachable,
    });
  }
}

/** Switches an item on or off; all items if none is named. */
export async function serverSwitch(context: Context, [given = "", item]: string[], enabled: boolean): Promise<void> {
  const server = context.server(given);
  const { tenant, path } = serverPath(server);
  await withNearest(context, server, async () => {
    const data = await read(context.connection(), server, { include: ["disabled"], fresh: true });
    const all = itemsIn(data).map(({ kind, item: one }) => ({ kind, key: keyOf(kind, one) }));
    const wanted = all.filter(
      ({ key }) => item === undefined || key === item || key.slice(key.indexOf(":") + 1) === item,
    );
    if (wanted.length === 0)
      throw new CliError(`${server} has no item "${item ?? ""}"`, { hint: `rollcall show ${server} lists them.` });
    const items = wanted.map(({ kind, key }) => ({ kind, name: key.slice(key.indexOf(":") + 1), enabled }));
    const answer = await write<Answer>(context.connection(), tenant, "PATCH", `/api/mcp/capabilities/${path}`, {
      body: { items },
    });
    context.out.json({ server, ...answer });
    context.out.print(
      `${plural(items.length, "item")} of ${server} switched ${enabled ? "on" : "off"}  generation ${answer.generation ?? "–"}`,
    );
  });
}
