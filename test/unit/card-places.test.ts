import { describe, expect, it } from "vitest";
import { openLocalSql } from "../../bench/search/local-sql.ts";
import { cardTextTables } from "../../src/objects/card-index.ts";
import { CardPlaces } from "../../src/objects/card-places.ts";

/** An index of cards, numbered from 1, with the tokens of each. */
function indexOf(...cards: string[]) {
  const sql = openLocalSql(":memory:");
  sql.exec(cardTextTables);
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
    const places = new CardPlaces(sql, tokens, 6);
    expect([...places.best(1)].filter((part) => part.length > 0)).toEqual([[5], [1], [3], [2], [4]]);
  });

  it("lead there some at a time, to each card once", () => {
    const parts = [...new CardPlaces(sql, tokens, 6).best(2)];
    expect(parts.every((part) => part.length <= 2)).toBe(true);
    expect(parts.flat().slice(0, 2).sort()).toEqual([1, 5]);
    expect(parts.flat().sort()).toEqual([1, 2, 3, 4, 5]);
  });

  it("give no more at once of many that are worth the same", () => {
    const many = indexOf(...Array.from({ length: 50 }, (_, index) => (index === 40 ? "a b" : "a")));
    const [better, ...others] = [...new CardPlaces(many, tokens, 50).best(10)];
    expect(better).toEqual([41]);
    expect(others.every((part) => part.length <= 10)).toBe(true);
    expect(others.flat()).toHaveLength(49);
  });

  it("are none where no card has a token", () => {
    expect([...new CardPlaces(sql, [{ token: "none", worth: 1 }], 6).best(5)]).toEqual([]);
    expect([...new CardPlaces(sql, [], 6).best(5)]).toEqual([]);
  });
});
