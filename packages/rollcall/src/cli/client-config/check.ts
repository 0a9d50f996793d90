import { existsSync } from "node:fs";
import { parse } from "jsonc-parser";
import { parse as parseToml } from "smol-toml";
import { type Client, clients } from "../../../../../src/connect/clients.ts";
import { isObject, type Json } from "../../publisher/manifest.ts";
import { sameRegistry } from "../settings/profiles.ts";
import { editJson } from "./edit-json.ts";
import { editToml } from "./edit-toml.ts";
import { locate, readConfigFile } from "./file.ts";

export interface ClientCheck {
  ok: boolean;
  message: string;
  fix?: string;
}

/** The files of clients that there are on this machine: whether they can be read, and where their `rollcall` leads. */
export function checkClients(url: string): ClientCheck[] {
  return Object.values(clients).flatMap((client) => {
    try {
      return checkClient(client, url);
    } catch (error) {
      return [{ ok: false, message: `${client.title}: ${(error as Error).message}` }];
    }
  });
}

function checkClient({ id, title, file }: Client, url: string): ClientCheck[] {
  if (file === undefined) return [];
  const path = locate(id, file);
  const text = readConfigFile(path);
  if (text === undefined) return [];
  const edit = { member: file.member, name: "rollcall", entry: undefined };
  const isToml = file.format === "toml";
  const read = isToml ? editToml(text, edit, "") : editJson(text, edit);
  if (!read.ok) {
    const line = read.line === undefined ? "" : `:${read.line}`;
    return [
      {
        ok: false,
        message: `${title}: ${path}${line}: ${read.message}`,
        fix: "Mend the file: the client cannot read it",
      },
    ];
  }
  const content = (isToml ? parseToml(text) : parse(text.replace(/^\uFEFF/, ""), [], { allowTrailingComma: true })) as
    | Json
    | undefined;
  const servers = content?.[file.member];
  const count = isObject(servers) ? Object.keys(servers).length : 0;
  const problem = read.before === undefined ? undefined : entryProblem(read.before, url);
  if (problem !== undefined)
    return [
      {
        ok: false,
        message: `${title}: ${path}: ${problem}`,
        fix: `rollcall config ${id} --remove && rollcall config ${id} --write`,
      },
    ];
  const known = read.before === undefined ? "" : ", rollcall among them";
  return [{ ok: true, message: `${title}: ${path}, ${count} ${count === 1 ? "server" : "servers"}${known}` }];
}

/** What is wrong with an entry that `rollcall config` wrote. */
function entryProblem({ url, httpUrl, serverUrl, command, args }: Json, registry: string): string | undefined {
  const address = url ?? httpUrl ?? serverUrl;
  const words = Array.isArray(args) ? args.map(String) : [];
  const at = words.indexOf("--url");
  const named = typeof address === "string" ? address.replace(/\/mcp$/, "") : at === -1 ? undefined : words[at + 1];
  if (named !== undefined && !sameRegistry(named, registry)) return `rollcall leads to ${named}, not to ${registry}`;
  const script = words.find((word) => /[\\/]rollcall(?:\.js|\.ts)?$/.test(word));
  for (const file of [command, script])
    if (typeof file === "string" && /[\\/]/.test(file) && !existsSync(file)) return `${file} does not exist any more`;
  return undefined;
}
