import { realpathSync } from "node:fs";
import { type ClientId, clientIds, clients } from "../../../../../src/connect/clients.ts";
import { type Bridge, connectForm, type Form } from "../../../../../src/connect/forms.ts";
import { type ConnectTarget, clientName, registryTarget } from "../../../../../src/connect/target.ts";
import { type Way, waysToConnect } from "../../../../../src/connect/ways.ts";
import { isRollcallError } from "../../client/errors.ts";
import { read } from "../../client/read.ts";
import { isObject, type Json } from "../../publisher/manifest.ts";
import { type Edited, editJson } from "../client-config/edit-json.ts";
import { editToml } from "../client-config/edit-toml.ts";
import { differenceLines, locate, readConfigFile, writeConfigFile } from "../client-config/file.ts";
import { type Context, readLock } from "../context.ts";
import { CliError, UsageError } from "../failure.ts";
import { printable } from "../terminal/printable.ts";
import { oneOf } from "./search.ts";

interface ConfigFlags {
  write?: boolean;
  remove?: boolean;
  name?: string;
  way?: string;
  set?: string[];
  file?: string;
}

/** How a client connects to the registry, or to a server of it. */
export async function config(context: Context, [client = "", server]: string[], flags: ConfigFlags): Promise<void> {
  oneOf("CLIENT", client, [...clientIds]);
  const id = client as ClientId;
  if (flags.write && flags.remove) throw new UsageError("--write and --remove are one or the other");
  const { file } = clients[id];
  if (file === undefined && (flags.write || flags.remove || flags.file !== undefined))
    throw new UsageError(`${clients[id].title} has no file to write`, { hint: `Run rollcall config ${id} alone.` });
  if (flags.remove) return remove(context, id, server, flags);
  const form = await formFor(context, id, server, flags);
  if (form.problem !== undefined)
    throw new CliError(printable(form.problem), { where: server ?? context.target().url, code: "ErrorNoSnippet" });
  const path = file === undefined ? undefined : (flags.file ?? locate(id, file));
  const { snippet, language, link, command, asks, notes } = form;
  const answer = { client: id, path: path ?? null, language, snippet, link, command, asks, notes };
  if (flags.write !== true || path === undefined) {
    context.out.json(answer);
    context.out.print(...(snippet ?? "").split("\n").map((line) => printable(line)));
    tell(context, form, path);
    return;
  }
  const before = readConfigFile(path) ?? "";
  const name = nameIn(form);
  const edited = editFile(before, form, name);
  if (!edited.ok) throw unusable(path, edited);
  checkOwner(edited.before, form, name, path);
  const isChanged = edited.text !== before;
  const { backup } = isChanged ? writeConfigFile(path, edited.text) : {};
  const difference = differenceLines(before, edited.text);
  context.out.json({ ...answer, written: isChanged, backup: backup ?? null, difference });
  context.out.print(
    isChanged ? `Wrote ${path}` : `${path} has this already`,
    ...difference.map((line) => printable(line)),
  );
  if (backup !== undefined) context.out.note(`What was there before is in ${backup}`);
  tell(context, form, undefined);
}

/** What the reader has to do besides. */
function tell(context: Context, { link, command, asks, notes, title }: Form, path: string | undefined): void {
  const lines: string[] = [];
  if (path !== undefined) lines.push(`Put it into ${path}, or run this again with --write.`);
  if (command !== undefined) lines.push(`Or run: ${command}`);
  if (link !== undefined) lines.push(`Or open: ${link}`);
  for (const { how, variable, description } of asks) {
    const what = description === undefined ? "" : `: ${description}`;
    if (how === "prompt") lines.push(`${title} asks for ${variable}${what}`);
    else if (how === "environment") lines.push(`Set the environment variable ${variable}${what}`);
    else lines.push(`Replace <${variable}>${what}`);
  }
  context.out.note(...[...lines, ...notes].map((line) => printable(line)));
}

async function formFor(context: Context, id: ClientId, server: string | undefined, flags: ConfigFlags): Promise<Form> {
  const { url, token } = context.target();
  const target =
    server === undefined
      ? registryTarget(url, { token: token !== undefined })
      : await serverTarget(context, id, context.server(server), flags);
  const named = flags.name === undefined ? target : { ...target, name: clientName(flags.name) };
  return connectForm(id, named, { bridge: ownCommand(), answers: answersIn(flags.set) });
}

/** The command that is running, by its absolute path: clients start it without a shell and its PATH. */
function ownCommand(): Bridge {
  const script = process.argv[1] ?? "";
  return { command: process.execPath, args: script === "" ? [] : [realpathSync(script)] };
}

function answersIn(set: string[] = []): { values: Record<string, string>; include: string[] } {
  const values: Record<string, string> = {};
  const include: string[] = [];
  for (const one of set) {
    const at = one.indexOf("=");
    if (at === -1) include.push(one);
    else values[one.slice(0, at)] = one.slice(at + 1);
  }
  return { values, include };
}

/** The way that the caller names, else the first that the client can use. */
async function serverTarget(
  context: Context,
  id: ClientId,
  server: string,
  { way, set }: ConfigFlags,
): Promise<ConnectTarget> {
  const declared = await declaredBy(context, server);
  const ways = waysToConnect({ name: server, ...declared });
  if (ways.length === 0)
    throw new CliError(`${server} was published without an address or a package`, {
      hint: "Its publisher can add remotes or packages to the manifest.",
      code: "ErrorNoAddress",
    });
  const usable = ways.filter((one): one is Way & { target: ConnectTarget } => one.target !== undefined);
  const fits = ({ target }: { target: ConnectTarget }) =>
    connectForm(id, target, { answers: answersIn(set) }).problem === undefined;
  const chosen = way === undefined ? (usable.find(fits) ?? usable[0]) : usable.find((one) => one.id === way);
  if (chosen !== undefined) return chosen.target;
  const lines = ways.map(
    ({ id: name, label, problems }) => `${name} ${label}${problems.length === 0 ? "" : `: ${problems.join("; ")}`}`,
  );
  if (way !== undefined) throw new UsageError(`There is no way "${way}" to ${server}`, { lines });
  throw new CliError(`No address or package of ${server} can be used`, { lines, code: "ErrorNoAddress" });
}

/** Addresses and packages: of the version that the lock file pins, else of the newest. */
async function declaredBy(context: Context, server: string): Promise<{ remotes?: unknown[]; packages?: unknown[] }> {
  const pinned = readLock()?.lock.servers[server]?.version;
  const connection = context.connection();
  for (const version of pinned === undefined ? ["latest"] : [pinned, "latest"]) {
    try {
      const path = `/v0.1/servers/${encodeURIComponent(server)}/versions/${encodeURIComponent(version)}`;
      const response = await connection.send("GET", path, { signal: context.signal });
      const { server: found } = (await response.json()) as { server?: { remotes?: unknown[]; packages?: unknown[] } };
      if (version !== pinned && pinned !== undefined)
        context.out.warn(`The pinned version ${pinned} is not in the registry any more; this is the newest`);
      if (found?.remotes !== undefined || found?.packages !== undefined) return found;
      break;
    } catch (error) {
      if (!isRollcallError(error) || error.status !== 404) throw context.signInError(error);
    }
  }
  const data = (await read(connection, server, { signal: context.signal }).catch((error: unknown) => {
    throw context.signInError(error);
  })) as unknown as { data?: Json } & Json;
  const body = isObject(data.data) ? data.data : data;
  return body as { remotes?: unknown[]; packages?: unknown[] };
}

function nameIn({ snippet = "", file }: Form): string {
  if (file?.format === "toml") return /^\[[\w-]+\.([\w-]+)\]/.exec(snippet)?.[1] ?? "";
  const content = JSON.parse(snippet) as Record<string, Json>;
  return Object.keys(content[file?.member ?? "mcpServers"] ?? {})[0] ?? "";
}

function editFile(text: string, { file, entry, prompts, snippet = "" }: Form, name: string): Edited {
  const edit = { member: file?.member ?? "mcpServers", name, entry, prompts };
  return file?.format === "toml" ? editToml(text, edit, snippet) : editJson(text, edit);
}

function unusable(path: string, { message, line }: { message: string; line?: number }): UsageError {
  return new UsageError(`${path} cannot be changed: ${message}`, {
    where: line === undefined ? path : `${path}:${line}`,
    hint: "Nothing was written. Mend the file, or paste what rollcall config prints without --write.",
    code: "ErrorConfigFile",
  });
}

/** Another server of the same name is somebody's work: it is not replaced. */
function checkOwner(before: Json | undefined, { entry = {} }: Form, name: string, path: string): void {
  const addressOf = ({ url, httpUrl, serverUrl, command, args }: Json) =>
    JSON.stringify([url ?? httpUrl ?? serverUrl, command, packageIn(args)]);
  if (before === undefined || addressOf(before) === addressOf(entry)) return;
  throw new UsageError(`${path} has another server called "${name}"`, {
    hint: `Choose another name with --name, or remove that one first: --remove --name ${name}`,
    code: "ErrorConfigFile",
  });
}

/** A package without its version: a new one replaces an old one. */
function packageIn(args: unknown): unknown {
  if (!Array.isArray(args)) return undefined;
  return args.map((word) =>
    String(word)
      .replace(/(?<=[\w])@[\w.+-]+$/, "")
      .replace(/:[\w.-]+$/, ""),
  )[args[0] === "-y" ? 1 : 0];
}

async function remove(context: Context, id: ClientId, server: string | undefined, flags: ConfigFlags): Promise<void> {
  const { file } = clients[id];
  if (file === undefined) return;
  const name = clientName(
    flags.name ?? (server === undefined ? "rollcall" : (context.server(server).split("/")[1] ?? "")),
  );
  const path = flags.file ?? locate(id, file);
  const before = readConfigFile(path);
  const edit = { member: file.member, name, entry: undefined };
  const edited: Edited =
    before === undefined
      ? { ok: true, text: "", before: undefined }
      : file.format === "toml"
        ? editToml(before, edit, "")
        : editJson(before, edit);
  if (!edited.ok) throw unusable(path, edited);
  const isChanged = before !== undefined && edited.text !== before;
  const { backup } = isChanged ? writeConfigFile(path, edited.text) : {};
  const difference = isChanged ? differenceLines(before, edited.text) : [];
  context.out.json({ client: id, path, removed: isChanged, backup: backup ?? null, difference });
  const said = isChanged ? `Removed ${name} from ${path}` : `${path} has no server called ${name}`;
  context.out.print(said, ...difference.map((line) => printable(line)));
}
