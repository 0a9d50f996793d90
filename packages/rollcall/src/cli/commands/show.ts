import { segment, serverPath } from "../../client/connection.ts";
import { definitions } from "../../client/definitions.ts";
import { isRollcallError } from "../../client/errors.ts";
import { catalog, read, revision } from "../../client/read.ts";
import { factsOf, isHigh } from "../../client/shapes.ts";
import { type CurrentItem, currentServer, itemsOfManifest } from "../../lock/current.ts";
import type { Context } from "../context.ts";
import { CliError, UsageError } from "../failure.ts";
import { nearestNames } from "../nearest-names.ts";
import { grouped, pad, plural, short, table } from "../terminal/layout.ts";
import { printable, printableLines } from "../terminal/printable.ts";
import { resolveDigest } from "./digest.ts";
import { flagLine, stateOf } from "./record-text.ts";
import { modelApis, oneOf } from "./search.ts";

interface ShowFlags {
  costs?: boolean;
  schema?: boolean;
  format?: string;
}

const formats = ["json", "yaml", "rtfs", ...modelApis];

/** Adds the nearest names to an answer that a server does not exist. */
export async function withNearest<T>(context: Context, server: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isRollcallError(error) || error.status !== 404 || error.code === "ErrorRevisionNotFound")
      throw context.signInError(error);
    const { tenant, name } = serverPath(server);
    const names: string[] = [];
    try {
      const page = await catalog(context.connection(), { tenant, limit: 100 });
      names.push(
        ...nearestNames(
          name,
          page.items.map((item) => item.name),
        ).map((one) => `${tenant}/${one}`),
      );
    } catch {}
    const hint =
      names.length > 0 ? `Did you mean ${names.join(", ")}?` : "rollcall list shows which servers there are.";
    throw new CliError(`There is no server ${server}`, { where: context.target().url, hint, code: error.code });
  }
}

export async function show(context: Context, [name = "", wanted]: string[], flags: ShowFlags): Promise<void> {
  const [given = "", at] = name.split("@");
  const server = context.server(given);
  oneOf("--format", flags.format, formats);
  const connection = context.connection();
  await withNearest(context, server, async () => {
    if (at !== undefined) return showRevision(context, server, await resolveDigest(context, server, at), wanted, flags);
    const current = await currentServer(connection, server, { fresh: false, signal: context.signal });
    if (wanted !== undefined) return showItem(context, server, current.items, wanted, flags);
    const data = await read(connection, server, { signal: context.signal });
    if (flags.format !== undefined && flags.format !== "json") {
      throw new UsageError(`--format ${flags.format} is for one item`, {
        hint: `Name it: rollcall show ${server} ITEM --format ${flags.format}`,
      });
    }
    context.out.json(data);
    if (flags.format === "json") return context.out.printJson(data);
    const facts = factsOf(data);
    header(context, server, { ...data, digest: current.digest }, [stateOf(facts)]);
    if (facts.statusMessage) context.out.print(`  ${context.out.colours.yellow(printable(facts.statusMessage))}`);
    if (data.description) context.out.print("", ...indented(data.description));
    items(context, current.items, flags, facts.status);
    for (const flag of current.flags) context.out.print(flagLine(context, flag));
    for (const warning of facts.warnings) context.out.warn(warning);
  });
}

function header(
  context: Context,
  server: string,
  data: { title?: string; version?: string; digest?: string },
  states: string[],
): void {
  const { bold, dim, yellow } = context.out.colours;
  const parts = [
    bold(server),
    printable(data.version ?? ""),
    printable(data.title ?? ""),
    ...states.map((one) => (one === "" ? "" : yellow(one))),
  ];
  context.out.print(parts.filter((part) => part !== "").join("  "));
  if (data.digest) context.out.print(dim(data.digest));
}

function indented(text: string): string[] {
  return printableLines(text)
    .split("\n")
    .map((line) => `  ${line}`);
}

function items(
  context: Context,
  all: ReadonlyMap<string, CurrentItem>,
  { costs }: ShowFlags,
  serverStatus?: string,
): void {
  const { bold, dim, cyan, yellow } = context.out.colours;
  const most = Math.max(1, ...[...all.values()].map(({ tokens }) => tokens));
  const entries = [...all];
  if (costs) entries.sort(([, a], [, b]) => b.tokens - a.tokens);
  const rows = entries.map(([key, item]) => {
    const [kind = "", ...rest] = key.split(":");
    const bar = cyan(pad("▆".repeat(Math.max(1, Math.round((item.tokens / most) * 10))), 10));
    return [
      `  ${dim(kind)}`,
      bold(printable(rest.join(":"))),
      grouped(item.tokens),
      bar,
      printable(item.declared.description ?? ""),
    ];
  });
  const lines = table(rows, { right: [2], columns: context.out.columns });
  context.out.print("");
  entries.forEach(([, { flags, status, statusMessage }], index) => {
    context.out.print(lines[index] ?? "");
    if (status !== undefined && status !== "active" && status !== serverStatus)
      context.out.print(
        `    ${yellow(
          [status, statusMessage ?? ""]
            .filter((part) => part !== "")
            .map(printable)
            .join(": "),
        )}`,
      );
    for (const flag of [...flags].sort((a, b) => Number(isHigh(b)) - Number(isHigh(a))))
      context.out.print(flagLine(context, flag));
  });
  const total = entries.reduce((sum, [, { tokens }]) => sum + tokens, 0);
  context.out.print(dim(`${plural(entries.length, "item")}, ${grouped(total)} tokens in all`));
}

async function showRevision(
  context: Context,
  server: string,
  digest: string,
  wanted: string | undefined,
  flags: ShowFlags,
): Promise<void> {
  const whole = await revision(context.connection(), server, digest, { signal: context.signal });
  const all = await itemsOfManifest(whole.manifest);
  for (const { kind, name, id, registry } of whole.capabilities) {
    const item = all.get(`${kind}:${name}`);
    if (item !== undefined) Object.assign(item, { id, tokens: registry.tokens, flags: registry.flags });
  }
  if (wanted !== undefined) return showItem(context, server, all, wanted, flags);
  context.out.json(whole);
  const when = `revision ${whole.number}, published ${whole.publishedAt} by ${printable(whole.publishedBy)}`;
  header(context, server, { ...(whole.manifest as object), digest }, [when]);
  items(context, all, flags);
}

async function showItem(
  context: Context,
  server: string,
  all: ReadonlyMap<string, CurrentItem>,
  wanted: string,
  flags: ShowFlags,
): Promise<void> {
  const key = [...all.keys()].find((one) => one === wanted || one.slice(one.indexOf(":") + 1) === wanted);
  const item = key === undefined ? undefined : all.get(key);
  if (key === undefined || item === undefined) {
    const near = nearestNames(
      wanted,
      [...all.keys()].map((one) => one.slice(one.indexOf(":") + 1)),
    );
    const hint =
      near.length > 0 ? `Did you mean ${near.map(printable).join(", ")}?` : `rollcall show ${server} lists them.`;
    throw new CliError(`${server} has no item "${wanted}"`, { hint, code: "ErrorCapabilityNotFound" });
  }
  const { declared } = item;
  const { tenant } = serverPath(server);
  const isModelApi = modelApis.includes(flags.format ?? "");
  if (isModelApi && item.id !== undefined) {
    const answer = await definitions(context.connection(), [{ tenant, id: item.id }], { for: flags.format as "mcp" });
    context.out.json(answer.definitions[0] ?? null);
    return context.out.printJson(answer.definitions[0] ?? null);
  }
  if ((flags.format === "yaml" || flags.format === "rtfs") && item.id !== undefined) {
    const path = `/api/capabilities/${segment(tenant)}/${segment(item.id)}`;
    const response = await context.connection().send("GET", path, { query: { format: flags.format } });
    return context.out.print(printableLines((await response.text()).trimEnd()));
  }
  context.out.json({
    server,
    item: key,
    id: item.id,
    digest: item.digest,
    tokens: item.tokens,
    flags: item.flags,
    definition: declared,
  });
  if (flags.format === "json" || flags.schema) {
    return context.out.printJson(flags.schema ? (declared.inputSchema ?? {}) : declared);
  }
  const { bold, dim } = context.out.colours;
  context.out.print(
    `${bold(printable(key))}  ${dim("of")} ${server}  ${grouped(item.tokens)} tokens  ${dim(short(item.digest))}`,
  );
  if (typeof declared.description === "string") context.out.print("", ...indented(declared.description));
  parameters(context, declared);
  for (const flag of item.flags) context.out.print(flagLine(context, flag));
}

interface Property {
  type?: unknown;
  description?: unknown;
  default?: unknown;
  enum?: unknown[];
}

function parameters(context: Context, declared: Record<string, unknown>): void {
  const { bold, dim } = context.out.colours;
  const schema = (declared.inputSchema ?? {}) as { properties?: Record<string, Property>; required?: string[] };
  const list = Array.isArray(declared.arguments)
    ? (declared.arguments as { name: string; description?: string; required?: boolean }[]).map(
        ({ name, description, required }): [string, Property, boolean] => [
          name,
          { type: "string", description },
          required === true,
        ],
      )
    : Object.entries(schema.properties ?? {}).map(([name, property]): [string, Property, boolean] => [
        name,
        property,
        schema.required?.includes(name) === true,
      ]);
  if (list.length === 0) return;
  const rows = list.map(([name, property, isRequired]) => {
    const type = property.enum
      ? property.enum.map((one) => JSON.stringify(one)).join(" | ")
      : String([property.type ?? "any"].flat().join(" | "));
    const fallback = property.default === undefined ? "" : ` (default ${JSON.stringify(property.default)})`;
    return [
      `  ${bold(printable(name))}`,
      printable(type),
      isRequired ? "required" : dim("optional"),
      printable(`${property.description ?? ""}${fallback}`),
    ];
  });
  context.out.print("", ...table(rows, { columns: context.out.columns }));
}
