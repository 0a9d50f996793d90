/**
 * Writes the WebAssembly module of the search kernel, src/search/index/dots.wasm: dot products of int8 vectors of 128
 * numbers, 16 numbers at a time. By hand, because it is one function: a compiler for it would be a thousand times larger.
 *
 *   dots(rows, count, query, out): for each of `count` rows of 128 bytes, the dot product with the query as an i32
 */

/** Registers of 16 bytes that a vector fills. */
const registers = 8;
const [rows, count, query, out] = [0, 1, 2, 3];
/** Locals after the parameters: the query, then the sum. */
const queryLocal = 4;
const sum = queryLocal + registers;
const [i32, v128] = [0x7f, 0x7b];

const get = (local: number) => [0x20, local];
const set = (local: number) => [0x21, local];
const constant = (value: number) => [0x41, ...signed(value)];
const simd = (code: number, ...rest: number[]) => [0xfd, ...unsigned(code), ...rest];
/** Loads of 16 bytes at a multiple of 16; what is read is aligned that way. */
const load = (offset: number) => simd(0x00, 4, ...unsigned(offset));
const extmulLow = simd(0x9c);
const extmulHigh = simd(0x9d);
const add16 = simd(0x8e);
const addPairs = simd(0x7e);
const add32 = simd(0xae);
const lane = (which: number) => simd(0x1b, which);
const addInt = [0x6a];

function code(): number[] {
  const register = Array.from({ length: registers }, (_, at) => at);
  return [
    ...register.flatMap((at) => [...get(query), ...load(16 * at), ...set(queryLocal + at)]),
    ...[0x02, 0x40, 0x03, 0x40],
    // Leave the loop when no row is left.
    ...[...get(count), 0x45, 0x0d, 1],
    // Two products of values up to 127 fit 16 bits; pairs of those are added up in 32.
    ...register.flatMap((at) => {
      const row = [...get(rows), ...load(16 * at), ...get(queryLocal + at)];
      const products = [...row, ...extmulLow, ...row, ...extmulHigh, ...add16, ...addPairs];
      return [...products, ...(at === 0 ? [] : add32)];
    }),
    ...set(sum),
    ...get(out),
    ...[0, 1, 2, 3].flatMap((which) => [...get(sum), ...lane(which), ...(which === 0 ? [] : addInt)]),
    ...[0x36, 2, 0],
    ...[...get(rows), ...constant(16 * registers), ...addInt, ...set(rows)],
    ...[...get(out), ...constant(4), ...addInt, ...set(out)],
    ...[...get(count), ...constant(-1), ...addInt, ...set(count)],
    ...[0x0c, 0, 0x0b, 0x0b, 0x0b],
  ];
}

/** Pages of memory: `createWasmKernel` says what is where. */
const pages = 3;

export function moduleBytes(): Uint8Array {
  const locals = [2, registers, v128, 1, v128];
  const body = [...locals, ...code()];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 4, i32, i32, i32, i32, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, pages]),
    ...section(7, [2, ...name("memory"), 2, 0, ...name("dots"), 0, 0]),
    ...section(10, [1, ...unsigned(body.length), ...body]),
  ]);
}

function section(id: number, content: number[]): number[] {
  return [id, ...unsigned(content.length), ...content];
}

function name(text: string): number[] {
  return [text.length, ...new TextEncoder().encode(text)];
}

/** LEB128. */
function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  const byte = value & 0x7f;
  const rest = value >> 7;
  const isLast = (rest === 0 && (byte & 0x40) === 0) || (rest === -1 && (byte & 0x40) !== 0);
  return isLast ? [byte] : [byte | 0x80, ...signed(rest)];
}
