import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createWasmKernel, dimensions, plainKernel } from "../../../src/search/index/kernel.ts";
import { packVector, readVector, smallVector } from "../../../src/search/index/vector.ts";
import { moduleBytes } from "../../../tools/rank-kernel/module.ts";

const root = join(import.meta.dirname, "../../..");
// Copied: the bytes of a file may be part of a larger buffer.
const committed = new Uint8Array(readFileSync(join(root, "src/search/index/kernel.wasm")));

/** The types are those of the Workers platform, where modules come compiled. */
function compiled(bytes: Uint8Array): WebAssembly.Module {
  const { Module } = WebAssembly as unknown as { Module: new (bytes: Uint8Array) => WebAssembly.Module };
  return new Module(bytes);
}

describe("the kernel in WebAssembly", () => {
  it("is what its script writes", () => {
    expect(committed).toEqual(moduleBytes());
  });

  it("computes what the plain one does, for any number of rows and queries, up to the largest values", () => {
    const kernel = createWasmKernel(compiled(committed));
    const vector = fc.int8Array({ minLength: dimensions, maxLength: dimensions, min: -127, max: 127 });
    const edge = fc.constantFrom(new Int8Array(dimensions).fill(127), new Int8Array(dimensions).fill(-127));
    const any = fc.oneof(vector, edge);
    fc.assert(
      fc.property(
        fc.array(any, { maxLength: 20 }),
        fc.array(any, { maxLength: 9 }),
        fc.nat(2),
        (some, queries, more) => {
          // More rows than the module takes at once.
          const list = Array.from({ length: 1 + more * 600 }).flatMap(() => some);
          const vectors = new Int8Array(list.length * dimensions);
          list.forEach((row, at) => {
            vectors.set(row, at * dimensions);
          });
          const scales = Float32Array.from(list, (_, at) => (at % 7) / 1_000);
          const asked = queries.map((values, at) => ({ values, scale: 0.007 / (at + 1) }));
          const outs = () => queries.map(() => new Float32Array(list.length));
          const [fast, plain] = [outs(), outs()];
          kernel.cosines({ vectors, scales }, asked, fast);
          plainKernel.cosines({ vectors, scales }, asked, plain);
          expect(fast).toEqual(plain);
        },
      ),
      { numRuns: 20 },
    );
  });

  it("blends what the plain one does, for any number of items", () => {
    const kernel = createWasmKernel(compiled(committed));
    const share = fc.float({ min: 0, max: 1, noNaN: true });
    const word = fc.oneof(fc.constant(0), share);
    const similarity = fc.float({ min: -1, max: 1, noNaN: true });
    const items = fc.array(fc.tuple(word, similarity, share), { maxLength: 9 });
    const by = fc.record({ perWords: share, perSimilarity: share, least: share });
    fc.assert(
      fc.property(items, by, fc.constantFrom(1, 3_000), (some, blend, times) => {
        const list = Array.from({ length: times }).flatMap(() => some);
        const [words, similarities] = [0, 1].map((at) => Float32Array.from(list, (item) => item[at] ?? 0)) as [
          Float32Array,
          Float32Array,
        ];
        const scores = () => Float32Array.from(list, ([, , score]) => score);
        const [fast, plain] = [scores(), scores()];
        const best = plainKernel.blend(words, similarities, blend, plain);
        expect(kernel.blend(words, similarities, blend, fast)).toBe(best);
        expect(kernel.blend(words, similarities, blend)).toBe(best);
        expect(fast).toEqual(plain);
        expect(kernel.highest(similarities)).toBe(plainKernel.highest(similarities));
      }),
      { numRuns: 50 },
    );
  });
});

describe("a small vector", () => {
  it("keeps what it is, to within a step", () => {
    fc.assert(
      fc.property(
        fc.float32Array({ minLength: dimensions, maxLength: dimensions, min: -1, max: 1, noNaN: true }),
        (vector) => {
          const { values, scale } = smallVector(vector);
          values.forEach((value, at) => {
            expect(Math.abs(value * scale - (vector[at] ?? 0))).toBeLessThanOrEqual(scale / 2 + 1e-6);
          });
          const read = readVector(packVector(vector));
          expect(read?.values).toEqual(values);
        },
      ),
    );
  });

  it("is read from nothing else, and may be all zeros", () => {
    expect(readVector(new ArrayBuffer(4))).toBeUndefined();
    expect(smallVector(new Float32Array(dimensions)).scale).toBe(0);
  });
});
