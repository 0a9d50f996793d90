import type { Exchange } from "../harness/exchange.ts";
import type { Case } from "./case.ts";
import { readServer, tenant } from "./servers.ts";

const revision = "2026-07-28";

/** A message of the newest revision, which says in its headers what is in its body. */
function message(method: string, params: Record<string, unknown>, name?: string): Exchange {
  const about = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  return {
    method: "POST",
    path: "/mcp",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": revision,
      "Mcp-Method": method,
      ...(name === undefined ? {} : { "Mcp-Name": name }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: about } }),
  };
}

const view = `capabilities://${tenant}/${readServer}/tools`;

export const mcp: Case[] = [
  {
    name: "MCP tools/list",
    status: 200,
    hot: true,
    prepare: async () => ({ next: () => message("tools/list", {}) }),
  },
  {
    name: "MCP resources/read",
    status: 200,
    hot: true,
    prepare: async () => ({ next: () => message("resources/read", { uri: view }, view) }),
  },
];
