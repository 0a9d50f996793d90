import { dimensions } from "./kernel.ts";

/** A unit vector in int8: a stored value times the scale is the component. */
export interface SmallVector {
  values: Int8Array;
  scale: number;
}

/** Bytes of a stored vector: its scale, then its values. */
export const vectorBytes = 4 + dimensions;

export function smallVector(vector: Float32Array): SmallVector {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const scale = largest / 127;
  return { values: Int8Array.from(vector, (value) => (scale === 0 ? 0 : Math.round(value / scale))), scale };
}

/** A vector as stored beside its card. */
export function packVector(vector: Float32Array): ArrayBuffer {
  const { values, scale } = smallVector(vector);
  const buffer = new ArrayBuffer(vectorBytes);
  new Float32Array(buffer, 0, 1)[0] = scale;
  new Int8Array(buffer, 4).set(values);
  return buffer;
}

/** undefined if the buffer is not a vector of this size. */
export function readVector(buffer: ArrayBuffer): SmallVector | undefined {
  if (buffer.byteLength !== vectorBytes) return undefined;
  const scale = new Float32Array(buffer, 0, 1)[0] ?? 0;
  return { values: new Int8Array(buffer, 4), scale: Number.isFinite(scale) ? scale : 0 };
}
