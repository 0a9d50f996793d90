import {
  addFloats,
  addInteger,
  addIntegers,
  and,
  body,
  dot,
  floatLane,
  floatOfInteger,
  floats,
  get,
  higher,
  integerLane,
  isAbove,
  isAtLeast,
  load,
  loadFloat,
  loadWidened,
  multiplyFloat,
  multiplyFloats,
  or,
  set,
  step,
  store,
  storeFloat,
  v128,
  whileAny,
  zeros,
} from "./instructions.ts";

/** Numbers of a vector; a row has one byte for each. */
const dimensions = 128;

/**
 * cosines(rows, count, query, scales, out, by): for each of `count` rows the dot product with the query, whose numbers have
 * two bytes, times `by` and the scale of the row.
 */
export function cosines(): number[] {
  const [rows, count, query, scales, out, by, sum] = [0, 1, 2, 3, 4, 5, 6];
  const eights = Array.from({ length: dimensions / 8 }, (_, at) => at);
  const product = (at: number) => [...get(rows), ...loadWidened(8 * at), ...get(query), ...load(16 * at), ...dot];
  return body(
    [[1, v128]],
    whileAny(count, [
      ...eights.flatMap((at) => [...product(at), ...(at === 0 ? [] : addIntegers)]),
      ...set(sum),
      ...get(out),
      ...[0, 1, 2, 3].flatMap((lane) => [...get(sum), ...integerLane(lane), ...(lane === 0 ? [] : addInteger)]),
      ...[...floatOfInteger, ...get(by), ...multiplyFloat],
      ...[...get(scales), ...loadFloat, ...multiplyFloat, ...storeFloat],
      ...step(rows, dimensions),
      ...step(scales, 4),
      ...step(out, 4),
      ...step(count, -1),
    ]),
  );
}

/** highest(values, count) → the highest of `count` values, a multiple of four; 0 if none is above. */
export function highest(): number[] {
  const [values, count, most] = [0, 1, 2];
  return body(
    [[1, v128]],
    [
      ...whileAny(count, [
        ...[...get(most), ...get(values), ...load(), ...higher, ...set(most)],
        ...step(values, 16),
        ...step(count, -4),
      ]),
      ...highestLane(most),
    ],
  );
}

/**
 * blend(words, similarities, scores, count, perWords, perSimilarity, least) → the highest score. Raises each of `count`
 * scores, a multiple of four, to words × perWords + similarity × perSimilarity where there are words or the similarity is
 * `least` at least.
 */
export function blend(): number[] {
  const [words, similarities, scores, count, perWords, perSimilarity, least] = [0, 1, 2, 3, 4, 5, 6];
  const [word, similarity, score, most] = [7, 8, 9, 10];
  return body(
    [[4, v128]],
    [
      ...whileAny(count, [
        ...[...get(words), ...load(), ...set(word), ...get(similarities), ...load(), ...set(similarity)],
        ...[...get(word), ...get(perWords), ...floats, ...multiplyFloats],
        ...[...zeros, ...get(similarity), ...higher, ...get(perSimilarity), ...floats, ...multiplyFloats, ...addFloats],
        ...[
          ...get(word),
          ...zeros,
          ...isAbove,
          ...get(similarity),
          ...get(least),
          ...floats,
          ...isAtLeast,
          ...or,
          ...and,
        ],
        ...set(score),
        ...[...get(most), ...get(score), ...higher, ...set(most)],
        ...[...get(scores), ...get(scores), ...load(), ...get(score), ...higher, ...store()],
        ...step(words, 16),
        ...step(similarities, 16),
        ...step(scores, 16),
        ...step(count, -4),
      ]),
      ...highestLane(most),
    ],
  );
}

/** The highest of the four values of a local. */
function highestLane(local: number): number[] {
  const max = [0x97];
  return [0, 1, 2, 3].flatMap((lane) => [...get(local), ...floatLane(lane), ...(lane === 0 ? [] : max)]);
}
