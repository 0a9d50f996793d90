import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cardWords } from "../../../src/search/card-words.ts";
import { fieldTerms, itemTermWeights } from "../../../src/search/item-terms.ts";
import { clausesOf, parseQuery } from "../../../src/search/query.ts";
import { highlightsIn } from "../../../src/search/search.ts";
import { hashOf, packTermWeights, readTermWeights } from "../../../src/search/term-weights.ts";
import { termsOf } from "../../../src/search/terms.ts";

const server = { name: "acme.mail-tools", title: "Acme Mail" };
const termsBy = (declared: Record<string, unknown>, key = String(declared.name)) => fieldTerms({ key, declared });
const anyText = fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.string({ unit: "grapheme" }));

describe("the terms of a text", () => {
  it.each([
    ["send_email", "send email"],
    ["get-weather.now", "get weather now"],
    ["sendEmail", "sendemail send email"],
    ["getHTTPResponseCode", "gethttpresponsecod get http respons code"],
    ["base64Encode", "base64encode base 64 encod"],
    ["s3", "s3"],
    ["users/{userId}", "user userid user id"],
    ["Sends mailings.", "send mail"],
    ["Café naïve", "cafe naiv"],
    ["ﬁle Ｎａｍｅ", "file name"],
    ["погода в Москве", "погода в москве"],
    ["天気", "天気"],
    ["東京の天気", "東京 京の の天 天気"],
    ["PDFを作成", "pdf を作 作成"],
    ["気", "気"],
    ["", ""],
    ["★ — ?!", ""],
  ])("of %s are %s", (text, terms) => {
    expect(termsOf(text).join(" ")).toBe(terms);
  });

  it("are bounded in number and length, whatever is written", () => {
    expect(termsOf("a".repeat(10_240)).map((term) => term.length)).toEqual([64]);
    expect(termsOf("word ".repeat(20_000)).length).toBeLessThanOrEqual(4_000);
    fc.assert(
      fc.property(anyText, (text) => {
        for (const term of termsOf(text)) expect(term.length).toBeLessThanOrEqual(64);
      }),
    );
  });
});

describe("the words of an item", () => {
  it("are kept by where they stand", () => {
    const found = termsBy({ name: "a1", title: "One", annotations: { title: "Two" }, description: "Sends mail." });
    expect(found).toMatchObject({
      name: ["a1"],
      title: ["on", "two"],
      description: ["send", "mail"],
    });
  });

  it("include a resource's own name beside its URI", () => {
    const { name } = termsBy({ uri: "file:///notes/today.md", name: "Diary" }, "file:///notes/today.md");
    expect(name).toEqual(["file", "note", "todai", "md", "diari"]);
  });

  it("hold parameters by name and description, the outermost first", () => {
    const inputSchema = {
      properties: {
        toAddress: { description: "Who gets it", properties: { zip: { description: "Postal code" } } },
        tags: { type: "array", items: { properties: { colour: { title: "Hue" } } } },
        broken: 7,
      },
    };
    expect(termsBy({ name: "a", inputSchema }).parameters.join(" ")).toBe(
      "toaddress to address who get it tag broken zip postal code colour hue",
    );
    expect(termsBy({ name: "a", arguments: [{ name: "cityName", description: "Where" }, 3] }).parameters).toEqual([
      ...["citynam", "citi", "name", "where"],
    ]);
  });

  it("are weighed by where they stand, and packed with the length of the text", () => {
    const bag = readTermWeights(
      itemTermWeights({ key: "mail", declared: { name: "mail", description: "mail post" } }, server),
    );
    const { hashes, weights, length } = bag;
    const weightOf = (term: string) => (weights[hashes.indexOf(hashOf(term))] ?? 0) / 2;
    // The name 4, the description 1.
    expect([weightOf("mail"), weightOf("post"), weightOf("none")]).toEqual([5, 1, 0]);
    expect(length).toBe(3);
    // Words of the server that the item does not have itself.
    expect([...hashes.subarray(hashes.length - bag.server)]).toEqual([hashOf("acm"), hashOf("tool")]);
  });

  it("are bounded, whatever is declared", () => {
    const long = "word ".repeat(20_000);
    const properties = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`p${index}`, { description: long, properties: {} }]),
    );
    const deep = Array.from({ length: 5_000 }).reduce<object>((inner) => ({ properties: { a: inner } }), {});
    for (const inputSchema of [{ properties }, deep]) {
      const declared = { name: long, title: long, description: `${long}気`, inputSchema };
      const bag = itemTermWeights({ key: long, declared }, server);
      expect(bag.byteLength).toBeLessThanOrEqual(4 + 5 * 440);
    }
  });

  it("are made of any declaration without a fault", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.dictionary(fc.string(), fc.anything()), (key, declared) => {
        const { hashes, weights, server: shared } = readTermWeights(itemTermWeights({ key, declared }, server));
        expect([weights.length, weights.every((weight) => weight > 0)]).toEqual([hashes.length, true]);
        expect(shared).toBeLessThanOrEqual(hashes.length);
      }),
    );
  });
});

describe("packed terms", () => {
  const bag = (weights: Record<string, number>) =>
    readTermWeights(packTermWeights(new Map(Object.entries(weights)), 1));

  it("keep a weight that is too heavy or too light for a byte as near as it goes", () => {
    expect([...bag({ a: 1_000, b: 0.1 }).weights]).toEqual([255, 1]);
  });

  it("of an earlier release have no terms of a server, and nothing has none at all", () => {
    const packed = packTermWeights(new Map([["a", 1]]), 7, ["b"]);
    expect(readTermWeights(packed)).toMatchObject({ length: 7, server: 1 });
    // That release had the number of name terms there, without the mark.
    new Uint32Array(packed, 0, 1)[0] = 7 + 2 * 2 ** 20;
    expect(readTermWeights(packed)).toMatchObject({ length: 7, server: 0 });
    expect(readTermWeights(new ArrayBuffer(0))).toMatchObject({ length: 0, server: 0 });
  });
});

describe("a task", () => {
  it.each([
    ["send an email", ["send an email"]],
    ["Book a flight to Rome, then tell my sister about it", ["Book a flight to Rome", "tell my sister about it"]],
    [
      "Get the weather in Oslo. After that, create a calendar entry; finally send it to Ann.",
      ["Get the weather in Oslo.", "create a calendar entry;", "send it to Ann."],
    ],
    ["Look up the weather. Thanks!", ["Look up the weather. Thanks!"]],
    ["Hi there. Look up the weather. Then commit.", ["Hi there. Look up the weather. Then commit."]],
    [
      "Brush the okapi well. Count zebras. Send an e-mail now.",
      ["Brush the okapi well. Count zebras.", "Send an e-mail now."],
    ],
    ["list my files\ndelete the oldest one", ["list my files", "delete the oldest one"]],
    ["Version 2.5 of the report", ["Version 2.5 of the report"]],
    ["search nextcloud for files", ["search nextcloud for files"]],
  ])("of %j has the steps %j", (text, clauses) => {
    expect(clausesOf(text)).toEqual(clauses);
  });

  it.each([
    ["send an email", "send email"],
    ["the", "the"],
    ["to be or not", "not"],
    ["x", "x"],
    ["mail AND (NOT mail)", "mail not"],
    ['""" OR 1=1; DROP TABLE card --', "1 drop tabl card"],
  ])("of %j is looked for by %j", (text, terms) => {
    expect(parseQuery(text)?.whole.terms.join(" ")).toBe(terms);
  });

  it.each(["", "   ", "★ — ?!", '"', "\u0000", "\ud800", "***", "()"])("of %j asks for nothing", (text) => {
    expect(parseQuery(text)).toBeUndefined();
  });

  it("has a bounded number of steps and terms, each once", () => {
    const many = Array.from({ length: 150 }, (_, index) => `word${index}x does a thing.`).join(" ");
    const question = parseQuery(many);
    expect(question?.clauses.length).toBe(8);
    expect(question?.whole.terms.length).toBe(96);
    expect(new Set(question?.whole.terms).size).toBe(96);
  });

  it("keeps what is past the last step with it", () => {
    const steps = Array.from({ length: 12 }, (_, index) => `Do the thing number ${index}.`);
    expect(clausesOf(steps.join(" "))).toEqual([...steps.slice(0, 7), steps.slice(7).join(" ")]);
  });

  it("is not slow to take apart, however it is spaced", () => {
    // Ten thousand times the work would not end in the time a test has.
    for (const space of [" ", "\t", "\u3000", "\n", ", ", " then"]) {
      expect(clausesOf(`a${space.repeat(10_000)}b`).length).toBeLessThanOrEqual(8);
    }
  });

  it("is read whatever is asked", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const question = parseQuery(text);
        if (question === undefined) return;
        expect(question.clauses.length).toBeGreaterThan(0);
        for (const { terms } of question.clauses) expect(terms.length).toBeGreaterThan(0);
      }),
    );
  });
});

describe("highlights", () => {
  const found = (text: string, query: string) =>
    highlightsIn(text, new Set(parseQuery(query)?.whole.terms)).map(([from, to]) => text.slice(from, to));

  it("are where the words of the task are, in whatever form", () => {
    expect(found("Sends e-mails to café guests", "sending mail to a cafe")).toEqual(["Sends", "mails", "café"]);
    expect(found("create_issue", "issues")).toEqual(["create_issue"].map(() => "issue"));
    expect(found("東京の天気予報", "天気")).toEqual(["東京の天気予報"]);
    expect(found("nothing here", "mail")).toEqual([]);
  });

  it("are the same in a text of ASCII as with a letter beyond it", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "Z", "9", "_", " ", "[", "`", "/", ":", "@", "{") });
    fc.assert(
      fc.property(text, (ascii) => {
        const every = new Set([...termsOf(ascii), ...termsOf("é")]);
        const places = highlightsIn(`${ascii} é`, every).filter(([from]) => from < ascii.length);
        expect(highlightsIn(ascii, every)).toEqual(places);
      }),
    );
  });

  it("are few, and lie in the text", () => {
    expect(found("mail ".repeat(100), "mail")).toHaveLength(20);
    fc.assert(
      fc.property(anyText, (text) => {
        for (const [from, to] of highlightsIn(text, new Set(termsOf(text)))) {
          expect(from >= 0 && from < to && to <= text.length).toBe(true);
        }
      }),
    );
  });
});

describe("the words of a card", () => {
  it("are the item's own, the description cut between characters", () => {
    expect(cardWords({ title: "T", version: "1.2", description: "D", annotations: { title: "A" } })).toEqual({
      title: "T",
      version: "1.2",
      description: "D",
    });
    expect(cardWords({ annotations: { title: "A" }, version: 3 })).toEqual({ title: "A" });
    const { description = "" } = cardWords({ description: `${"x".repeat(399)}😀 and more` });
    expect(description).toBe(`${"x".repeat(399)}…`);
  });
});
