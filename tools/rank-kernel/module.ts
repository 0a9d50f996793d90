import { blend, cosines, highest } from "./functions.ts";
import { f32, i32, unsigned } from "./instructions.ts";

/**
 * Writes the WebAssembly module of the search kernel, src/search/index/kernel.wasm. By hand, because it is three short
 * functions: a compiler for them would be a thousand times larger.
 */
export function moduleBytes(): Uint8Array {
  const functions = [cosines(), highest(), blend()];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [
      3,
      ...signature([i32, i32, i32, i32, i32, f32], []),
      ...signature([i32, i32], [f32]),
      ...signature([i32, i32, i32, i32, f32, f32, f32], [f32]),
    ]),
    ...section(3, [3, 0, 1, 2]),
    ...section(5, [1, 0, pages]),
    ...section(7, [
      4,
      ...name("memory"),
      2,
      0,
      ...exported("cosines", 0),
      ...exported("highest", 1),
      ...exported("blend", 2),
    ]),
    ...section(10, [functions.length, ...functions.flatMap((body) => [...unsigned(body.length), ...body])]),
  ]);
}

/** Pages of memory: `createWasmKernel` says what is where. */
const pages = 3;

function signature(parameters: readonly number[], results: readonly number[]): number[] {
  return [0x60, parameters.length, ...parameters, results.length, ...results];
}

function section(id: number, content: number[]): number[] {
  return [id, ...unsigned(content.length), ...content];
}

function exported(text: string, number: number): number[] {
  return [...name(text), 0, number];
}

function name(text: string): number[] {
  return [text.length, ...new TextEncoder().encode(text)];
}
