import { glob } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { Miniflare } from "miniflare";
import type { DataDir } from "../../scripts/data-dir.ts";
import { segmentFormat } from "../../src/directory/columns.ts";
import {
  type EncodedSegment,
  encodeSegment,
  partsOf,
  placeBytes,
  type SegmentPlace,
  targetSegmentBytes,
} from "../../src/directory/encode-segment.ts";
import { HeldPlaces, heldPlace } from "../../src/directory/held-places.ts";
import { chunkKey, type Root, rootKey, segmentKey } from "../../src/directory/root.ts";
import type { Place } from "../../src/directory/rows.ts";
import { compareServers } from "../../src/kernel/names.ts";

const epoch = 1;
const generation = 1;

/**
 * Writes segments with these places, and their root, into a data directory that no server runs on, as if the builder had:
 * publishing so many takes minutes. The object knows of the root, but has no rows of the places: isolates read segments.
 */
export async function writeDirectory(
  { kv, objects }: Pick<DataDir, "kv" | "objects">,
  places: readonly Place[],
): Promise<Root> {
  const batches = batchesOf([...places].sort(compareServers));
  const held = new HeldPlaces();
  const segments = batches.map((batch, index) => {
    held.add(index + 1, batch.map(heldPlace));
    return { id: index + 1, ...encodeSegment(batch, "chunks") };
  });
  const root: Root = {
    ...{ epoch: epoch.toString(36), generation, format: segmentFormat },
    segments: segments.map(({ id, bytes, chunks }) => ({ id, bytes: bytes.byteLength, chunks: chunks.length })),
    frequencies: held.frequencies,
  };
  await writeValues(kv, root, segments);
  const database = new DatabaseSync(await directoryFile(objects));
  const setMeta = database.prepare("UPDATE meta SET value = ? WHERE key = ?");
  for (const key of ["public_generation", "built", "root"]) setMeta.run(generation, key);
  setMeta.run(epoch, "epoch");
  const insert = database.prepare(
    "INSERT INTO segment (id, epoch, state, bytes, chunks, places) VALUES (?, ?, 'live', ?, ?, ?)",
  );
  database.exec("DELETE FROM segment");
  segments.forEach(({ id, bytes, chunks }, index) => {
    const list = JSON.stringify(batches[index]?.map(heldPlace));
    insert.run(id, epoch, bytes.byteLength, chunks.length, list);
  });
  database.close();
  return root;
}

function batchesOf(places: readonly Place[]): SegmentPlace[][] {
  const batches: SegmentPlace[][] = [];
  let left = 0;
  for (const part of places.flatMap(partsOf)) {
    const bytes = placeBytes(part);
    if (bytes > left) {
      batches.push([]);
      left = targetSegmentBytes;
    }
    batches.at(-1)?.push(part);
    left -= bytes;
  }
  return batches;
}

async function writeValues(kv: string, root: Root, segments: readonly ({ id: number } & EncodedSegment)[]) {
  const simulator = new Miniflare({
    ...{ modules: true, script: "export default {}", kvPersist: kv },
    kvNamespaces: { REGISTRY: "REGISTRY" },
  });
  try {
    const values = await simulator.getKVNamespace("REGISTRY");
    for (const { id, bytes, chunks } of segments) {
      for (const [chunk, content] of chunks.entries()) await values.put(chunkKey(root.epoch, id, chunk), content);
      await values.put(segmentKey(root.epoch, id), bytes);
    }
    await values.put(rootKey, JSON.stringify(root));
  } finally {
    await simulator.dispose();
  }
}

async function directoryFile(objects: string): Promise<string> {
  for await (const file of glob(`${objects}/*DirectoryObject/*.sqlite`)) {
    if (!file.endsWith("metadata.sqlite")) return file;
  }
  throw new Error(`No DirectoryObject has tables in ${objects}`);
}
