import type { JsonObject } from "../kernel/json.ts";
import type { ConnectTarget, RemoteTarget } from "./target.ts";
import { argsOf, shellWord, type Words } from "./words.ts";

/** Codex keeps its servers in TOML, and takes names of environment variables in members of their own. */
export function codexToml(
  target: ConnectTarget,
  words: Words,
): { snippet: string; entry: JsonObject; command: string | undefined } {
  const entry = target.kind === "remote" ? remoteEntry(target, words) : localEntry(target, words);
  return { snippet: tomlTable(target.name, entry), entry, command: commandOf(target.name, entry) };
}

function remoteEntry({ url, headers }: RemoteTarget, words: Words): JsonObject {
  const entry: JsonObject = { url: words.plain(url) };
  const fixed: Record<string, string> = {};
  const fromEnvironment: Record<string, string> = {};
  for (const { name, value } of headers) {
    if (!words.isAsked(value)) continue;
    const [scheme, ...rest] = value;
    const token = scheme === "Bearer " ? words.lone(rest) : undefined;
    const only = words.lone(value);
    if (name.toLowerCase() === "authorization" && token !== undefined)
      entry.bearer_token_env_var = words.variable(token);
    else if (only !== undefined) fromEnvironment[name] = words.variable(only);
    else fixed[name] = words.plain(value);
  }
  if (Object.keys(fixed).length > 0) entry.http_headers = fixed;
  if (Object.keys(fromEnvironment).length > 0) entry.env_http_headers = fromEnvironment;
  return entry;
}

/** It forwards a variable under its own name only; other values stand in the file. */
function localEntry(target: Extract<ConnectTarget, { kind: "local" }>, words: Words): JsonObject {
  const entry: JsonObject = { command: target.command, args: argsOf(target, words) };
  const forwarded: string[] = [];
  const fixed: Record<string, string> = {};
  for (const { name, value } of target.env) {
    if (!words.isAsked(value)) continue;
    const only = words.lone(value);
    if (only === name) forwarded.push(words.variable(only));
    else fixed[name] = words.plain(value);
  }
  if (forwarded.length > 0) entry.env_vars = forwarded;
  if (Object.keys(fixed).length > 0) entry.env = fixed;
  return entry;
}

function tomlTable(name: string, entry: JsonObject): string {
  const lines = Object.entries(entry).map(([key, value]) => `${key} = ${tomlValue(value)}`);
  return [`[mcp_servers.${name}]`, ...lines].join("\n");
}

/** What JSON writes of a text is a basic string of TOML, too. */
function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)} = ${tomlValue(member)}`);
    return `{ ${members.join(", ")} }`;
  }
  return JSON.stringify(value);
}

function commandOf(name: string, entry: JsonObject): string | undefined {
  const { url, bearer_token_env_var: variable, command, args, ...others } = entry;
  if (Object.keys(others).length > 0) return undefined;
  if (typeof url === "string") {
    const token = typeof variable === "string" ? ` --bearer-token-env-var ${variable}` : "";
    return `codex mcp add ${name} --url ${shellWord(url)}${token}`;
  }
  const words = [String(command), ...(args as string[])].map(shellWord);
  return `codex mcp add ${name} -- ${words.join(" ")}`;
}
