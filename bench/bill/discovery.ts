import { CommandError } from "../../scripts/command.ts";
import type { Case } from "../cases/case.ts";
import { reads } from "../cases/reads.ts";
import { tenant } from "../cases/servers.ts";
import { tasks } from "../cases/tasks.ts";
import { freshSeeds, manifest } from "../cases/tools.ts";
import type { Exchange } from "../harness/exchange.ts";
import { receive } from "../harness/load.ts";
import { prepare, type Target } from "../harness/target.ts";

/** Makes the directory larger, so that what grows with it is measured at two sizes. */
const moreServers = 440;
const toolsEach = 12;
export const moreCards = moreServers * toolsEach;
const copyPatienceMs = 30_000;

const pages = reads.find(({ name }) => name === "catalogue page, not in memory") as Case;

let asked = 0;
/** No question comes twice: what is asked again is answered from memory. */
const question = (): Exchange => {
  asked += 1;
  const task = `${tasks[asked % tasks.length]} ${asked}`;
  return { method: "GET", path: `/api/search?limit=5&q=${encodeURIComponent(task)}`, headers: {} };
};
const searches: Case = { name: "search, not in memory", status: 200, prepare: async () => ({ next: question }) };

/** The same requests answered by the directory's object, as where the directory does not fit into an isolate. */
const byObject = ({ name, status, prepare }: Case): Case => ({
  name: `${name}, by the object`,
  status,
  async prepare(target, scale) {
    const { next } = await prepare(target, scale);
    const strong = (exchange: Exchange) => ({
      ...exchange,
      headers: { ...exchange.headers, "Cache-Control": "no-cache" },
    });
    return { next: () => strong(next()) };
  },
});

export const discovery = {
  cataloguePage: pages,
  search: searches,
  pageByObject: byObject(pages),
  searchByObject: byObject(searches),
} as const;

/** Publishes `moreServers` more public servers. */
export async function publishMore(target: Target): Promise<void> {
  const caller = await target.callerOf([tenant]);
  for (let index = 0; index < moreServers; index += 1) {
    const name = `more-${index}`;
    await prepare(target, "POST", "/api/mcp/configs", caller, { tenant, name, visibility: "public" });
    const body = manifest(toolsEach, freshSeeds(toolsEach));
    await prepare(target, "PUT", `/api/mcp/capabilities/${tenant}/${name}`, caller, body);
  }
}

/** Waits until the isolate answers from its own copy of the directory: one that is loading it asks the object. */
export async function untilOwnCopy(target: Target): Promise<void> {
  const end = Date.now() + copyPatienceMs;
  for (let inTurn = 0; Date.now() < end; ) {
    const { headers } = await receive(target.url, question());
    inTurn = String(headers["server-timing"]).startsWith("memory") ? inTurn + 1 : 0;
    if (inTurn === 5) return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new CommandError("The isolate does not answer searches from a copy of the directory.");
}
