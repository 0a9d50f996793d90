/** A token to look up, and its weight. */
export interface ScoredToken {
  token: string;
  worth: number;
}

/**
 * The cards that contain any of some tokens, with the total weight of those tokens. The postings of a token are read as
 * one group_concat text, which costs a fifth of reading a row for each.
 */
export class Postings {
  readonly #worths: Worths;
  readonly #found: number[] = [];

  /** `highest` is the highest card number. */
  constructor(sql: SqlStorage, tokens: readonly ScoredToken[], highest: number) {
    this.#worths = highest < maxListLength ? new ScoreArray(highest) : new Map();
    const rows = sql.exec<{ places: string | null }>(
      `SELECT (SELECT group_concat(rowid) FROM card_text WHERE card_text MATCH asked.value) AS places
       FROM json_each(?) AS asked`,
      JSON.stringify(tokens.map(({ token }) => token)),
    );
    rows.toArray().forEach(({ places }, index) => {
      if (places !== null) this.#add(places, tokens[index]?.worth ?? 0);
    });
  }

  /**
   * All card numbers in batches, highest weight first. Batches have at most `first` cards; the limit doubles as it goes
   * on.
   */
  *best(first: number): Generator<number[]> {
    let atOnce = first;
    const worthOf = (number: number) => this.#worths.get(number) ?? 0;
    const sorted = Float32Array.from(this.#found, worthOf).sort();
    let above = Number.POSITIVE_INFINITY;
    for (let left = sorted.length; left > 0; ) {
      const [from, to] = [sorted[Math.max(0, left - atOnce)] as number, above];
      yield this.#found.filter((number) => worthOf(number) > from && worthOf(number) < to);
      // Cards of equal weight, however many: those found by the rarest token first.
      const equal = this.#found.filter((number) => worthOf(number) === from);
      for (let at = 0; at < equal.length; at += atOnce) yield equal.slice(at, at + atOnce);
      above = from;
      atOnce *= 2;
      while (left > 0 && (sorted[left - 1] as number) >= from) left -= 1;
    }
  }

  #add(places: string, worth: number): void {
    let number = 0;
    for (let at = 0; at <= places.length; at += 1) {
      const code = places.charCodeAt(at);
      if (code >= zero) {
        number = number * 10 + code - zero;
        continue;
      }
      const before = this.#worths.get(number) ?? 0;
      if (before === 0) this.#found.push(number);
      this.#worths.set(number, before + worth);
      number = 0;
    }
  }
}

const zero = 48;

/** Weights by card number. */
interface Worths {
  get(number: number): number | undefined;
  set(number: number, worth: number): unknown;
}

/**
 * Numbers of deleted cards are rarely reused, so after years of changes the highest number says little about how many
 * cards there are. Up to this number, an array of all numbers costs less than a map of the cards found.
 */
const maxListLength = 500_000;

class ScoreArray implements Worths {
  readonly #list: Float32Array;

  constructor(highest: number) {
    this.#list = new Float32Array(highest + 1);
  }

  get(number: number): number | undefined {
    return this.#list[number];
  }

  set(number: number, worth: number): void {
    this.#list[number] = worth;
  }
}
