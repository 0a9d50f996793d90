import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cardWords } from "../../src/domain/card-words.ts";
import { matchQuery, searchText } from "../../src/domain/search-text.ts";

const server = { name: "acme.mail-tools", title: "Acme Mail" };
const textOf = (declared: Record<string, unknown>, key = String(declared.name)) =>
  searchText({ key, declared }, server);

describe("the words of a name", () => {
  it.each([
    ["send_email", "send email"],
    ["get-weather.now", "get weather now"],
    ["sendEmail", "sendemail send email"],
    ["getHTTPResponseCode", "gethttpresponsecode get http response code"],
    ["base64Encode", "base64encode base 64 encode"],
    ["s3", "s3"],
    ["users/{userId}", "users userid user id"],
    ["weather_weather", "weather"],
    ["天気", "天  気"],
  ])("of %s are %s", (name, words) => {
    expect(textOf({ name }).name).toBe(words);
  });

  it("include a resource's own name beside its URI", () => {
    const { name } = textOf({ uri: "file:///notes/today.md", name: "Diary" }, "file:///notes/today.md");
    expect(name).toBe("file notes today md diary");
  });
});

describe("the other columns", () => {
  it("hold title, description and the server's words", () => {
    const found = textOf({ name: "a", title: "One", annotations: { title: "Two" }, description: "Sends mail." });
    expect(found).toMatchObject({ title: "One Two", description: "Sends mail.", server: "acme mail tools Acme Mail" });
  });

  it("hold parameters by name and description, the outermost first", () => {
    const inputSchema = {
      properties: {
        toAddress: { description: "Who gets it", properties: { zip: { description: "Postal code" } } },
        tags: { type: "array", items: { properties: { colour: { title: "Hue" } } } },
        broken: 7,
      },
    };
    expect(textOf({ name: "a", inputSchema }).parameters).toBe(
      "toaddress to address  Who gets it tags   broken   zip  Postal code colour Hue",
    );
    expect(textOf({ name: "a", arguments: [{ name: "cityName", description: "Where" }, 3] }).parameters).toBe(
      "cityname city name  Where",
    );
  });

  it("are bounded, whatever is declared", () => {
    const long = "word ".repeat(20_000);
    const properties = Object.fromEntries(
      Array.from({ length: 5_000 }, (_, index) => [`p${index}`, { description: long, properties: {} }]),
    );
    const deep = Array.from({ length: 5_000 }).reduce<object>((inner) => ({ properties: { a: inner } }), {});
    for (const inputSchema of [{ properties }, deep]) {
      const found = textOf({ name: long, title: long, description: `${long}気`, inputSchema });
      for (const column of Object.values(found)) expect(column.length).toBeLessThanOrEqual(4_000);
    }
    expect(textOf({ name: "a", description: "気".repeat(9_000) }).description.length).toBeLessThanOrEqual(12_000);
  });

  it("are made of any declaration without a fault", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.dictionary(fc.string(), fc.anything()), (key, declared) => {
        const found = searchText({ key, declared }, server);
        expect(Object.values(found).every((column) => typeof column === "string")).toBe(true);
      }),
    );
  });
});

describe("a query", () => {
  it.each([
    ["send an email", '"send" OR "email"'],
    ["the", '"the"'],
    ["to be or not", '"not"'],
    ["I don't", '"don"'],
    ["x", '"x"'],
    ["getUserById", '"getuserbyid" OR "get" OR "user" OR "id"'],
    ["mail AND (NOT mail)", '"mail" OR "not"'],
    ['name:"x y" NEAR(a b, 2) ^c* + -d', '"name" OR "near" OR "2"'],
    ['""" OR 1=1; DROP TABLE card --', '"1" OR "drop" OR "table" OR "card"'],
    ["ﬁle Ｎａｍｅ", '"file" OR "name"'],
    ["погода в Москве", '"погода" OR "в" OR "москве"'],
    ["東京の天気", '"東 京" OR "京 の" OR "の 天" OR "天 気"'],
    ["PDFを作成", '"pdf" OR "を 作" OR "作 成"'],
    ["サーバー", '"サ ー" OR "ー バ" OR "バ ー"'],
    ["気", '"気"'],
  ])("of %s asks for %s", (text, match) => {
    expect(matchQuery(text)).toBe(match);
  });

  it.each(["", "   ", "★ — ?!", '"', "\u0000", "\ud800", "***", "()"])("of %j asks for nothing", (text) => {
    expect(matchQuery(text)).toBeUndefined();
  });

  it("has a bounded number of terms, each once", () => {
    const many = Array.from({ length: 3_000 }, (_, index) => `word${index % 100}x`).join(" ");
    const terms = matchQuery(many)?.split(" OR ") ?? [];
    expect([terms.length, new Set(terms).size]).toEqual([32, 32]);
    expect(matchQuery("気".repeat(10_000))).toBe('"気 気"');
    expect(matchQuery("a".repeat(10_240))?.length).toBeLessThanOrEqual(4_002);
  });

  it("is quoted terms and nothing else, whatever is asked", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary", maxLength: 200 }), fc.string({ unit: "grapheme" })), (text) => {
        const match = matchQuery(text);
        const term = '"[\\p{L}\\p{N}\\p{M}]+(?: [\\p{L}\\p{N}\\p{M}]+)?"';
        if (match !== undefined) expect(match).toMatch(new RegExp(`^${term}(?: OR ${term})*$`, "u"));
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
