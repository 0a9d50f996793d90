import { prepare, type Target } from "../harness/target.ts";
import type { Case } from "./case.ts";
import { inTurn } from "./reads.ts";
import { readServer, tenant } from "./servers.ts";

const offer = { client_name: "bench", client_version: "1", supported_capabilities: ["sampling"] };
const negotiate = {
  method: "POST",
  path: "/mcp/negotiate",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(offer),
};

const openedAtOnce = 16;
const resource = `/mcp/resource?uri=capabilities://${tenant}/${readServer}/tools`;

export const sessions: Case[] = [
  { name: "negotiate", status: 200, prepare: async () => ({ next: () => negotiate }) },
  {
    name: "session-checked call",
    status: 200,
    async prepare(target, { sessions: count }) {
      const ids = await openSessions(target, count);
      return inTurn(ids.map((id) => ({ method: "GET", path: resource, headers: { "X-MCP-Session-ID": id } })));
    },
  },
];

/** Opens sessions, some at once; answers their ids. */
export async function openSessions(target: Pick<Target, "url">, count: number): Promise<string[]> {
  const ids: string[] = [];
  const left = Array.from({ length: count }).keys();
  const work = async () => {
    for (const _ of left) {
      const { headers } = await prepare(target, "POST", negotiate.path, {}, offer);
      ids.push(headers.get("X-MCP-Session-ID") ?? "");
      if (ids.length % 500 === 0) console.error(`${ids.length} of ${count} sessions open`);
    }
  };
  await Promise.all(Array.from({ length: openedAtOnce }, work));
  return ids;
}
