/**
 * The container of a segment: named sections of bytes behind a header with format, length and checksum. Sections start
 * at multiples of eight, so that typed arrays can be views of the value as it was read.
 */

const magic = 0x47455352;
/** Raise it whenever the sections or their meaning change: readers of another format ask the object instead. */
export const segmentFormat = 1;
/** Largest segment. KV allows 25 MiB; an isolate decodes one value at a time beside everything else. */
export const maxSegmentBytes = 8 * 1024 * 1024;

const headerBytes = 24;
const entryBytes = 12;

export type Sections = Map<number, Uint8Array>;

export type Unreadable = "truncated" | "corrupt" | "unknown format" | "too large";

export function packSections(sections: Sections): Uint8Array {
  const tableBytes = headerBytes + entryBytes * sections.size;
  let length = aligned(tableBytes);
  const places = Array.from(sections, ([tag, bytes]) => {
    const at = length;
    length = aligned(length + bytes.byteLength);
    return { tag, at, bytes };
  });
  const packed = new Uint8Array(length);
  const view = new DataView(packed.buffer);
  places.forEach(({ tag, at, bytes }, index) => {
    const entry = headerBytes + entryBytes * index;
    view.setUint32(entry, tag, true);
    view.setUint32(entry + 4, at, true);
    view.setUint32(entry + 8, bytes.byteLength, true);
    packed.set(bytes, at);
  });
  [magic, segmentFormat, length, 0, sections.size, 0].forEach((value, index) => {
    view.setUint32(4 * index, value, true);
  });
  view.setUint32(12, checksum(packed), true);
  return packed;
}

/** The sections of a packed value, as views of it. Checks everything that a truncated or damaged value may have wrong. */
export function unpackSections(packed: Uint8Array): Sections | Unreadable {
  if (packed.byteLength > maxSegmentBytes) return "too large";
  if (packed.byteLength < headerBytes || packed.byteOffset % 8 !== 0) return "truncated";
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  if (view.getUint32(0, true) !== magic) return "corrupt";
  if (view.getUint32(4, true) !== segmentFormat) return "unknown format";
  if (view.getUint32(8, true) !== packed.byteLength) return "truncated";
  if (view.getUint32(12, true) !== checksum(packed)) return "corrupt";
  const count = view.getUint32(16, true);
  if (headerBytes + entryBytes * count > packed.byteLength) return "corrupt";
  const sections: Sections = new Map();
  for (let index = 0; index < count; index += 1) {
    const entry = headerBytes + entryBytes * index;
    const at = view.getUint32(entry + 4, true);
    const length = view.getUint32(entry + 8, true);
    if (at % 8 !== 0 || at + length > packed.byteLength) return "corrupt";
    sections.set(view.getUint32(entry, true), packed.subarray(at, at + length));
  }
  return sections;
}

function aligned(length: number): number {
  return (length + 7) & ~7;
}

/** Over all 32-bit words but the checksum itself. Finds damage by accident, which is all that KV can do to a value. */
function checksum(packed: Uint8Array): number {
  const words = new Uint32Array(packed.buffer, packed.byteOffset, packed.byteLength >> 2);
  let sum = 0x811c9dc5;
  for (let at = 0; at < words.length; at += 1) {
    if (at === 3) continue;
    sum = Math.imul(sum ^ (words[at] ?? 0), 0x01000193);
    sum ^= sum >>> 15;
  }
  return sum >>> 0;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Collects texts once each; number 0 stands for no text. */
export class PoolWriter {
  readonly #numbers = new Map<string, number>();
  readonly #texts: Uint8Array[] = [];
  #bytes = 0;

  add(text: string | undefined): number {
    if (text === undefined) return 0;
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    const bytes = encoder.encode(text);
    this.#texts.push(bytes);
    this.#bytes += bytes.byteLength;
    this.#numbers.set(text, this.#texts.length);
    return this.#texts.length;
  }

  get bytes(): number {
    return this.#bytes + 4 * this.#texts.length;
  }

  sections(): { ends: Uint8Array; text: Uint8Array } {
    const ends = new Uint32Array(this.#texts.length + 1);
    const text = new Uint8Array(this.#bytes);
    let at = 0;
    this.#texts.forEach((bytes, index) => {
      text.set(bytes, at);
      at += bytes.byteLength;
      ends[index + 1] = at;
    });
    return { ends: bytesOf(ends), text };
  }
}

/** Number of texts that a pool keeps decoded, a power of two. */
const keptTexts = 256;
const longestKept = 64;

/** Texts of a pool, decoded when they are asked for; a few short ones are kept, for searches among names. */
export class Pool {
  readonly #ends: Uint32Array;
  readonly #text: Uint8Array;
  readonly #kept: { number: number; text: string }[] = [];

  constructor(ends: Uint32Array, text: Uint8Array) {
    this.#ends = ends;
    this.#text = text;
  }

  /** Number of texts; text 0 is absent. */
  get size(): number {
    return this.#ends.length - 1;
  }

  text(number: number): string | undefined {
    if (number === 0) return undefined;
    const slot = number & (keptTexts - 1);
    const kept = this.#kept[slot];
    if (kept?.number === number) return kept.text;
    const start = this.#ends[number - 1] ?? 0;
    const text = decoder.decode(this.#text.subarray(start, this.#ends[number]));
    if (text.length <= longestKept) this.#kept[slot] = { number, text };
    return text;
  }
}

export function bytesOf(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

export function wordsOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
}
