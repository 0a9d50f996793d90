import { packVector } from "./index/vector.ts";
import { readTermWeights } from "./term-weights.ts";
import { readVectors, vectorOfItem, type WordVectors } from "./word-vectors.ts";

/** After a failed load, search uses words alone for this long before it tries again. */
const retryAfterMs = 60_000;

let table: WordVectors | undefined;
let failedAt = Number.NEGATIVE_INFINITY;

/**
 * The word vectors, loaded on first use and cached for the life of the isolate. Search works without them: if the asset
 * is missing or unreadable, ranking uses words alone. The table is cached instead of its promise, which would belong to
 * the request that created it; two concurrent first requests load it twice.
 */
export async function wordVectors(assets: Env["ASSETS"] | undefined): Promise<WordVectors | undefined> {
  if (table !== undefined || assets === undefined || Date.now() - failedAt < retryAfterMs) return table;
  const read = await load(assets);
  if (read === undefined) failedAt = Date.now();
  else table ??= read;
  return table;
}

/** Loads the word vectors; undefined if there is nothing to wait for. */
export function loadingVectors(assets: Env["ASSETS"] | undefined): Promise<unknown> | undefined {
  return table === undefined ? wordVectors(assets) : undefined;
}

/** Packed meaning vector of an item; null if the word vectors are not loaded. Await `loadingVectors` before a write. */
export function itemVector(bag: ArrayBuffer): ArrayBuffer | null {
  return table === undefined ? null : packVector(vectorOfItem(table, readTermWeights(bag)));
}

async function load(assets: Env["ASSETS"]): Promise<WordVectors | undefined> {
  try {
    // Only the path matters: the binding serves nothing but this deployment's own files.
    const response = await assets.fetch("https://assets.invalid/word-vectors.bin");
    const read = response.ok ? readVectors(await response.arrayBuffer()) : undefined;
    if (read !== undefined) return read;
    await response.body?.cancel();
    console.error(
      JSON.stringify({ event: "word-vectors", status: response.status, error: "There is no table to read" }),
    );
  } catch (error) {
    console.error(JSON.stringify({ event: "word-vectors", error: String(error) }));
  }
  return undefined;
}
