import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startTarget } from "../harness/target.ts";
import { catalogueOf } from "./catalogue.ts";
import { publishAll } from "./load.ts";
import type { RealServer } from "./server.ts";

/** What was loaded into a registry, and what that took. */
export interface Loaded {
  capabilities: number;
  servers: number;
  seconds: number;
}

const loadedFile = "loaded.json";

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
    const known = await readFile(join(data, loadedFile), "utf8").catch(() => undefined);
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
  if (before !== undefined) {
    await cp(before.data, data, { recursive: true });
    // It is not loaded until all of its own is there, too.
    await rm(join(data, loadedFile));
  }
  const servers = [...catalogueOf(real, size)];
  const target = await startTarget(data);
  try {
    const started = performance.now();
    const added = await publishAll(target, servers.slice(before?.servers ?? 0));
    const loaded = {
      capabilities: (before?.capabilities ?? 0) + added,
      servers: servers.length,
      seconds: Math.round((performance.now() - started) / 100) / 10,
    };
    console.error(`${size}: ${added} tools published in ${loaded.seconds} s`);
    await writeFile(join(data, loadedFile), JSON.stringify(loaded));
    return loaded;
  } finally {
    await target.stop();
  }
}
