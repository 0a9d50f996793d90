import type { Send } from "../../cli/eval/load.ts";
import type { CatalogueServer } from "./catalogue.ts";

/** Tenants at once, each with one server after the other, as a publisher would. */
const publishedAtOnce = 8;

/** Publishes servers through the public API for everyone to see, and answers how many of their tools were taken. */
export async function publishAll(send: Send, servers: Iterable<CatalogueServer>): Promise<number> {
  const left = servers[Symbol.iterator]();
  let [published, accepted] = [0, 0];
  const work = async () => {
    for (let { value, done } = left.next(); !done; { value, done } = left.next()) {
      const { tenant, name, title, tools } = value as CatalogueServer;
      await send("POST", "/api/mcp/configs", { tenant, name, title, visibility: "public" });
      const { data } = await send("PUT", `/api/mcp/capabilities/${tenant}/${name}?partial=true`, { tools });
      accepted += tools.length - ((data["rejected"] as unknown[] | undefined)?.length ?? 0);
      published += 1;
      if (published % 1_000 === 0) console.error(`${published} servers with ${accepted} tools published`);
    }
  };
  await Promise.all(Array.from({ length: publishedAtOnce }, work));
  return accepted;
}
