import { RequestRefused } from "../../scripts/command.ts";
import { isDropped } from "../harness/load.ts";
import { prepare, type Target } from "../harness/target.ts";
import type { CatalogueServer } from "./catalogue.ts";

/** Tenants at once, each with one server after the other, as a publisher would. */
const publishedAtOnce = 8;

/** Publishes servers through the public API for everyone to see, and answers how many of their tools were taken. */
export async function publishAll(target: Target, servers: Iterable<CatalogueServer>): Promise<number> {
  const admin = await target.callerOf([], { admin: true });
  const left = servers[Symbol.iterator]();
  let [published, accepted] = [0, 0];
  const work = async () => {
    for (let { value, done } = left.next(); !done; { value, done } = left.next()) {
      const { tenant, name, title, tools } = value as CatalogueServer;
      const config = { tenant, name, title, visibility: "public" };
      await sent(() => prepare(target, "POST", "/api/mcp/configs", admin, config));
      const path = `/api/mcp/capabilities/${tenant}/${name}?partial=true`;
      // Not `accepted += await …`: that reads the sum before it waits, and loses what others added meanwhile.
      const taken = await acceptedOf(tools.length, () => sent(() => prepare(target, "PUT", path, admin, { tools })));
      accepted += taken;
      published += 1;
      if (published % 1_000 === 0) console.error(`${published} servers with ${accepted} tools published`);
    }
  };
  await Promise.all(Array.from({ length: publishedAtOnce }, work));
  return accepted;
}

const mostSent = 3;

/** Sends a write again whose connection the server closed: the same config and the same tools change nothing twice. */
async function sent<T>(send: () => Promise<T>): Promise<T> {
  for (let times = 1; ; times += 1) {
    try {
      return await send();
    } catch (error) {
      if (times === mostSent || !isDropped(error)) throw error;
    }
  }
}

/** How many of the tools a publish took. One that would leave out all is refused as a whole. */
async function acceptedOf(tools: number, publish: () => Promise<{ data: { rejected?: unknown[] } }>): Promise<number> {
  try {
    return tools - ((await publish()).data.rejected?.length ?? 0);
  } catch (error) {
    if (error instanceof RequestRefused && error.status === 422) return 0;
    throw error;
  }
}
