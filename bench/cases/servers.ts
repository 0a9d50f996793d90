import { prepare, type Target } from "../harness/target.ts";
import { manifest } from "./tools.ts";

/** The tenant that all cases publish to. */
export const tenant = "bench";
/** What the hot cases read: twelve tools, about ten kilobytes. */
export const readServer = "reading";

const others = 60;
const toolsEach = 12;
/** Capabilities that the cases find published, whatever else there is. */
export const publishedTools = (1 + others) * toolsEach;

/** What the cases find: the server that is read, and a page and more of others, all public. */
export async function publishServers(target: Target): Promise<void> {
  const names = [readServer, ...Array.from({ length: others }, (_, index) => `server-${index}`)];
  for (const [index, name] of names.entries()) await publishServer(target, name, index * toolsEach);
}

/** The server of the hot read by itself. */
export function publishReadServer(target: Target): Promise<void> {
  return publishServer(target, readServer, 0);
}

async function publishServer(target: Target, name: string, firstSeed: number): Promise<void> {
  const caller = await target.callerOf([tenant]);
  const config = { tenant, name, title: `Server ${name}`, visibility: "public" };
  await prepare(target, "POST", "/api/mcp/configs", caller, config);
  const path = `/api/mcp/capabilities/${tenant}/${name}`;
  await prepare(target, "PUT", path, caller, manifest(toolsEach, firstSeed));
}
