import { setTimeout as sleep } from "node:timers/promises";
import { send } from "./traffic.ts";

interface Listed {
  name: string;
  generation: number;
}

/** Longer than a segment takes to be built and an isolate to notice it. */
const patienceMs = 30_000;

/** Reads what is public from the edge's copy of the directory, which is built behind the writes. */
export class DirectoryWatch {
  readonly #tenant: string;
  readonly #seen = new Set<string>();

  constructor(tenant: string) {
    this.#tenant = tenant;
  }

  /** States of the directory that were seen while it was written to: each was built. */
  get states(): number {
    return this.#seen.size;
  }

  async look(url: string): Promise<number> {
    const { directory } = await this.#listed(url);
    if (directory !== undefined) this.#seen.add(directory);
    return 100;
  }

  /** What the edge still shows otherwise than the objects do, after it has had time to follow. */
  async check(url: string, token: string): Promise<string[]> {
    for (const end = Date.now() + patienceMs; ; await sleep(250)) {
      const [edge, objects] = [(await this.#listed(url)).servers, await this.#stored(url, token)];
      const text = (servers: Listed[]) => servers.map(({ name, generation }) => `${name} at ${generation}`).join(", ");
      if (text(edge) === text(objects)) return [];
      if (Date.now() > end) return [`the catalogue shows ${text(edge)}, the objects have ${text(objects)}`];
    }
  }

  async #listed(url: string): Promise<{ servers: Listed[]; directory: string | undefined }> {
    const path = `/api/catalog?limit=100&facets=false&tenant=${this.#tenant}&fields=name,generation`;
    const { body, headers } = await send(url, undefined, "GET", path);
    return { servers: byName(body?.data?.items ?? []), directory: headers?.get("Rollcall-Directory") ?? undefined };
  }

  async #stored(url: string, token: string): Promise<Listed[]> {
    const { body } = await send(url, token, "GET", `/api/mcp/configs?tenant=${this.#tenant}`, undefined, {
      "Cache-Control": "no-cache",
    });
    const items = (body?.data?.items ?? []) as (Listed & { visibility: string })[];
    return byName(items.filter(({ visibility }) => visibility === "public"));
  }
}

function byName(servers: Listed[]): Listed[] {
  return servers.map(({ name, generation }) => ({ name, generation })).sort((a, b) => (a.name < b.name ? -1 : 1));
}
