/**
 * The clients, and where each keeps its servers, as its documentation said on `checked`. A path starts with `~` (home
 * folder), `%APPDATA%` (Windows) or neither (the project's folder).
 */

export const clientIds = [
  "claude-code",
  "claude-desktop",
  "vscode",
  "cursor",
  "gemini",
  "codex",
  "windsurf",
  "cline",
  "json",
  "curl",
] as const;
export type ClientId = (typeof clientIds)[number];

export type Platform = "linux" | "darwin" | "win32";

export interface ClientFile {
  name: string;
  /** Where it is, on each system. */
  paths: Record<Platform, string>;
  /** In the project's folder, shared with others; or this person's own. */
  scope: "project" | "user";
  format: "json" | "toml";
  /** Member of the file whose members are the servers. */
  member: string;
}

export interface Client {
  id: ClientId;
  title: string;
  documentation: string;
  checked: string;
  /** Absent for forms that belong to no program. */
  file?: ClientFile;
  /** How its file names a value that is not in it: a prompt, an environment variable, or a gap that the reader fills. */
  fills: "prompt" | "environment" | "replace";
  reference(variable: string, id: string): string;
}

const checked = "2026-11-18";
const everywhere = (path: string): Record<Platform, string> => ({ linux: path, darwin: path, win32: path });
const gap = (variable: string) => `<${variable}>`;

const list: Client[] = [
  {
    id: "claude-code",
    title: "Claude Code",
    documentation: "https://code.claude.com/docs/en/mcp",
    checked,
    file: { name: ".mcp.json", paths: everywhere(".mcp.json"), scope: "project", format: "json", member: "mcpServers" },
    fills: "environment",
    reference: (variable) => `\${${variable}}`,
  },
  {
    id: "claude-desktop",
    title: "Claude Desktop",
    documentation: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    checked,
    file: {
      name: "claude_desktop_config.json",
      paths: {
        linux: "~/.config/Claude/claude_desktop_config.json",
        darwin: "~/Library/Application Support/Claude/claude_desktop_config.json",
        win32: "%APPDATA%/Claude/claude_desktop_config.json",
      },
      scope: "user",
      format: "json",
      member: "mcpServers",
    },
    fills: "replace",
    reference: gap,
  },
  {
    id: "vscode",
    title: "VS Code",
    documentation: "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
    checked,
    file: {
      name: "mcp.json",
      paths: everywhere(".vscode/mcp.json"),
      scope: "project",
      format: "json",
      member: "servers",
    },
    fills: "prompt",
    reference: (_variable, id) => `\${input:${id}}`,
  },
  {
    id: "cursor",
    title: "Cursor",
    documentation: "https://cursor.com/docs/context/mcp",
    checked,
    file: {
      name: "mcp.json",
      paths: everywhere("~/.cursor/mcp.json"),
      scope: "user",
      format: "json",
      member: "mcpServers",
    },
    fills: "environment",
    reference: (variable) => `\${env:${variable}}`,
  },
  {
    id: "gemini",
    title: "Gemini CLI",
    documentation: "https://geminicli.com/docs/tools/mcp-server",
    checked,
    file: {
      name: "settings.json",
      paths: everywhere("~/.gemini/settings.json"),
      scope: "user",
      format: "json",
      member: "mcpServers",
    },
    fills: "environment",
    reference: (variable) => `\${${variable}}`,
  },
  {
    id: "codex",
    title: "Codex",
    documentation: "https://developers.openai.com/codex/mcp",
    checked,
    file: {
      name: "config.toml",
      paths: everywhere("~/.codex/config.toml"),
      scope: "user",
      format: "toml",
      member: "mcp_servers",
    },
    fills: "environment",
    // Where it takes no name of a variable, the reader has to write the value.
    reference: gap,
  },
  {
    id: "windsurf",
    title: "Windsurf",
    documentation: "https://docs.windsurf.com/windsurf/cascade/mcp",
    checked,
    file: {
      name: "mcp_config.json",
      paths: everywhere("~/.codeium/windsurf/mcp_config.json"),
      scope: "user",
      format: "json",
      member: "mcpServers",
    },
    fills: "environment",
    reference: (variable) => `\${env:${variable}}`,
  },
  {
    id: "cline",
    title: "Cline",
    documentation: "https://docs.cline.bot/mcp/mcp-overview",
    checked,
    file: {
      name: "cline_mcp_settings.json",
      paths: everywhere("~/.cline/data/settings/cline_mcp_settings.json"),
      scope: "user",
      format: "json",
      member: "mcpServers",
    },
    fills: "replace",
    reference: gap,
  },
  {
    id: "json",
    title: "JSON",
    documentation: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
    checked,
    fills: "replace",
    reference: gap,
  },
  {
    id: "curl",
    title: "curl",
    documentation: "https://modelcontextprotocol.io/specification/2026-07-28/basic/transports",
    checked,
    fills: "environment",
    reference: (variable) => `\${${variable}}`,
  },
];

export const clients = Object.fromEntries(list.map((client) => [client.id, client])) as Record<ClientId, Client>;
