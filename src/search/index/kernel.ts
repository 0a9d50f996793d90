/** Numbers of a meaning vector. */
export const dimensions = 128;

/** Computes dot products of int8 vectors, the costly part of weighing every item by meaning. */
export interface DotKernel {
  /** Writes to each of `outs` the dot product of every row of `rows` with the query at the same place in `queries`. */
  dots(rows: Int8Array, queries: readonly Int8Array[], outs: readonly Int32Array[]): void;
}

/** Without WebAssembly, about twenty times slower: for tests and commands. */
export const plainKernel: DotKernel = {
  dots(rows, queries, outs) {
    const count = rows.length / dimensions;
    queries.forEach((query, which) => {
      const out = outs[which] as Int32Array;
      for (let row = 0; row < count; row += 1) {
        const start = row * dimensions;
        let sum = 0;
        for (let at = 0; at < dimensions; at += 1) sum += (rows[start + at] as number) * (query[at] as number);
        out[row] = sum;
      }
    });
  },
};

/** Where things are in the memory of the module: one query, the results, and the rows, which take most of three pages. */
const queryAt = 0;
const outAt = dimensions;
const rowsAtOnce = 1_024;
const rowsAt = 8_192;

/**
 * A kernel of SIMD instructions, from dots.wasm. Rows are copied into its memory some at a time: so any number of indexes
 * share one small memory, and are freed like other arrays.
 */
export function createWasmKernel(module: WebAssembly.Module): DotKernel {
  const { memory, dots } = new WebAssembly.Instance(module).exports as {
    memory: WebAssembly.Memory;
    dots(rows: number, count: number, query: number, out: number): void;
  };
  const bytes = new Int8Array(memory.buffer);
  const found = new Int32Array(memory.buffer, outAt, rowsAtOnce);
  return {
    dots(rows, queries, outs) {
      const count = rows.length / dimensions;
      for (let start = 0; start < count; start += rowsAtOnce) {
        const here = Math.min(rowsAtOnce, count - start);
        bytes.set(rows.subarray(start * dimensions, (start + here) * dimensions), rowsAt);
        queries.forEach((query, which) => {
          bytes.set(query, queryAt);
          dots(rowsAt, here, queryAt, outAt);
          outs[which]?.set(here === rowsAtOnce ? found : found.subarray(0, here), start);
        });
      }
    },
  };
}

let installed = plainKernel;

/** Called once, by the entry of the Worker: the platform gives objects their bindings and nothing else. */
export function installKernel(kernel: DotKernel): void {
  installed = kernel;
}

export function installedKernel(): DotKernel {
  return installed;
}
