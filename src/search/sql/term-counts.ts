import { tokensOf } from "../item-terms.ts";
import { readTermWeights } from "../term-weights.ts";

/** Changes to `term_count`, summed before writing: a term that a batch both removes and adds is not written. */
export class TermChanges {
  readonly #changes = new Map<string, number>();

  add(bag: ArrayBuffer): void {
    this.#count(bag, 1);
  }

  remove(bag: ArrayBuffer): void {
    this.#count(bag, -1);
  }

  write(sql: SqlStorage): void {
    const moved = [...this.#changes].filter(([, by]) => by !== 0);
    if (moved.length > 0) {
      sql.exec(
        `INSERT INTO term_count (token, items) SELECT value ->> 0, value ->> 1 FROM json_each(?) WHERE 1
         ON CONFLICT (token) DO UPDATE SET items = items + excluded.items`,
        JSON.stringify(moved),
      );
    }
    const fewer = moved.filter(([, by]) => by < 0).map(([token]) => token);
    if (fewer.length > 0) {
      sql.exec(
        "DELETE FROM term_count WHERE token IN (SELECT value FROM json_each(?)) AND items <= 0",
        JSON.stringify(fewer),
      );
    }
    this.#changes.clear();
  }

  #count(bag: ArrayBuffer, by: number): void {
    for (const token of tokensOf(readTermWeights(bag))) this.#changes.set(token, (this.#changes.get(token) ?? 0) + by);
  }
}

/** Number of cards that contain each token; tokens that no card contains are missing. */
export function termCounts(sql: SqlStorage, tokens: readonly string[]): Map<string, number> {
  const rows = sql.exec<{ token: string; items: number }>(
    "SELECT token, items FROM term_count WHERE token IN (SELECT value FROM json_each(?))",
    JSON.stringify(tokens),
  );
  return new Map(rows.toArray().map(({ token, items }) => [token, items]));
}
