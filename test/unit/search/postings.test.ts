import { describe, expect, it } from "vitest";
import { openLocalSql } from "../../../bench/search/local-sql.ts";
import { Postings } from "../../../src/search/sql/postings.ts";
import { directorySearchTables } from "../../../src/search/sql/tables.ts";

/** An index of cards, numbered from 1, with the tokens of each. */
function indexOf(...cards: string[]) {
  const sql = openLocalSql(":memory:");
  sql.exec(directorySearchTables);
  cards.forEach((tokens, index) => {
    sql.exec("INSERT INTO card_text (rowid, terms) VALUES (?, ?)", index + 1, tokens);
  });
  return sql;
}

describe("the places of tokens", () => {
  const sql = indexOf("a b", "b", "a c", "c", "a b c", "d");
  const tokens = [
    { token: "a", worth: 4 },
    { token: "b", worth: 2 },
    { token: "c", worth: 1 },
    { token: "none", worth: 9 },
  ];

  it("lead to the cards that have them, the most worthy first", () => {
    const places = new Postings(sql, tokens, 6);
    const parts = [...places.best(1)].filter((part) => part.length > 0);
    expect(parts.slice(0, 2)).toEqual([[5], [1]]);
    expect(parts.flat().toSorted()).toEqual([1, 2, 3, 4, 5]);
  });

  it("lead there some at a time, none before one that is worth more", () => {
    const cards = Array.from({ length: 200 }, (_, index) => ["a", "b", "c"].filter((_, bit) => index & (1 << bit)));
    const worthOf = (number: number) =>
      cards[number - 1]?.reduce((sum, token) => sum + (tokens.find((each) => each.token === token)?.worth ?? 0), 0) ??
      0;
    const parts = [...new Postings(indexOf(...cards.map((card) => card.join(" "))), tokens, 200).best(3)];
    const worths = parts.filter((part) => part.length > 0).map((part) => part.map(worthOf));
    worths.slice(1).forEach((part, before) => {
      expect(Math.max(...part)).toBeLessThanOrEqual(Math.min(...(worths[before] ?? [])));
    });
    expect(new Set(parts.flat()).size).toBe(cards.filter((card) => card.length > 0).length);
    expect(parts.flat()).toHaveLength(new Set(parts.flat()).size);
  });

  it("give no more at once of many that are worth the same", () => {
    const many = indexOf(...Array.from({ length: 50 }, (_, index) => (index === 40 ? "a b" : "a")));
    const [better, ...others] = [...new Postings(many, tokens, 50).best(10)];
    expect(better).toEqual([41]);
    expect(others.every((part) => part.length <= 10)).toBe(true);
    expect(others.flat()).toHaveLength(49);
  });

  it("are none where no card has a token", () => {
    expect([...new Postings(sql, [{ token: "none", worth: 1 }], 6).best(5)]).toEqual([]);
    expect([...new Postings(sql, [], 6).best(5)]).toEqual([]);
  });
});
