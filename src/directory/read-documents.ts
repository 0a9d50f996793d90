import type { LoadedSegment } from "./view.ts";

/**
 * The documents of versions of one segment: those in the segment itself, and those in chunks beside it, each read once.
 * undefined if a chunk is missing or too short.
 */
export async function readDocuments(
  { segment, chunkKey: keyOf }: LoadedSegment,
  versions: readonly number[],
  read: (key: string) => Promise<Uint8Array | undefined>,
): Promise<string[] | undefined> {
  const places = versions.map((version) => segment.documentPlace(version));
  const chunks = new Map<number, Uint8Array>();
  for (const { chunk } of places) {
    const key = chunk === undefined || chunks.has(chunk) ? undefined : keyOf?.(chunk);
    if (chunk === undefined || key === undefined) continue;
    const bytes = await read(key);
    if (bytes === undefined) return undefined;
    chunks.set(chunk, bytes);
  }
  const texts = places.map((place) => {
    if (place.chunk === undefined) return segment.ownDocument(place);
    const bytes = chunks.get(place.chunk);
    if (bytes === undefined || bytes.byteLength < place.end) return undefined;
    return new TextDecoder().decode(bytes.subarray(place.start, place.end));
  });
  return texts.every((text) => text !== undefined) ? texts : undefined;
}
