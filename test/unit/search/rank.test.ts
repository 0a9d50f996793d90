import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { itemTermWeights } from "../../../src/search/item-terms.ts";
import { parseQuery } from "../../../src/search/query.ts";
import { rank } from "../../../src/search/rank.ts";
import { hashOf, readTermWeights } from "../../../src/search/term-weights.ts";
import { termsOf } from "../../../src/search/terms.ts";
import { neighboursOf, noRow, readVectors, writeVectors } from "../../../src/search/word-vectors.ts";

const item = (name: string, description = "") => ({
  name,
  bag: readTermWeights(itemTermWeights({ key: name, declared: { name, description } }, { name: "s" })),
});

/** A table in which words of one line mean the same, and words of different lines nothing to each other. */
function tableOf(...meanings: string[][]) {
  const terms = meanings.flatMap((words, dimension) =>
    words.map((word) => ({ hash: hashOf(String(termsOf(word)[0])), dimension })),
  );
  const neighbours = terms.map(({ dimension }, row) => {
    const other = terms.findIndex((term, at) => term.dimension === dimension && at !== row);
    return other === -1 ? noRow : other;
  });
  const values = terms.flatMap(({ dimension }) => meanings.map((_, at) => (at === dimension ? 100 : 0)));
  const table = readVectors(
    writeVectors({
      hashes: Uint32Array.from(terms, ({ hash }) => hash),
      scales: new Float32Array(terms.length).fill(0.01),
      neighbours: Uint16Array.from(neighbours),
      values: Int8Array.from(values),
    }),
  );
  if (table === undefined) throw new Error("the table cannot be read back");
  return table;
}

function ranked(text: string, items: ReturnType<typeof item>[], vectors?: ReturnType<typeof tableOf>) {
  const question = parseQuery(text);
  if (question === undefined) throw new Error("nothing is asked");
  const having = (term: string) => items.filter(({ bag }) => bag.hashes.includes(hashOf(term))).length;
  return rank(question, items, { documents: items.length, frequency: having }, vectors);
}
const names = (...asked: Parameters<typeof ranked>) => ranked(...asked).map(({ item: { name } }) => name);

describe("ranking by words", () => {
  it("puts the rarer word and the name first", () => {
    const items = [
      item("read_file", "Reads a file."),
      item("read_mail", "Reads mail."),
      item("x1", "Mail, by the way."),
    ];
    expect(names("read mail", items)[0]).toBe("read_mail");
    expect(names("mail", items)).toEqual(["read_mail", "x1"]);
  });

  it("leaves out what shares no word where there is no table", () => {
    expect(names("photo", [item("picture"), item("photo")])).toEqual(["photo"]);
  });

  it("finds each step of a task by its own words", () => {
    const noise = Array.from({ length: 10 }, (_, index) =>
      item(`flight_hotel_${index}`, "flight hotel trip travel book"),
    );
    const items = [...noise, item("send_postcard", "Writes to a friend.")];
    const found = ranked("Book a flight and a hotel for the trip. Then send a postcard to a friend.", items);
    const place = found.findIndex(({ item: { name } }) => name === "send_postcard");
    expect(place).toBeLessThan(2);
    expect(found[place]?.explanation.clause).toBe(1);
  });

  it("puts copies behind what is different, and says so", () => {
    const items = [
      item("weather_forecast", "The weather of the next days."),
      item("weather_forecast", "The weather of the next days."),
      item("forecast_weather_alarm", "Rings when a storm is near."),
    ];
    const found = ranked("weather forecast", items);
    expect(found.map(({ item: { name }, explanation }) => [name, explanation.alike ?? false])).toEqual([
      ["weather_forecast", false],
      ["forecast_weather_alarm", false],
      ["weather_forecast", true],
    ]);
  });
});

describe("ranking by meaning", () => {
  const table = tableOf(["photo", "picture"], ["bill", "invoice"]);

  it("finds what is said with other words, behind what is said with the same", () => {
    const items = [item("picture_viewer"), item("photo_viewer"), item("invoice_maker")];
    expect(names("photo", items, table)).toEqual(["photo_viewer", "picture_viewer"]);
    expect(ranked("photo", items, table)[1]?.explanation).toMatchObject({ words: 0, meaning: expect.any(Number) });
  });

  it("leaves out what is far in words and meaning", () => {
    expect(names("photo", [item("invoice_maker")], table)).toEqual([]);
  });

  it("knows the neighbours of a term, and none of one it does not know", () => {
    expect(neighboursOf(table, hashOf("photo"))).toEqual([hashOf(String(termsOf("picture")[0]))]);
    expect(neighboursOf(table, hashOf("nothing"))).toEqual([]);
  });
});

describe("a table of meanings", () => {
  it("is not read from anything else", () => {
    for (const length of [0, 3, 16, 64]) expect(readVectors(new ArrayBuffer(length))).toBeUndefined();
    const whole = writeVectors({
      hashes: Uint32Array.of(1),
      scales: Float32Array.of(1),
      neighbours: Uint16Array.of(noRow),
      values: Int8Array.of(1, 2),
    });
    expect(readVectors(whole)?.dimensions).toBe(2);
    expect(readVectors(whole.slice(0, -1))).toBeUndefined();
  });
});

describe("any ranking", () => {
  const word = fc.constantFrom("mail", "send", "file", "read", "photo", "picture", "bill", "the");
  const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(" "));
  const table = tableOf(["photo", "picture"], ["bill", "mail"]);

  it("is by falling score, deterministic, and holds each item once at most", () => {
    fc.assert(
      fc.property(text, fc.array(fc.tuple(text, text), { maxLength: 12 }), fc.boolean(), (asked, declared, meant) => {
        const items = declared.map(([name, description]) => item(name.replaceAll(" ", "_"), description));
        const found = ranked(asked, items, meant ? table : undefined);
        const scores = found.map(({ score }) => score);
        expect(scores).toEqual([...scores].sort((a, b) => b - a));
        expect(scores.every((score) => score > 0 && score <= 1)).toBe(true);
        expect(new Set(found.map((entry) => entry.item)).size).toBe(found.length);
        expect(ranked(asked, items, meant ? table : undefined)).toEqual(found);
      }),
    );
  });
});
