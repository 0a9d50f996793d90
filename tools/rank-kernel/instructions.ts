/** Instructions of WebAssembly, as far as the kernel needs them. */

export const [i32, f32, v128] = [0x7f, 0x7d, 0x7b];

export const get = (local: number) => [0x20, local];
export const set = (local: number) => [0x21, local];
export const integer = (value: number) => [0x41, ...signed(value)];
export const addInteger = [0x6a];
const isZero = [0x45];

export const loadFloat = [0x2a, 2, 0];
export const storeFloat = [0x38, 2, 0];
export const multiplyFloat = [0x94];
export const floatOfInteger = [0xb2];

const simd = (code: number, ...rest: number[]) => [0xfd, ...unsigned(code), ...rest];
/** At a multiple of 16. */
export const load = (offset = 0) => simd(0x00, 4, ...unsigned(offset));
export const store = (offset = 0) => simd(0x0b, 4, ...unsigned(offset));
/** Eight bytes as eight numbers of two. */
export const loadWidened = (offset: number) => simd(0x01, 3, ...unsigned(offset));
/** Products of eight pairs, neighbours added up. */
export const dot = simd(0xba);
export const addIntegers = simd(0xae);
export const integerLane = (which: number) => simd(0x1b, which);

export const floats = simd(0x13);
export const floatLane = (which: number) => simd(0x1f, which);
export const isAbove = simd(0x44);
export const isAtLeast = simd(0x46);
export const and = simd(0x4e);
export const or = simd(0x50);
export const addFloats = simd(0xe4);
export const multiplyFloats = simd(0xe6);
/** Of each pair the second if it is higher, else the first. */
export const higher = simd(0xeb);
export const zeros = [...integer(0), ...simd(0x11)];

/** Repeats until the local is zero; the body counts it down. */
export function whileAny(local: number, body: readonly number[]): number[] {
  return [0x02, 0x40, 0x03, 0x40, ...get(local), ...isZero, 0x0d, 1, ...body, 0x0c, 0, 0x0b, 0x0b];
}

export function step(local: number, by: number): number[] {
  return [...get(local), ...integer(by), ...addInteger, ...set(local)];
}

/** A function body with its locals: how many of which type. */
export function body(locals: readonly (readonly [count: number, type: number])[], code: readonly number[]): number[] {
  return [locals.length, ...locals.flat(), ...code, 0x0b];
}

/** LEB128. */
export function unsigned(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  const byte = value & 0x7f;
  const rest = value >> 7;
  const isLast = (rest === 0 && (byte & 0x40) === 0) || (rest === -1 && (byte & 0x40) !== 0);
  return isLast ? [byte] : [byte | 0x80, ...signed(rest)];
}
