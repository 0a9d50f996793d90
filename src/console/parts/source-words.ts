/** What reading a source last found, in words. */
export const sourceWords: Record<string, string> = {
  live: "● live",
  pending: "… not read yet",
  gated: "◌ needs a credential",
  "not-mcp": "– not an MCP server",
  unreachable: "– does not answer",
  "not-read": "not read by the registry",
};
