import type { ClientId } from "./clients.ts";
import type { ConnectTarget, RemoteTarget } from "./target.ts";
import { argsOf, shellWord, type Words } from "./words.ts";

/** The client's own command that adds the server to its file; undefined where it has none that keeps secrets out. */
export function addCommand(client: ClientId, target: ConnectTarget, words: Words): string | undefined {
  // The file keeps the reference: the shell must not replace it.
  const quoted = (name: string, value: string) => shellWord(`${name}: ${value}`);
  if (target.kind === "local") {
    if (client !== "claude-code" || target.env.length > 0) return undefined;
    const command = [target.command, ...argsOf(target, words)].map(shellWord).join(" ");
    return `claude mcp add --scope project --transport stdio ${target.name} -- ${command}`;
  }
  const { name, transport } = target;
  const headers = target.headers
    .filter(({ value }) => words.isAsked(value))
    .map((header) => ` --header ${quoted(header.name, words.plain(header.value))}`)
    .join("");
  const url = shellWord(words.plain(target.url));
  if (client === "claude-code")
    return `claude mcp add --scope project --transport ${transport} ${name} ${url}${headers}`;
  if (client === "gemini") return `gemini mcp add --scope user --transport ${transport}${headers} ${name} ${url}`;
  return undefined;
}

const listRequest = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/list",
  params: {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "curl", version: "1" },
    },
  },
};

/** A request of revision 2026-07-28 that lists the tools, as it is pasted. */
export function curlCommand(target: RemoteTarget, words: Words): string {
  const headers = [
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
    "MCP-Protocol-Version: 2026-07-28",
    "Mcp-Method: tools/list",
  ].map((line) => shellWord(line));
  for (const { name, value } of target.headers) {
    if (words.isAsked(value)) headers.push(words.shell([`${name}: `, ...value]));
  }
  const lines = [`curl -sS ${words.shell(target.url)}`, ...headers.map((line) => `-H ${line}`)];
  return [...lines, `-d ${shellWord(JSON.stringify(listRequest))}`].join(" \\\n  ");
}
