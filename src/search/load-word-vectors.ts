import { readVectors, type WordVectors } from "./word-vectors.ts";

/** How long to search by words alone before the table is asked for again. */
const retryAfterMs = 60_000;

let table: WordVectors | undefined;
let failedAt = Number.NEGATIVE_INFINITY;

/**
 * The table of what words mean, read on first use and kept for the life of the isolate. Searching works without it:
 * where the asset is missing or cannot be read, words alone decide. The table is kept and not the promise of it, which
 * would belong to the request that asked first: two that ask at once read it twice.
 */
export async function wordVectors(assets: Env["ASSETS"] | undefined): Promise<WordVectors | undefined> {
  if (table !== undefined || assets === undefined || Date.now() - failedAt < retryAfterMs) return table;
  const read = await load(assets);
  if (read === undefined) failedAt = Date.now();
  else table ??= read;
  return table;
}

async function load(assets: Env["ASSETS"]): Promise<WordVectors | undefined> {
  try {
    // Only the path counts: the binding leads nowhere but to this deployment's own files.
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
