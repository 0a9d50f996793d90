import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type EmbeddedServer, startEmbedded } from "../../cli/embedded.ts";
import { connect } from "../../cli/eval/load.ts";
import { catalogueOf } from "./catalogue.ts";
import { publishAll } from "./load.ts";
import type { RealServer } from "./real-servers.ts";

/** What was loaded into a registry, and what that took. */
export interface Loaded {
  capabilities: number;
  servers: number;
  seconds: number;
}

/** Limits are for callers who do not measure. */
const vars = {
  READ_LIMIT: "1000000/1000000",
  WRITE_LIMIT: "1000000/1000000",
  NEGOTIATE_LIMIT: "1000000/1000000",
};

export function startRegistry(data: string): Promise<EmbeddedServer> {
  return startEmbedded({ host: "127.0.0.1", port: 0, data, vars, quiet: true, onStep: console.error });
}

/**
 * Data directories with catalogues of these sizes, in this order; each is a copy of the one before with more published
 * into it, and is used again where it is there already.
 */
export async function fillRegistries(
  directory: string,
  real: readonly RealServer[],
  sizes: readonly number[],
): Promise<(Loaded & { data: string })[]> {
  const filled: (Loaded & { data: string })[] = [];
  for (const size of sizes) {
    const data = join(directory, String(size));
    const known = await readFile(join(data, "loaded.json"), "utf8").catch(() => undefined);
    const loaded = known === undefined ? await fill(data, real, size, filled.at(-1)) : (JSON.parse(known) as Loaded);
    filled.push({ ...loaded, data });
  }
  return filled;
}

async function fill(
  data: string,
  real: readonly RealServer[],
  size: number,
  before: (Loaded & { data: string }) | undefined,
): Promise<Loaded> {
  await rm(data, { recursive: true, force: true });
  if (before !== undefined) await cp(before.data, data, { recursive: true });
  const servers = [...catalogueOf(real, size)];
  const server = await startRegistry(data);
  try {
    const started = performance.now();
    const added = await publishAll(await connect(server, true), servers.slice(before?.servers ?? 0));
    const loaded = {
      capabilities: (before?.capabilities ?? 0) + added,
      servers: servers.length,
      seconds: Math.round((performance.now() - started) / 100) / 10,
    };
    console.error(`${size}: ${added} tools published in ${loaded.seconds} s`);
    await writeFile(join(data, "loaded.json"), JSON.stringify(loaded));
    return loaded;
  } finally {
    await server.stop();
  }
}
