import { readVectors, type WordVectors } from "../domain/search/word-vectors.ts";

/** How long to search by words alone before the table is asked for again. */
const retryAfterMs = 60_000;

let loaded: Promise<WordVectors | undefined> | undefined;
let failedAt = Number.NEGATIVE_INFINITY;

/**
 * The table of what words mean, read on first use and kept for the life of the isolate. Searching works without it:
 * where the asset is missing or cannot be read, words alone decide.
 */
export async function wordVectors(assets: Env["ASSETS"] | undefined): Promise<WordVectors | undefined> {
  if (assets === undefined || Date.now() - failedAt < retryAfterMs) return undefined;
  loaded ??= load(assets);
  const vectors = await loaded;
  if (vectors === undefined) {
    loaded = undefined;
    failedAt = Date.now();
  }
  return vectors;
}

async function load(assets: Env["ASSETS"]): Promise<WordVectors | undefined> {
  try {
    // Only the path counts: the binding leads nowhere but to this deployment's own files.
    const response = await assets.fetch("https://assets.invalid/word-vectors.bin");
    if (response.ok) return readVectors(await response.arrayBuffer());
    await response.body?.cancel();
    console.error(JSON.stringify({ event: "word-vectors", status: response.status }));
  } catch (error) {
    console.error(JSON.stringify({ event: "word-vectors", error: String(error) }));
  }
  return undefined;
}
