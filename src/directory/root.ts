import { z } from "zod";
import { readJson } from "../kernel/read-json.ts";
import { segmentFormat } from "./columns.ts";

const SegmentRef = z.object({
  /** Never used again for another content. */
  id: z.int().min(1),
  bytes: z.int().min(0),
  /** Chunks of documents beside the segment. */
  chunks: z.int().min(0),
});
export type SegmentRef = z.infer<typeof SegmentRef>;

/** Which segments make up the directory at one generation. Small; the only KV value of the directory that changes. */
const Root = z.object({
  epoch: z.string().regex(/^[0-9a-z]{1,16}$/),
  generation: z.int().min(0),
  format: z.int(),
  /** Oldest first: a place in a later segment replaces the place in all before it. */
  segments: z.array(SegmentRef).max(1_000),
  /** How many of each there are, places that later segments replace not counted. */
  frequencies: z.object({ servers: z.int(), cards: z.int(), versions: z.int(), tokens: z.int() }),
});
export type Root = z.infer<typeof Root>;

export const rootKey = "directory/root";

export function segmentKey(epoch: string, id: number): string {
  return `directory/segment/${epoch}/${id}`;
}

export function chunkKey(epoch: string, id: number, chunk: number): string {
  return `directory/documents/${epoch}/${id}/${chunk}`;
}

/** undefined for a root that this code cannot use: damaged, or of another format. */
export function parseRoot(text: string): Root | undefined {
  try {
    const { success, data } = Root.safeParse(readJson(text));
    return success && data.format === segmentFormat ? data : undefined;
  } catch {
    return undefined;
  }
}
