import { type TermWeights, weightSteps } from "./term-weights.ts";

/**
 * What words mean, as far as a table of them can say: a vector for each of some forty thousand terms, so that "photo"
 * is found near "picture". Made by tools/word-vectors; its head names the layout.
 */
export interface WordVectors extends VectorTable {
  dimensions: number;
  /** Neighbours of each term. */
  around: number;
  /** Hash of a term → its row. */
  rows: ReadonlyMap<number, number>;
}

/** A row for each term, by its hash. */
export interface VectorTable {
  hashes: Uint32Array;
  /** What a step of a value is worth. */
  scales: Float32Array;
  /** The rows of the terms nearest in meaning; `noRow` where there are fewer. */
  neighbours: Uint16Array;
  values: Int8Array;
}

export const noRow = 0xffff;
const magic = 0x31_56_43_52; // "RCV1", read as a little-endian number
const headBytes = 16;

/** Head (magic, rows, dimensions, neighbours), then the columns. Nothing where it is not such a table. */
export function readVectors(buffer: ArrayBuffer): WordVectors | undefined {
  if (buffer.byteLength < headBytes) return undefined;
  const [found, count = 0, dimensions = 0, around = 0] = new Uint32Array(buffer, 0, 4);
  if (found !== magic || buffer.byteLength !== headBytes + count * (8 + 2 * around + dimensions)) return undefined;
  const columns = columnsOf(buffer, count, dimensions, around);
  if (!columns.scales.every(Number.isFinite) || !columns.neighbours.every((row) => row < count || row === noRow)) {
    return undefined;
  }
  const rows = new Map<number, number>();
  columns.hashes.forEach((hash, row) => {
    rows.set(hash, row);
  });
  return { ...columns, dimensions, around, rows };
}

export function writeVectors({ hashes, scales, neighbours, values }: VectorTable): ArrayBuffer {
  const count = hashes.length;
  const [dimensions, around] = count === 0 ? [0, 0] : [values.length / count, neighbours.length / count];
  const buffer = new ArrayBuffer(headBytes + 8 * count + 2 * neighbours.length + values.length);
  new Uint32Array(buffer, 0, 4).set([magic, count, dimensions, around]);
  const columns = columnsOf(buffer, count, dimensions, around);
  columns.hashes.set(hashes);
  columns.scales.set(scales);
  columns.neighbours.set(neighbours);
  columns.values.set(values);
  return buffer;
}

function columnsOf(buffer: ArrayBuffer, count: number, dimensions: number, around: number): VectorTable {
  const scalesAt = headBytes + 4 * count;
  const neighboursAt = scalesAt + 4 * count;
  return {
    hashes: new Uint32Array(buffer, headBytes, count),
    scales: new Float32Array(buffer, scalesAt, count),
    neighbours: new Uint16Array(buffer, neighboursAt, around * count),
    values: new Int8Array(buffer, neighboursAt + 2 * around * count, count * dimensions),
  };
}

/** The terms nearest in meaning to one, as hashes, the nearest first. */
export function neighboursOf({ rows, hashes, neighbours, around }: WordVectors, hash: number): number[] {
  const row = rows.get(hash);
  if (row === undefined) return [];
  const near = neighbours.subarray(row * around, (row + 1) * around);
  return Array.from(near).flatMap((other) => (other === noRow ? [] : [hashes[other] as number]));
}

/** The direction of some terms together; all zeros where the table knows none of them. */
export function vectorOf(vectors: WordVectors, hashes: Iterable<number>): Float32Array {
  const sum = new Float32Array(vectors.dimensions);
  for (const hash of hashes) add(sum, vectors, hash, 1);
  return normalised(sum);
}

/** Of an item: a term that weighs four times as much counts twice. */
export function meaningOfBag(vectors: WordVectors, { hashes, weights }: TermWeights): Float32Array {
  const sum = new Float32Array(vectors.dimensions);
  for (let at = 0; at < hashes.length; at += 1) {
    add(sum, vectors, hashes[at] as number, Math.sqrt((weights[at] as number) / weightSteps));
  }
  return normalised(sum);
}

/** From -1 to 1; 0 where either side means nothing known. */
export function cosine(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] as number) * (b[at] as number);
  return sum;
}

function add(sum: Float32Array, { dimensions, rows, scales, values }: WordVectors, hash: number, weight: number): void {
  const row = rows.get(hash);
  if (row === undefined) return;
  const scale = weight * (scales[row] as number);
  const start = row * dimensions;
  for (let at = 0; at < dimensions; at += 1) {
    sum[at] = (sum[at] as number) + scale * (values[start + at] as number);
  }
}

function normalised(vector: Float32Array): Float32Array {
  const length = Math.sqrt(cosine(vector, vector));
  if (length === 0) return vector;
  for (let at = 0; at < vector.length; at += 1) vector[at] = (vector[at] as number) / length;
  return vector;
}
