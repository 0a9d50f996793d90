/**
 * Makes assets/word-vectors.bin: a vector for every term of some texts, such that the terms of a text add up to what a
 * sentence encoder says of the whole. Ridge regression, solved by conjugate gradients; the same input gives the same
 * table.
 *
 *   node tools/word-vectors/distil.ts TEXTS.ndjson TARGETS.f32 OUT.bin [--dimensions 128]
 *
 * TEXTS has one JSON string a line, TARGETS a row of little-endian floats for each, as teach.py writes them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { hashOf } from "../../src/search/term-weights.ts";
import { termsOf } from "../../src/search/terms.ts";
import { cosine, noRow, readVectors, vectorOf, writeVectors } from "../../src/search/word-vectors.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { dimensions: { type: "string", default: "128" } },
});
const [textsFile, targetsFile, outFile] = positionals;
if (textsFile === undefined || targetsFile === undefined || outFile === undefined) {
  console.error("distil.ts TEXTS.ndjson TARGETS.f32 OUT.bin [--dimensions 128]");
  process.exit(2);
}
const dimensions = Number(values.dimensions);
const targetDimensions = 384;
/** Holds vectors of rare terms back: they are known from few texts. */
const restraint = 0.3;
const rounds = 120;
/** Terms nearest in meaning that are kept for each; only such as are known from this many texts. */
const around = 6;
const fewestTexts = 8;

const targets = floatsOf(targetsFile);
const count = targets.length / targetDimensions;
const texts = readFileSync(textsFile, "utf8")
  .trim()
  .split("\n")
  .slice(0, count)
  .map((line) => JSON.parse(line) as string);
console.error(`${texts.length} texts`);

const columns = new Map<string, number>();
const bags = texts.map((text) => {
  const bag = new Map<number, number>();
  for (const term of termsOf(text)) {
    if (!columns.has(term)) columns.set(term, columns.size);
    const column = columns.get(term) as number;
    bag.set(column, (bag.get(column) ?? 0) + 1);
  }
  return bag;
});
/** In how many texts each term is. */
const occurrences = new Uint32Array(columns.size);
for (const bag of bags) for (const column of bag.keys()) occurrences[column] += 1;

const matrix = sparse(bags, columns.size);
const wanted = reduced(targets, count, targetDimensions, dimensions);
const solution = solve(matrix, wanted, dimensions);
writeTable([...columns.keys()], solution);

/** A sparse matrix by rows; each row is scaled by the root of its length, as sums of unlike vectors grow. */
interface Sparse {
  rows: number;
  columns: number;
  starts: Uint32Array;
  indices: Uint32Array;
  values: Float32Array;
}

function sparse(list: readonly Map<number, number>[], width: number): Sparse {
  const size = list.reduce((sum, bag) => sum + bag.size, 0);
  const starts = new Uint32Array(list.length + 1);
  const indices = new Uint32Array(size);
  const entries = new Float32Array(size);
  let at = 0;
  list.forEach((bag, row) => {
    const length = Math.sqrt([...bag.values()].reduce((sum, times) => sum + times, 0));
    for (const [column, times] of bag) {
      indices[at] = column;
      entries[at] = times / length;
      at += 1;
    }
    starts[row + 1] = at;
  });
  return { rows: list.length, columns: width, starts, indices, values: entries };
}

function times(a: Sparse, x: Float32Array, k: number): Float32Array {
  const out = new Float32Array(a.rows * k);
  eachEntry(a, (row, column, value) => {
    for (let at = 0; at < k; at += 1) out[row * k + at] += value * x[column * k + at];
  });
  return out;
}

function transposedTimes(a: Sparse, y: Float32Array, k: number): Float32Array {
  const out = new Float32Array(a.columns * k);
  eachEntry(a, (row, column, value) => {
    for (let at = 0; at < k; at += 1) out[column * k + at] += value * y[row * k + at];
  });
  return out;
}

function eachEntry(a: Sparse, visit: (row: number, column: number, value: number) => void): void {
  for (let row = 0; row < a.rows; row += 1) {
    for (let at = a.starts[row]; at < a.starts[row + 1]; at += 1) visit(row, a.indices[at], a.values[at]);
  }
}

/** The targets less their mean, turned to their widest directions, each of length one. */
function reduced(rows: Float32Array, n: number, from: number, to: number): Float32Array {
  const mean = new Float64Array(from);
  for (let row = 0; row < n; row += 1) for (let at = 0; at < from; at += 1) mean[at] += rows[row * from + at] / n;
  const spread = new Float64Array(from * from);
  const step = Math.max(1, Math.floor(n / 20_000));
  for (let row = 0; row < n; row += step) {
    for (let i = 0; i < from; i += 1) {
      const left = rows[row * from + i] - mean[i];
      for (let j = 0; j < from; j += 1) spread[i * from + j] += left * (rows[row * from + j] - mean[j]);
    }
  }
  const directions = widest(spread, from, to);
  const out = new Float32Array(n * to);
  for (let row = 0; row < n; row += 1) {
    let length = 0;
    for (let k = 0; k < to; k += 1) {
      let sum = 0;
      for (let at = 0; at < from; at += 1) sum += (rows[row * from + at] - mean[at]) * directions[k * from + at];
      out[row * to + k] = sum;
      length += sum * sum;
    }
    for (let k = 0; k < to; k += 1) out[row * to + k] /= Math.sqrt(length) || 1;
  }
  return out;
}

/** The leading directions of a symmetric matrix, by repeated multiplication and orthogonalisation. */
function widest(square: Float64Array, size: number, k: number): Float64Array {
  const vectors = new Float64Array(k * size);
  // Any start that is not special will do, as long as it is the same each time.
  for (let at = 0; at < vectors.length; at += 1) vectors[at] = Math.sin(at * 12.9898 + 1) * 0.5;
  for (let round = 0; round < 60; round += 1) {
    const next = new Float64Array(k * size);
    for (let v = 0; v < k; v += 1) {
      for (let i = 0; i < size; i += 1) {
        let sum = 0;
        for (let j = 0; j < size; j += 1) sum += square[i * size + j] * vectors[v * size + j];
        next[v * size + i] = sum;
      }
    }
    for (let v = 0; v < k; v += 1) {
      for (let u = 0; u < v; u += 1) {
        let dot = 0;
        for (let i = 0; i < size; i += 1) dot += next[v * size + i] * next[u * size + i];
        for (let i = 0; i < size; i += 1) next[v * size + i] -= dot * next[u * size + i];
      }
      let length = 0;
      for (let i = 0; i < size; i += 1) length += next[v * size + i] ** 2;
      for (let i = 0; i < size; i += 1) next[v * size + i] /= Math.sqrt(length) || 1;
    }
    vectors.set(next);
  }
  return vectors;
}

/** The vectors E that make |X E - T|² + restraint |E|² least, all dimensions at once. */
function solve(x: Sparse, t: Float32Array, k: number): Float32Array {
  const e = new Float32Array(x.columns * k);
  const residual = transposedTimes(x, t, k);
  const direction = residual.slice();
  let size = dots(residual, residual, k);
  for (let round = 0; round < rounds; round += 1) {
    const pushed = transposedTimes(x, times(x, direction, k), k);
    for (let at = 0; at < pushed.length; at += 1) pushed[at] += restraint * direction[at];
    const along = dots(direction, pushed, k);
    for (let at = 0; at < e.length; at += 1) {
      const step = size[at % k] / Math.max(along[at % k], 1e-12);
      e[at] += step * direction[at];
      residual[at] -= step * pushed[at];
    }
    const next = dots(residual, residual, k);
    for (let at = 0; at < e.length; at += 1) {
      direction[at] = residual[at] + (next[at % k] / Math.max(size[at % k], 1e-12)) * direction[at];
    }
    size = next;
    if (round % 10 === 9)
      console.error(`round ${round + 1}: residual ${Math.sqrt(size.reduce((sum, s) => sum + s, 0)).toFixed(4)}`);
  }
  return e;
}

function dots(a: Float32Array, b: Float32Array, k: number): Float64Array {
  const sums = new Float64Array(k);
  for (let at = 0; at < a.length; at += 1) sums[at % k] += a[at] * b[at];
  return sums;
}

/** A byte a dimension, with one scale a term. Terms of which next to nothing is known are left out. */
function writeTable(terms: readonly string[], vectors: Float32Array): void {
  const kept = new Map<number, { peak: number; row: number }>();
  terms.forEach((term, row) => {
    const vector = vectors.subarray(row * dimensions, (row + 1) * dimensions);
    const peak = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    if (peak > 1e-3) kept.set(hashOf(term), { peak, row });
  });
  const rows = [...kept].sort(([a], [b]) => a - b);
  const bytes = new Int8Array(rows.length * dimensions);
  rows.forEach(([, { peak, row }], index) => {
    for (let at = 0; at < dimensions; at += 1) {
      bytes[index * dimensions + at] = Math.round((127 * vectors[row * dimensions + at]) / peak);
    }
  });
  const table = {
    hashes: Uint32Array.from(rows, ([hash]) => hash),
    scales: Float32Array.from(rows, ([, { peak }]) => peak / 127),
    values: bytes,
  };
  const common = rows.map(([, { row }]) => occurrences[row] >= fewestTexts);
  const neighbours = nearest(table, common);
  const buffer = writeVectors({ ...table, neighbours });
  writeFileSync(outFile as string, new Uint8Array(buffer));
  console.error(`${rows.length} terms, ${buffer.byteLength} bytes`);
}

/** The rows nearest to each row, among the common ones and apart from itself. */
function nearest(
  table: { hashes: Uint32Array; scales: Float32Array; values: Int8Array },
  common: boolean[],
): Uint16Array {
  const vectors = readVectors(writeVectors({ ...table, neighbours: new Uint16Array(0) }));
  if (vectors === undefined || table.hashes.length >= noRow) throw new Error("more terms than rows can be numbered");
  const meanings = Array.from(table.hashes, (hash) => vectorOf(vectors, [hash]));
  const candidates = meanings.flatMap((_, row) => (common[row] ? [row] : []));
  const out = new Uint16Array(table.hashes.length * around).fill(noRow);
  meanings.forEach((meaning, row) => {
    const best: { other: number; near: number }[] = [];
    for (const other of candidates) {
      const near = cosine(meaning, meanings[other]);
      if (other === row || (best.length === around && near <= best[around - 1].near)) continue;
      best.push({ other, near });
      best.sort((a, b) => b.near - a.near);
      best.length = Math.min(best.length, around);
    }
    best.forEach(({ other }, index) => {
      out[row * around + index] = other;
    });
  });
  return out;
}

function floatsOf(file: string): Float32Array {
  const bytes = readFileSync(file);
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}
