/** Makes bad input, the same for the same seed. */
export class Mutator {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0 || 1;
  }

  /** In [0, 1). xorshift32. */
  next(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    this.#state >>>= 0;
    return this.#state / 2 ** 32;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.next() * from.length)] as T;
  }

  /** A value of JSON that is seldom what was asked for. */
  value(depth = 3): unknown {
    if (depth > 0 && this.next() < 0.3) {
      return this.next() < 0.5
        ? [this.value(depth - 1), this.value(depth - 1)]
        : { [this.pick(names)]: this.value(depth - 1), [this.pick(names)]: this.value(depth - 1) };
    }
    // A copy: the next change may be made inside of it.
    return structuredClone(this.pick(values));
  }

  /** A document with one or two places changed. */
  document(value: unknown): unknown {
    const copy = structuredClone(value);
    for (let times = 1 + Math.floor(this.next() * 2); times > 0; times -= 1) this.#changeOne(copy);
    return this.next() < 0.1 ? this.value() : copy;
  }

  /** Text with some of it taken out, doubled, or replaced. */
  text(text: string): string {
    const at = Math.floor(this.next() * (text.length + 1));
    const length = Math.floor(this.next() * 12);
    const piece = this.pick([...fragments, text.slice(at, at + length).repeat(3), ""]);
    return text.slice(0, at) + piece + text.slice(at + length);
  }

  #changeOne(value: unknown): void {
    if (typeof value !== "object" || value === null) return;
    const keys = Object.keys(value);
    const key = keys.length === 0 || this.next() < 0.15 ? this.pick(names) : this.pick(keys);
    const holder = value as Record<string, unknown>;
    // Only what is the document's own: behind `__proto__` is what every object shares.
    const held = Object.hasOwn(holder, key) ? holder[key] : undefined;
    if (typeof held === "object" && held !== null && this.next() < 0.7) {
      this.#changeOne(held);
      return;
    }
    if (this.next() < 0.2) delete holder[key];
    else
      Object.defineProperty(holder, key, { value: this.value(), enumerable: true, configurable: true, writable: true });
  }
}

const names = ["__proto__", "constructor", "name", "tools", "", "a\u0000b", "$ref", "id", "\ud800", "x".repeat(300)];
const values: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 2 ** 53, -(2 ** 63), 1e308, "", " ", "\u0000", "\ud800", "é", "ａ", "../../etc"],
  ...["x".repeat(5_000), "<script>", "'; DROP TABLE server; --", "%00", "{{constructor}}", "http://169.254.169.254/"],
  ...[[], {}, [[]], { $ref: "#" }, Array(200).fill(0)],
];
const fragments = [
  ...[
    "\u0000",
    "\ufeff",
    "\u2028",
    '"',
    "{",
    "}",
    "[",
    "]",
    "((",
    "))",
    "&a *a",
    "<<: *a",
    "\\u",
    "\\",
    "---\n",
    "type Query",
  ],
  ...[String.fromCharCode(0xd800), "1e999", "-0", "NaN", "/*", "#", "\r\n", "é", "𝒳", "%"],
];
