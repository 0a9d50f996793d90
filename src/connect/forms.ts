import { encodeBase64 } from "../kernel/base64.ts";
import type { JsonObject } from "../kernel/json.ts";
import { type ClientFile, type ClientId, clientIds, clients } from "./clients.ts";
import { codexToml } from "./codex.ts";
import { addCommand, curlCommand } from "./commands.ts";
import { type Answers, type ConnectTarget, type LocalTarget, type Text, textProblem } from "./target.ts";
import { type Ask, argsOf, createWords, promptId, type Words } from "./words.ts";

/** How one client connects to one target. */
export interface Form {
  client: ClientId;
  title: string;
  documentation: string;
  /** What to paste: the content of `file`, or a command where there is no file. Absent with `problem`. */
  snippet?: string;
  language: "json" | "toml" | "sh";
  file?: ClientFile;
  /** What stands under the server's name in the file, and the prompts beside it. */
  entry?: JsonObject;
  prompts?: JsonObject[];
  /** A command of the client that does the same. */
  command?: string;
  /** Opens the client with the server filled in. */
  link?: string;
  asks: Ask[];
  notes: string[];
  /** Why there is no snippet, and what to do instead. */
  problem?: string;
}

/** The command that stands between a client and the registry: `rollcall mcp`. */
export interface Bridge {
  command: string;
  args: readonly string[];
}

export interface FormOptions {
  answers?: Answers;
  /** Without it, clients that need it get a `problem`. */
  bridge?: Bridge;
}

/** All ten forms, in the order in which they are shown. */
export function connectForms(target: ConnectTarget, options: FormOptions = {}): Form[] {
  return clientIds.map((client) => connectForm(client, target, options));
}

/** How `client` connects to `target`. */
export function connectForm(id: ClientId, given: ConnectTarget, { answers = {}, bridge }: FormOptions = {}): Form {
  const { title, documentation, file } = clients[id];
  const none: Form = { client: id, title, documentation, language: "json", asks: [], notes: [] };
  const bad = Object.entries(answers.values ?? {}).find(([, value]) => textProblem(value) !== undefined);
  if (bad !== undefined) return { ...none, problem: `The value of ${bad[0]} cannot be used: ${textProblem(bad[1])}.` };
  const target = withBridge(id, given, bridge);
  const problem = unfit(id, target);
  if (problem !== undefined) return { ...none, problem };

  const words = createWords(id, target, answers);
  const notes = [...target.notes];
  if (target.kind === "remote" && target.runFirst !== undefined)
    notes.push(`Start the server first: ${target.runFirst.map((word) => words.shell(word)).join(" ")}`);
  if (id === "curl") {
    const snippet = target.kind === "remote" ? curlCommand(target, words) : undefined;
    return { ...none, language: "sh", snippet, asks: words.asks(), notes };
  }
  if (id === "codex") {
    const { snippet, entry, command } = codexToml(target, words);
    return { ...none, language: "toml", file, snippet, entry, command, asks: words.asks(), notes };
  }
  const entry = entryOf(id, target, words);
  const member = file?.member ?? "mcpServers";
  const content: JsonObject = { [member]: { [target.name]: entry } };
  const asks = words.asks();
  const prompts = id === "vscode" && asks.length > 0 ? promptsOf(target, words) : undefined;
  if (prompts !== undefined) content.inputs = prompts;
  return {
    ...none,
    file,
    snippet: JSON.stringify(content, null, 2),
    entry,
    prompts,
    command: addCommand(id, target, words),
    link: linkOf(id, target.name, entry, prompts),
    asks,
    notes,
  };
}

/** Claude Desktop starts commands only; Claude Code would have to be given a new token every day. */
function withBridge(id: ClientId, target: ConnectTarget, bridge: Bridge | undefined): ConnectTarget {
  if (bridge === undefined || target.kind === "local" || target.registry === undefined) return target;
  const isNeeded = id === "claude-desktop" || (id === "claude-code" && target.headers.length > 0);
  if (!isNeeded) return target;
  const args = [...bridge.args, "mcp", "--url", target.registry].map((word): Text => [word]);
  const local: LocalTarget = {
    kind: "local",
    name: target.name,
    command: bridge.command,
    args,
    env: [],
    inputs: [],
    notes: ["It uses the token of your login: sign in with rollcall login."],
  };
  return local;
}

function unfit(id: ClientId, target: ConnectTarget): string | undefined {
  if (target.kind === "local") {
    return id === "curl" ? "curl speaks HTTP, and this server is a command. Use one of the other forms." : undefined;
  }
  if (id === "claude-desktop") {
    return target.registry === undefined
      ? "Its file takes commands only. Add the address in Claude Desktop: Settings, Connectors, Add custom connector."
      : "Its file takes commands only, and rollcall mcp is not there. Add the address in Claude Desktop: Settings, Connectors, Add custom connector.";
  }
  if (target.transport === "sse" && (id === "codex" || id === "curl"))
    return `${clients[id].title} does not speak the older SSE transport. Ask the publisher for a streamable HTTP address.`;
  return undefined;
}

function promptsOf(target: ConnectTarget, words: Words): JsonObject[] {
  return words.asks().map(({ id, description, secret }) => {
    const { choices, default: preset } = target.inputs.find((one) => one.id === id) ?? {};
    const prompt: JsonObject = {
      type: choices === undefined || secret ? "promptString" : "pickString",
      id: promptId(target, id),
      description: description ?? id,
    };
    if (prompt.type === "pickString") prompt.options = choices;
    else if (secret) prompt.password = true;
    if (preset !== undefined) prompt.default = preset;
    return prompt;
  });
}

/** Name of the member that has the address, where it is not `url`. */
const addressMembers: Partial<Record<ClientId, Record<"http" | "sse", string>>> = {
  gemini: { http: "httpUrl", sse: "url" },
  windsurf: { http: "serverUrl", sse: "serverUrl" },
};

/** Name of the transport, for the clients that want it named. */
const transportTypes: Partial<Record<ClientId, Record<"http" | "sse", string>>> = {
  "claude-code": { http: "http", sse: "sse" },
  vscode: { http: "http", sse: "sse" },
  cline: { http: "streamableHttp", sse: "sse" },
  json: { http: "http", sse: "sse" },
};

function entryOf(client: ClientId, target: ConnectTarget, words: Words): JsonObject {
  if (target.kind === "local") {
    const entry: JsonObject = { command: target.command, args: argsOf(target, words) };
    const env = pairs(target.env, words);
    if (client === "vscode") return { type: "stdio", ...entry, ...(env && { env }) };
    return env === undefined ? entry : { ...entry, env };
  }
  const { transport, url } = target;
  const type = transportTypes[client]?.[transport];
  const headers = pairs(target.headers, words);
  const entry: JsonObject = type === undefined ? {} : { type };
  entry[addressMembers[client]?.[transport] ?? "url"] = words.plain(url);
  if (headers !== undefined) entry.headers = headers;
  return entry;
}

function pairs(list: readonly { name: string; value: Text }[], words: Words): Record<string, string> | undefined {
  const kept = list.filter(({ value }) => words.isAsked(value)).map(({ name, value }) => [name, words.plain(value)]);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function linkOf(client: ClientId, name: string, entry: JsonObject, prompts?: JsonObject[]): string | undefined {
  if (client === "vscode") {
    const config = { name, ...entry, ...(prompts && { inputs: prompts }) };
    return `vscode:mcp/install?${encodeURIComponent(JSON.stringify(config))}`;
  }
  if (client !== "cursor") return undefined;
  const config = encodeBase64(new TextEncoder().encode(JSON.stringify(entry)));
  return `cursor://anysphere.cursor-deeplink/mcp/install?name=${encodeURIComponent(name)}&config=${encodeURIComponent(config)}`;
}
