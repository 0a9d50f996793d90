import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SearchedPart } from "../../../src/search/index/frequencies.ts";
import { plainKernel } from "../../../src/search/index/kernel.ts";
import { parseQuery } from "../../../src/search/query.ts";
import { rank, rankInSteps } from "../../../src/search/rank.ts";
import { noRow, readVectors, type WordVectors, writeVectors } from "../../../src/search/word-vectors.ts";
import { type Item, partOf, tableOf } from "./indexing.ts";

interface Options {
  table?: WordVectors;
  prefix?: boolean;
  limit?: number;
}

const item = (name: string, description = "", rest: Partial<Item> = {}): Item => ({ name, description, ...rest });

/** Ranks items that lie in several parts, some of them gone. */
function rankedIn(text: string, parts: { items: readonly Item[]; gone?: readonly number[] }[], options: Options = {}) {
  const question = parseQuery(text, { prefix: options.prefix });
  if (question === undefined) throw new Error("nothing is asked");
  const searched = parts.map(({ items, gone }): SearchedPart => {
    const part = partOf(items, options.table);
    return { part, gone: gone && Uint8Array.from(items, (_, at) => (gone.includes(at) ? 1 : 0)) };
  });
  const { ranked } = rank(question, searched, { kernel: plainKernel, vectors: options.table }, options.limit ?? 100);
  return ranked.map(({ part, place, score, explanation }) => ({
    name: parts[part]?.items[place]?.name,
    score,
    explanation,
  }));
}
const ranked = (text: string, items: readonly Item[], options?: Options) => rankedIn(text, [{ items }], options);
const names = (...asked: Parameters<typeof ranked>) => ranked(...asked).map(({ name }) => name);

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
    const place = found.findIndex(({ name }) => name === "send_postcard");
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
    expect(found.map(({ name, explanation }) => [name, explanation.alike ?? false])).toEqual([
      ["weather_forecast", false],
      ["forecast_weather_alarm", false],
      ["weather_forecast", true],
    ]);
  });

  it("loses none of many, however common the words are", () => {
    const crowd = Array.from({ length: 3_000 }, (_, index) => item(`get_data_${index}`, "Gets the data."));
    const found = names("get data", [...crowd, item("find_walrus", "Finds a walrus in the data.")], { limit: 10_000 });
    expect(found).toHaveLength(3_001);
    expect(names("get data about a walrus", [...crowd, item("find_walrus")])[0]).toBe("find_walrus");
  });
});

describe("a ranking in steps", () => {
  it("stops after each clause, with the work that was done: more for more items", () => {
    const work = (count: number) => {
      const items = Array.from({ length: count }, (_, index) => item(`get_data_${index}`));
      const question = parseQuery("Get the data of today. Then send the data to Ann.");
      if (question === undefined) throw new Error("nothing is asked");
      const tools = { kernel: plainKernel, vectors: undefined };
      return [...rankInSteps(question, [{ part: partOf(items) }], tools, 10)];
    };
    const [few, many] = [work(10), work(1_000)];
    // All meanings, then the whole task and its two clauses.
    expect(many).toHaveLength(4);
    expect(many.map((units, at) => units / (few[at] ?? 1))).toEqual([100, 100, 100, 100]);
  });
});

describe("the words of a server", () => {
  const items = [
    item("gg", "", { server: "weather" }),
    item("pp", "Prints something.", { server: "weather" }),
    item("forecast", "The weather of the next days.", { server: "sky" }),
    item("storms", "Where the weather is bad.", { server: "sky" }),
  ];

  it("do not put all its items before those that match themselves", () => {
    const found = ranked("weather forecast", items);
    expect(found.map(({ name }) => name).slice(0, 2)).toEqual(["forecast", "storms"]);
    expect(found.filter(({ name }) => name === "gg" || name === "pp").every(({ score }) => score < 0.1)).toBe(true);
  });

  it("find its items where nothing else does, and help one that matches", () => {
    expect(names("quorx", [item("a", "", { server: "quorx" }), item("b")])).toEqual(["a"]);
    const twins = [item("list", "Lists.", { server: "a" }), item("list", "Lists.", { server: "quorx" })];
    expect(rankedIn("list of quorx", [{ items: twins }])[0]?.score).toBeGreaterThan(
      rankedIn("list of quorx", [{ items: twins }])[1]?.score ?? 1,
    );
  });
});

describe("ranking by meaning", () => {
  const table = tableOf(["photo", "picture"], ["bill", "invoice"]);

  it("finds what is said with other words, behind what is said with the same", () => {
    const items = [item("picture_viewer"), item("photo_viewer"), item("invoice_maker")];
    expect(names("photo", items, { table })).toEqual(["photo_viewer", "picture_viewer"]);
    expect(ranked("photo", items, { table })[1]?.explanation).toMatchObject({ words: 0, meaning: expect.any(Number) });
  });

  it("leaves out what is far in words and meaning", () => {
    expect(names("photo", [item("invoice_maker")], { table })).toEqual([]);
  });
});

describe("an unfinished word", () => {
  const items = [
    item("weather_report", "The weather of today."),
    item("send_mail"),
    item("sun_now", "Shows the weather outside."),
  ];

  it("is completed from names and titles, and only when asked", () => {
    expect(names("weath", items)).toEqual([]);
    expect(names("weath", items, { prefix: true })).toEqual(["weather_report", "sun_now"]);
    expect(names("send ma", items, { prefix: true })).toEqual(["send_mail"]);
    expect(names("weath mail", items, { prefix: true })).toEqual(["send_mail"]);
  });

  it("is a word of its own too, and needs two letters", () => {
    expect(names("mail", items, { prefix: true })).toEqual(["send_mail"]);
    expect(names("w", items, { prefix: true })).toEqual([]);
    expect(names("weath ", items, { prefix: true })).toEqual([]);
  });

  it("means what it is completed to", () => {
    const table = tableOf(["photo", "picture"], ["bill", "invoice"]);
    const found = names("phot", [item("photo_viewer"), item("picture_viewer"), item("bill")], { table, prefix: true });
    expect(found).toEqual(["photo_viewer", "picture_viewer"]);
  });
});

const word = fc.constantFrom("mail", "send", "file", "read", "photo", "picture", "bill", "the");
const text = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(" "));
const declared = fc.tuple(text, text).map(([name, description]) => item(name.replaceAll(" ", "_"), description));

describe("any ranking", () => {
  const table = tableOf(["photo", "picture"], ["bill", "mail"]);

  it("is by falling score, deterministic, and holds each item once at most", () => {
    fc.assert(
      fc.property(text, fc.array(declared, { maxLength: 12 }), fc.boolean(), (asked, items, meant) => {
        const options = { table: meant ? table : undefined };
        const found = ranked(asked, items, options);
        const scores = found.map(({ score }) => score);
        expect(scores).toEqual([...scores].sort((a, b) => b - a));
        expect(scores.every((score) => score > 0 && score <= 1)).toBe(true);
        expect(found.length).toBeLessThanOrEqual(items.length);
        expect(ranked(asked, items, options)).toEqual(found);
      }),
    );
  });

  it("is the same over one part, over several, and over those that hold what is gone", () => {
    const parts = fc.array(declared, { maxLength: 6 });
    fc.assert(
      fc.property(text, parts, parts, parts, fc.boolean(), (asked, some, others, gone, meant) => {
        const options = { table: meant ? table : undefined };
        const scored = (found: ReturnType<typeof ranked>) => found.map(({ name, score }) => [name, score.toFixed(5)]);
        const together = ranked(asked, [...some, ...others], options);
        expect(scored(rankedIn(asked, [{ items: some }, { items: others }], options))).toEqual(scored(together));
        const withGone = rankedIn(
          asked,
          [{ items: [...gone, ...some], gone: gone.map((_, at) => at) }, { items: others }],
          options,
        );
        expect(scored(withGone)).toEqual(scored(together));
      }),
    );
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
