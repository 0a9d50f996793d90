import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import { createUsage } from "../../../src/kernel/platform/usage.ts";
import { tenantOf } from "../../../src/objects/stubs.ts";
import { rebuildCards } from "../../../src/search/sql/tenant-cards.ts";
import { type Member, member } from "../support/member.ts";
import { capabilities, drained, tools } from "../support/registry.ts";

let tenant: string;
let mine: Member;
let round = 0;

beforeEach(async () => {
  tenant = `seeking-${++round}`;
  mine = await member(tenant);
});

const stub = () => env.TENANTS.get(env.TENANTS.idFromName(tenant));
const find = async (text: string, rest: { limit?: number; kinds?: ["prompt"] } = {}) =>
  (await tenantOf(env, tenantKey(tenant), createUsage()).find({ text, limit: 100, ...rest })).cards;
const keys = async (...query: Parameters<typeof find>) => (await find(...query)).map(({ key }) => key);
const flip = (name: string, key: string, enabled: boolean) =>
  mine.send("PATCH", capabilities(tenant, name), { items: [{ kind: "tool", name: key, enabled }] });
const inside = <T>(look: (sql: SqlStorage) => T) =>
  runInDurableObject(stub(), async (_, state) => look(state.storage.sql));

/** The index as it is stored: every card with its number, which changes when it is written. */
const stored = () => inside((sql) => sql.exec("SELECT * FROM card ORDER BY number").toArray());

describe("ranking", () => {
  it("puts a name before a title, a description, and a parameter or the server", async () => {
    const item = (name: string, rest: object = {}) => ({ name, description: "Does something else.", ...rest });
    await mine.publish("zebra", {
      tools: [
        item("a_parameter", { inputSchema: { properties: { invoice: { type: "string" } } } }),
        item("b_description", { description: "Makes an invoice out." }),
        item("c_title", { title: "Invoice maker" }),
        item("invoice_maker"),
        item("unrelated"),
      ],
    });
    expect(await keys("invoice")).toEqual(["invoice_maker", "c_title", "b_description", "a_parameter"]);
    const scores = (await find("invoice")).map(({ score }) => score);
    expect(scores.every((score, index) => score > 0 && score <= (scores[index - 1] ?? score))).toBe(true);
    expect(await keys("zebra", { limit: 2 })).toHaveLength(2);
  });

  it("takes names apart, stems words, and finds any of several", async () => {
    await mine.publish("s", { tools: [{ name: "listPullRequests" }, { name: "create_issue" }, { name: "weather" }] });
    expect(await keys("requesting pulls")).toEqual(["listPullRequests"]);
    expect(await keys("listpullrequests")).toEqual(["listPullRequests"]);
    expect((await keys("pull request or issue")).sort()).toEqual(["create_issue", "listPullRequests"]);
    expect(await keys("nothing of that kind")).toEqual([]);
  });

  it("finds text in scripts without spaces", async () => {
    await mine.publish("s", {
      tools: [
        { name: "a", description: "東京の天気予報を取得します" },
        { name: "b", description: "京都の電車" },
      ],
    });
    expect(await keys("天気")).toEqual(["a"]);
    expect(await keys("今日の天気は")).toEqual(["a"]);
  });

  it("breaks ties, and lists without words, by server, kind and key", async () => {
    const manifest = { ...tools("same"), prompts: [{ name: "same", description: "Does same." }] };
    // The same words in every item: the title is that of the servers.
    for (const name of ["b.same", "a.same"]) await mine.publish(name, { title: "x", ...manifest });
    const order = ["a.same prompt", "a.same tool", "b.same prompt", "b.same tool"];
    const places = async (text: string) => (await find(text)).map(({ server, kind }) => `${server} ${kind}`);
    expect(await places("")).toEqual(order);
    expect(await places("?!")).toEqual(order);
    expect((await find("same", { kinds: ["prompt"] })).map(({ server }) => server)).toEqual(["a.same", "b.same"]);
    expect((await find("same", { kinds: ["prompt"] })).map(({ kind }) => kind)).toEqual(["prompt", "prompt"]);
    expect(await find("", { limit: 1 })).toMatchObject([{ server: "a.same", kind: "prompt", score: 0 }]);
  });

  it("shows what a choice needs, with the server's version where the item has none", async () => {
    await mine.publish("s", {
      version: "2.0.0",
      tools: [
        { name: "own", version: "1.5.0", title: "Own", description: "x".repeat(5_000) },
        { name: "plain", id: "plain.id" },
      ],
    });
    const [own, plain] = await find("");
    expect(own).toMatchObject({ tenant, server: "s", kind: "tool", key: "own", version: "1.5.0", title: "Own" });
    expect(own?.description?.length).toBeLessThan(500);
    expect(own?.tokens).toBeGreaterThan(0);
    expect(plain).toMatchObject({ id: "plain.id", version: "2.0.0", digest: expect.stringMatching(/^sha256-/) });
    expect(plain?.title).toBeUndefined();
  });
});

describe("looking up by id", () => {
  it("gives current items that are switched on, and says which are public", async () => {
    await mine.post({ name: "open", visibility: "public" });
    await mine.publish("open", { tools: [{ name: "a", id: "open.a" }] });
    await mine.publish("closed", {
      version: "3",
      tools: [
        { name: "b", id: "closed.b" },
        { name: "c", id: "closed.c" },
      ],
    });
    await flip("closed", "c", false);
    const { cards, generation } = await tenantOf(env, tenantKey(tenant), createUsage()).cards([
      "closed.c",
      "closed.b",
      "open.a",
      "no.such",
    ]);
    expect(cards).toMatchObject([
      { id: "closed.b", public: false, version: "3" },
      { id: "open.a", public: true },
    ]);
    expect(generation).toBe(4);
    expect(await tenantOf(env, tenantKey(`${tenant}-unknown`), createUsage()).cards(["x"])).toEqual({
      generation: 0,
      cards: [],
    });
    expect(await tenantOf(env, tenantKey(`${tenant}-unknown`), createUsage()).find({ text: "x", limit: 1 })).toEqual({
      generation: 0,
      cards: [],
    });
  });
});

describe("the index follows what is current", () => {
  it("when items change, leave and come back", async () => {
    const tool = (description: string) => ({ tools: [{ name: "t", description }] });
    await mine.publish("s", tool("about apples"));
    expect(await keys("apples")).toEqual(["t"]);
    await mine.publish("s", tool("about volcanoes"));
    expect([await keys("apples"), await keys("volcanoes")]).toEqual([[], ["t"]]);
    await mine.publish("s", tool("about apples"));
    expect([await keys("apples"), await keys("volcanoes")]).toEqual([["t"], []]);
    await mine.publish("s", tools("other"));
    expect(await keys("apples")).toEqual([]);
    expect(await stored()).toHaveLength(1);
  });

  it("when items are switched off and on, through either door, and republished meanwhile", async () => {
    await mine.publish("s", tools("apple", "volcano"));
    await flip("s", "apple", false);
    expect([await keys("apple"), await keys("")]).toEqual([[], ["volcano"]]);
    const [apple, volcano] = tools("apple", "volcano").tools;
    await mine.publish("s", { tools: [{ ...apple, description: "Rewritten apple." }, volcano] });
    expect(await keys("rewritten")).toEqual([]);
    await flip("s", "apple", true);
    expect(await keys("rewritten")).toEqual(["apple"]);
    await mine.publish("s", {
      tools: [
        { ...apple, description: "Rewritten apple." },
        { ...volcano, enabled: false },
      ],
    });
    expect(await keys("")).toEqual(["apple"]);
  });

  it("when a server is deleted and made again", async () => {
    await mine.publish("s", tools("apple"));
    await mine.publish("t", tools("pear"));
    await mine.remove("s");
    expect(await keys("")).toEqual(["pear"]);
    expect(await stored()).toHaveLength(1);
    await mine.publish("s", tools("plum"));
    expect((await keys("apple")).includes("apple")).toBe(false);
    expect(await keys("plum")).toEqual(["plum"]);
  });

  it("when the server's title changes, in its manifest or its settings", async () => {
    await mine.publish("s", { title: "Quorx", ...tools("apple", "pear") });
    expect((await keys("quorx")).sort()).toEqual(["apple", "pear"]);
    await mine.publish("s", { title: "Blivet", ...tools("apple") });
    expect([await keys("quorx"), await keys("blivet")]).toEqual([[], ["apple"]]);
    await mine.put({ name: "s", title: "Zarf" });
    expect([await keys("blivet"), await keys("zarf")]).toEqual([[], ["apple"]]);
  });

  it("across a restart", async () => {
    await mine.publish("s", tools("apple", "pear"));
    await drained(tenant);
    const before = await find("apple");
    await evictDurableObject(stub());
    expect(await find("apple")).toEqual(before);
    await mine.publish("s", tools("apple"));
    expect(await keys("")).toEqual(["apple"]);
  });
});

describe("a write", () => {
  const many = Array.from({ length: 300 }, (_, index) => `tool_${index}`);

  it("touches the cards and words of what changed, not of what stayed", async () => {
    await mine.publish("s", { version: "1", ...tools(...many) });
    const before = await stored();
    // A new version of the server, one item gone, one new, one that reads differently.
    const [first, second, ...rest] = tools(...many).tools;
    await mine.publish("s", {
      version: "2",
      tools: [{ ...first, name: "renamed" }, { ...second, description: "Reads differently." }, ...rest],
    });
    const after = await stored();
    const touched = (row: Record<string, unknown>) => ["tool_0", "tool_1", "renamed"].includes(String(row.key));
    const stayed = (rows: Record<string, unknown>[]) => rows.filter((row) => !touched(row));
    expect(stayed(after)).toEqual(stayed(before));
    expect(stayed(after)).toHaveLength(298);
    const numbers = (rows: Record<string, unknown>[]) => rows.map(({ number }) => Number(number));
    const rewritten = numbers(after.filter(touched));
    expect(rewritten).toHaveLength(2);
    expect(Math.min(...rewritten)).toBeGreaterThan(Math.max(...numbers(before)));
    expect((await find("tool_5"))[0]).toMatchObject({ key: "tool_5", version: "2" });
  });

  it("that finds nothing new, or settles what items do not show, leaves the index alone", async () => {
    await mine.publish("s", { version: "1", ...tools(...many) });
    const before = await stored();
    await mine.publish("s", { version: "1", ...tools(...many) });
    await mine.publish("s", { version: "2", ...tools(...many) });
    await mine.put({ name: "s", visibility: "public", description: "Open to all." });
    expect(await stored()).toEqual(before);
  });
});

describe("an index that is rebuilt", () => {
  it("has what is current and switched on, and nothing else", async () => {
    await mine.publish("s", tools("apple", "pear", "old"));
    await mine.publish("s", tools("apple", "pear"));
    await flip("s", "pear", false);
    await mine.publish("gone", tools("plum"));
    await mine.remove("gone");
    await inside((sql) => {
      sql.exec("UPDATE card SET key = 'spoilt', bag = x''");
      rebuildCards(sql);
    });
    expect(await keys("")).toEqual(["apple"]);
    expect(await keys("apple")).toEqual(["apple"]);
    await flip("s", "pear", true);
    expect(await keys("")).toEqual(["apple", "pear"]);
  });
});

describe("hostile questions", () => {
  beforeEach(async () => {
    await mine.publish("s", tools("apple"));
  });

  it.each([
    'apple"',
    '"apple',
    "apple*",
    "name:apple",
    "apple AND",
    "NEAR(apple",
    "apple NOT (",
    "{name title}: apple",
    "^apple",
    "' OR 1=1 --apple",
    "apple\u0000pear",
    "apple \ud800",
    `apple ${"(".repeat(10_000)}`,
    `apple ${"pear ".repeat(2_000)}`,
  ])("find what their words find: %j", async (text) => {
    expect(await keys(text)).toEqual(["apple"]);
  });

  it("are answered in any script, at any length", async () => {
    for (const text of ["り".repeat(10_240), "🍎🍎(🍎", "𞤀𞤣𞤤𞤢𞤥", "x".repeat(10_240), "ـ", "\u0301"]) {
      expect(await keys(text)).toEqual(/\p{L}|\p{M}/u.test(text) ? [] : ["apple"]);
    }
  });

  it("never become syntax, whatever is asked", async () => {
    const any = fc.oneof(
      fc.string({ unit: "binary", maxLength: 100 }),
      fc.string({ unit: "grapheme", maxLength: 100 }),
      fc
        .array(fc.constantFrom(..."\" * ( ) : ^ - + { } , ' apple AND OR NOT NEAR name \u0000 気 é".split(" ")), {
          maxLength: 12,
        })
        .map((parts) => parts.join("")),
    );
    const index = tenantOf(env, tenantKey(tenant), createUsage());
    await fc.assert(
      fc.asyncProperty(any, async (text) => {
        expect((await index.find({ text, limit: 5 })).cards.length).toBeLessThanOrEqual(1);
      }),
      { numRuns: 500 },
    );
  });
});
