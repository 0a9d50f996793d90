/** Numbers of a meaning vector. */
export const dimensions = 128;

/** What a clause of a task is worth to an item: its words times a factor, and its similarity times another. */
export interface Blend {
  perWords: number;
  perSimilarity: number;
  /** An item that shares no word is not found unless it is so similar. */
  least: number;
}

/** The parts of ranking that go through every item. All values are stored as floats of 32 bits. */
export interface RankKernel {
  /** Writes to each of `outs` the cosine of every row with the query at the same place in `queries`. */
  cosines(rows: Rows, queries: readonly Query[], outs: readonly Float32Array[]): void;
  /** The highest of some values; 0 if none is above. */
  highest(values: Float32Array): number;
  /** The highest score that any item has by a clause; raises all scores to those by this clause, if there are any. */
  blend(words: Float32Array, similarities: Float32Array, by: Blend, scores?: Float32Array): number;
}

/** Vectors of int8 one after the other; a value times the scale of its row is the component. */
export interface Rows {
  vectors: Int8Array;
  scales: Float32Array;
}

interface Query {
  values: Int8Array;
  scale: number;
}

const { fround } = Math;

/** Without WebAssembly, many times slower: for tests and commands. Computes the same to the last bit. */
export const plainKernel: RankKernel = {
  cosines({ vectors, scales }, queries, outs) {
    queries.forEach(({ values, scale }, which) => {
      const out = outs[which] as Float32Array;
      for (let row = 0; row < scales.length; row += 1) {
        const start = row * dimensions;
        let sum = 0;
        for (let at = 0; at < dimensions; at += 1) sum += (vectors[start + at] as number) * (values[at] as number);
        out[row] = fround(sum * fround(scale)) * (scales[row] as number);
      }
    });
  },
  highest: (values) => values.reduce((most, value) => Math.max(most, value), 0),
  blend(words, similarities, by, scores) {
    const [perWords, perSimilarity, least] = [fround(by.perWords), fround(by.perSimilarity), fround(by.least)];
    let most = 0;
    for (let item = 0; item < words.length; item += 1) {
      const [word, similarity] = [words[item] as number, similarities[item] as number];
      if (word === 0 && similarity < least) continue;
      const score = fround(fround(word * perWords) + fround(Math.max(0, similarity) * perSimilarity));
      if (score > most) most = score;
      if (scores !== undefined && score > (scores[item] as number)) scores[item] = score;
    }
    return most;
  },
};

/** Where things are in the memory of the module, by what is computed; it has three pages. */
const memoryOf = {
  query: 0,
  similarities: 1_024,
  scales: 8_192,
  rows: 16_384,
  rowsAtOnce: 1_024,
  blended: [16_384, 65_536, 114_688],
  blendedAtOnce: 8_192,
} as const;

interface Exports {
  memory: WebAssembly.Memory;
  cosines(rows: number, count: number, query: number, scales: number, out: number, by: number): void;
  highest(values: number, count: number): number;
  blend(words: number, similarities: number, scores: number, count: number, ...by: number[]): number;
}

/**
 * A kernel of SIMD instructions, from kernel.wasm. What is computed is copied into its memory some at a time: so any number
 * of indexes share one small memory, and are freed like other arrays.
 */
export function createWasmKernel(module: WebAssembly.Module): RankKernel {
  const kernel = new WebAssembly.Instance(module).exports as unknown as Exports;
  const { buffer } = kernel.memory;
  return {
    cosines({ vectors, scales }, queries, outs) {
      const { rowsAtOnce } = memoryOf;
      const rows = new Int8Array(buffer, memoryOf.rows, rowsAtOnce * dimensions);
      const rowScales = new Float32Array(buffer, memoryOf.scales, rowsAtOnce);
      const query = new Int16Array(buffer, memoryOf.query, dimensions);
      const found = new Float32Array(buffer, memoryOf.similarities, rowsAtOnce);
      for (let start = 0; start < scales.length; start += rowsAtOnce) {
        const end = Math.min(start + rowsAtOnce, scales.length);
        rows.set(vectors.subarray(start * dimensions, end * dimensions));
        rowScales.set(scales.subarray(start, end));
        queries.forEach(({ values, scale }, which) => {
          query.set(values);
          const { rows: rowsAt, query: queryAt, scales: scalesAt, similarities } = memoryOf;
          kernel.cosines(rowsAt, end - start, queryAt, scalesAt, similarities, scale);
          outs[which]?.set(end - start === rowsAtOnce ? found : found.subarray(0, end - start), start);
        });
      }
    },
    highest(values) {
      const [at] = memoryOf.blended;
      const block = new Float32Array(buffer, at, memoryOf.blendedAtOnce);
      let most = 0;
      for (let start = 0; start < values.length; start += block.length) {
        most = Math.max(most, kernel.highest(at, copyIn(block, values, start)));
      }
      return most;
    },
    blend(words, similarities, { perWords, perSimilarity, least }, scores) {
      const [wordsAt, similaritiesAt, scoresAt] = memoryOf.blended;
      const [word, similarity, score] = memoryOf.blended.map(
        (at) => new Float32Array(buffer, at, memoryOf.blendedAtOnce),
      ) as [Float32Array, Float32Array, Float32Array];
      let most = 0;
      for (let start = 0; start < words.length; start += score.length) {
        const count = copyIn(word, words, start);
        copyIn(similarity, similarities, start);
        if (scores !== undefined) copyIn(score, scores, start);
        const here = kernel.blend(wordsAt, similaritiesAt, scoresAt, count, perWords, perSimilarity, least);
        most = Math.max(most, here);
        scores?.set(score.subarray(0, scores.length - start), start);
      }
      return most;
    },
  };
}

/** Copies a block of values, filled up with zeros to a multiple of four; returns how many there are then. */
function copyIn(block: Float32Array, values: Float32Array, start: number): number {
  const end = Math.min(start + block.length, values.length);
  block.set(values.subarray(start, end));
  const count = Math.ceil((end - start) / 4) * 4;
  block.fill(0, end - start, count);
  return count;
}

let installed = plainKernel;

/** Called once, by the entry of the Worker: the platform gives objects their bindings and nothing else. */
export function installKernel(kernel: RankKernel): void {
  installed = kernel;
}

export function installedKernel(): RankKernel {
  return installed;
}
