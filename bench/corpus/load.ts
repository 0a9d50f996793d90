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
      await prepare(target, "POST", "/api/mcp/configs", admin, { tenant, name, title, visibility: "public" });
      const path = `/api/mcp/capabilities/${tenant}/${name}?partial=true`;
      const { data } = await prepare<{ rejected?: unknown[] }>(target, "PUT", path, admin, { tools });
      accepted += tools.length - (data.rejected?.length ?? 0);
      published += 1;
      if (published % 1_000 === 0) console.error(`${published} servers with ${accepted} tools published`);
    }
  };
  await Promise.all(Array.from({ length: publishedAtOnce }, work));
  return accepted;
}
