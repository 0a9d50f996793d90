import { type CatalogueServer, catalogueOf } from "../corpus/catalogue.ts";
import { publishAll } from "../corpus/load.ts";
import { type Random, seeded } from "../corpus/random.ts";
import { realServers } from "../corpus/real-servers.ts";
import { startTarget } from "../harness/target.ts";
import type { Case } from "./case.ts";

/** Searches that nobody made before, in registries of their own, of so many capabilities. */
export const newWords: readonly Case[] = [
  { name: "search, new words", capabilities: 1_000 },
  { name: "search, new words, 12,000 capabilities", capabilities: 12_000 },
].map(({ name, capabilities }) => ({
  name,
  status: 200,
  async prepare() {
    const servers = [...catalogueOf(await realServers(), capabilities)];
    const target = await startTarget();
    try {
      await publishAll(target, servers);
    } catch (cause) {
      await target.stop();
      throw cause;
    }
    const task = tasksFrom(servers, seeded(25));
    const next = () => ({ method: "GET", path: `/api/search?limit=5&q=${encodeURIComponent(task())}`, headers: {} });
    return { next, target, stop: target.stop };
  },
}));

const [shortest, longest] = [40, 300];
const keptShare = 0.6;

/** What a tool says of itself with two words of five left out, and a number that no other task has. */
function tasksFrom(servers: readonly CatalogueServer[], random: Random): () => string {
  const said = servers.flatMap(({ tools }) =>
    tools.flatMap(({ description = "" }) => {
      const first = description.split(/\n|(?<=\.) /)[0]?.trim() ?? "";
      return first.length < shortest || first.length > longest ? [] : [first.split(/\s+/)];
    }),
  );
  let asked = 0;
  return () => {
    asked += 1;
    const words = random.pick(said)?.filter(() => random.chance(keptShare)) ?? [];
    return [...words, asked].join(" ");
  };
}
