import { readSet } from "../../scripts/eval/queries.ts";
import type { CatalogueServer } from "../corpus/catalogue.ts";
import { fixturePath } from "../corpus/fixtures.ts";
import { seeded } from "../corpus/random.ts";

/** A task with the places of the tools that serve it. */
export interface Task {
  text: string;
  relevant: string[];
}

export function placeOf(server: string, tool: string): string {
  return `${server}/${tool}`;
}

/** A public set of judged tasks, with its tools as servers of a catalogue; nothing where it is not installed. */
export async function judgedSet(name: string): Promise<{ servers: CatalogueServer[]; tasks: Task[] }> {
  const directory = fixturePath(`search/${name}`);
  if (directory === undefined) return { servers: [], tasks: [] };
  const { corpus, queries } = await readSet(directory);
  const servers = new Map<string, CatalogueServer>();
  const places = new Map<string, string>();
  for (const { id, server: title, ...tool } of corpus) {
    const server = servers.get(title) ?? { tenant: name, name: `${name}-${servers.size}`, title, tools: [] };
    servers.set(title, server);
    server.tools.push(tool as CatalogueServer["tools"][number]);
    places.set(id, placeOf(server.name, tool.name));
  }
  const tasks = queries.map(({ query, relevant }) => ({
    text: query,
    relevant: relevant.flatMap((id) => places.get(id) ?? []),
  }));
  return { servers: [...servers.values()], tasks };
}

const shortest = 40;
const keptShare = 0.6;

/**
 * Tasks from what tools say of themselves, with two words of five left out. Tools that say the same are all right
 * answers.
 */
export function remembered(servers: readonly CatalogueServer[], count: number): Task[] {
  const random = seeded(7);
  const places = new Map<string, string[]>();
  for (const { name, tools } of servers) {
    for (const { name: tool, description = "" } of tools) {
      const said = description.split(/\n|(?<=\.) /)[0]?.trim() ?? "";
      if (said.length < shortest || said.length > 300) continue;
      places.set(said, [...(places.get(said) ?? []), placeOf(name, tool)]);
    }
  }
  const step = Math.max(1, Math.floor(places.size / count));
  const chosen = [...places].filter((_, index) => index % step === 0).slice(0, count);
  return chosen.map(([said, relevant]) => {
    const words = said.split(/\s+/);
    return { text: words.filter(() => random.chance(keptShare)).join(" ") || said, relevant };
  });
}

/** So many of a list, from all over it. */
export function sample<T>(list: readonly T[], count: number): T[] {
  const step = Math.max(1, Math.floor(list.length / count));
  return list.filter((_, index) => index % step === 0).slice(0, count);
}
