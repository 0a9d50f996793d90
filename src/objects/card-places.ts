/** A token to look up, and what having it is worth. */
export interface WorthyToken {
  token: string;
  worth: number;
}

/**
 * Which cards have some tokens, and what those are worth together. The places of a token come as one text, which costs a
 * fifth of what a row for each would; a number for each card there is, which costs less than a table of those found.
 */
export class CardPlaces {
  readonly #worths: Float32Array;
  readonly #found: number[] = [];

  /** `highest` is the highest number that a card has. */
  constructor(sql: SqlStorage, tokens: readonly WorthyToken[], highest: number) {
    this.#worths = new Float32Array(highest + 1);
    const rows = sql.exec<{ places: string | null }>(
      `SELECT (SELECT group_concat(rowid) FROM card_text WHERE card_text MATCH asked.value) AS places
       FROM json_each(?) AS asked`,
      JSON.stringify(tokens.map(({ token }) => token)),
    );
    rows.toArray().forEach(({ places }, index) => {
      if (places !== null) this.#add(places, tokens[index]?.worth ?? 0);
    });
  }

  /** The most worthy first, at most so many at once and then twice as many each time; all of them in the end. */
  *best(first: number): Generator<number[]> {
    let atOnce = first;
    const worthOf = (number: number) => this.#worths[number] as number;
    const sorted = Float32Array.from(this.#found, worthOf).sort();
    let above = Number.POSITIVE_INFINITY;
    for (let left = sorted.length; left > 0; ) {
      const [from, to] = [sorted[Math.max(0, left - atOnce)] as number, above];
      yield this.#found.filter((number) => worthOf(number) > from && worthOf(number) < to);
      // However many are worth just as much: those found by the rarest token first.
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
      if (this.#worths[number] === 0) this.#found.push(number);
      this.#worths[number] = (this.#worths[number] as number) + worth;
      number = 0;
    }
  }
}

const zero = 48;
