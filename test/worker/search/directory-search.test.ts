import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import { createUsage } from "../../../src/kernel/platform/usage.ts";
import type { DirectoryChange } from "../../../src/objects/directory/contract.ts";
import { directoryOf } from "../../../src/objects/stubs.ts";
import { DirectoryFeed } from "../../../src/objects/tenant/directory-feed.ts";
import type { CapabilityCard, ItemChange } from "../../../src/search/contract.ts";
import { itemTermWeights } from "../../../src/search/item-terms.ts";
import { applyItems } from "../../../src/search/sql/directory-cards.ts";
import { type Member, member } from "../support/member.ts";
import { capabilities, drained, tools } from "../support/registry.ts";

let tenant: string;
let mine: Member;
let round = 0;

beforeEach(async () => {
  tenant = `listed-${++round}`;
  mine = await member(tenant);
});

const directory = directoryOf(env, createUsage());
const stub = () => env.TENANTS.get(env.TENANTS.idFromName(tenant));
const directoryStub = () => env.DIRECTORY.get(env.DIRECTORY.idFromName("directory"));
const find = async (text: string, whose = { tenants: [tenantKey(tenant)] }) =>
  (await directory.find({ text, limit: 1_000, ...whose })).cards;
const keys = async (text: string) => (await find(text)).map(({ key }) => key);
const flip = (name: string, key: string, enabled: boolean) =>
  mine.send("PATCH", capabilities(tenant, name), { items: [{ kind: "tool", name: key, enabled }] });
const open = (name: string) => mine.post({ name, visibility: "public" });
const pending = () =>
  runInDurableObject(stub(), async (_, state) =>
    state.storage.sql.exec("SELECT server, kind, key, generation FROM pending_item").toArray(),
  );

/** How many cards the directory stores for the tenant. */
const kept = () =>
  runInDurableObject(directoryStub(), async (_, { storage }) =>
    Number(storage.sql.exec("SELECT count(*) AS n FROM card WHERE tenant = ?", tenant).one().n),
  );

/** All the words and rows that the directory stores for items, as bytes that can be searched. */
const everything = () =>
  runInDurableObject(directoryStub(), async (_, state) => {
    const rows = ["card", "indexed_server"].map((table) => state.storage.sql.exec(`SELECT * FROM ${table}`).toArray());
    return JSON.stringify(rows);
  });

describe("searching across tenants", () => {
  it("finds items of public servers, the best first, each with the generation it is true as of", async () => {
    await open("s");
    const { body } = await mine.publish("s", {
      version: "4.2",
      tools: [{ name: "a", description: "Sends a postcard." }, { name: "postcard", version: "1" }, { name: "other" }],
    });
    const { generation } = body.data;
    expect(await find("postcards")).toMatchObject([
      { tenant, server: "s", kind: "tool", key: "postcard", version: "1", generation },
      { key: "a", version: "4.2", description: "Sends a postcard.", generation },
    ]);
    const scores = (await find("postcards")).map(({ score }) => score);
    expect(scores[0]).toBeGreaterThan(scores[1] ?? Number.POSITIVE_INFINITY);
    expect(await keys("")).toEqual(["a", "other", "postcard"]);
  });

  it("looks up an id that several tenants have, and leaves tenants out when told", async () => {
    const other = `${tenant}-other`;
    const theirs = await member(other);
    for (const who of [mine, theirs]) {
      await who.post({ name: "s", visibility: "public" });
      await who.publish("s", { tools: [{ name: "t", id: "shared.id" }] });
    }
    const owners = (found: { cards: CapabilityCard[] }) => found.cards.map((card) => card.tenant);
    expect(owners(await directory.cards(["shared.id", "none"]))).toEqual([tenant, other]);
    expect(owners(await directory.cards(["shared.id"], { exceptTenants: [tenantKey(tenant)] }))).toEqual([other]);
    expect(owners(await directory.cards(["shared.id"], { tenants: [tenantKey(tenant)] }))).toEqual([tenant]);
    const query = { text: "t", limit: 10, tenants: [tenantKey(tenant), tenantKey(other)] };
    expect(owners(await directory.find(query))).toEqual([tenant, other]);
    expect(owners(await directory.find({ ...query, exceptTenants: [tenantKey(tenant)] }))).toEqual([other]);
    expect(owners(await directory.find({ ...query, kinds: ["prompt"] }))).toEqual([]);
  });

  it("answers whatever it is asked", async () => {
    await open("s");
    await mine.publish("s", tools("apple"));
    for (const text of ['apple"', "apple*", "NEAR(apple", "apple AND", "apple\u0000", `apple ${"(".repeat(10_240)}`]) {
      expect(await keys(text)).toEqual(["apple"]);
    }
  });
});

describe("the directory follows", () => {
  it("what is published, switched off and on, and dropped", async () => {
    await open("s");
    await mine.publish("s", tools("apple", "pear"));
    await mine.publish("s", tools("pear", "plum"));
    expect(await keys("")).toEqual(["pear", "plum"]);
    await flip("s", "pear", false);
    expect(await keys("")).toEqual(["plum"]);
    await flip("s", "pear", true);
    expect(await keys("pear")).toEqual(["pear"]);
    await drained(tenant);
    expect(await pending()).toEqual([]);
  });

  it("visibility as it widens, narrows and widens again", async () => {
    await mine.publish("s", tools("apple", "pear"));
    expect(await keys("")).toEqual([]);
    await flip("s", "pear", false);
    await mine.put({ name: "s", visibility: "public" });
    expect(await keys("")).toEqual(["apple"]);
    await mine.put({ name: "s", visibility: "tenant" });
    expect(await keys("")).toEqual([]);
    await mine.publish("s", tools("plum"));
    expect(await keys("")).toEqual([]);
    await mine.put({ name: "s", visibility: "public" });
    expect(await keys("")).toEqual(["plum"]);
  });

  it("deletion, and what is made anew under the name", async () => {
    await open("s");
    await mine.publish("s", tools("apple"));
    await mine.remove("s");
    expect([await keys(""), await kept()]).toEqual([[], 0]);
    await mine.publish("s", tools("pear"));
    expect(await kept()).toBe(0);
    await mine.remove("s");
    await open("s");
    await mine.publish("s", tools("plum"));
    expect(await keys("")).toEqual(["plum"]);
  });

  it("a server's title, and its version without touching a card", async () => {
    await open("s");
    await mine.publish("s", { version: "1", ...tools("apple") });
    const { generation } = (await mine.publish("s", { version: "2", ...tools("apple") })).body.data;
    expect(await pending()).toEqual([]);
    expect(await find("apple")).toMatchObject([{ version: "2", generation }]);
    await mine.put({ name: "s", title: "Orchard", visibility: "public" });
    expect(await keys("orchard")).toEqual(["apple"]);
  });

  it("only what changed: one row owed for one item in many", async () => {
    const many = Array.from({ length: 50 }, (_, index) => `tool_${index}`);
    await open("s");
    await mine.publish("s", tools(...many));
    await drained(tenant);
    const cards = () =>
      runInDurableObject(directoryStub(), async (_, state) =>
        state.storage.sql.exec("SELECT * FROM card WHERE tenant = ?", tenant).toArray(),
      );
    const before = await cards();
    await mine.publish("s", tools("renamed", ...many.slice(1)));
    const owed = (await pending()).map(({ key }) => key).sort();
    // Told already, and struck off by the drain that follows.
    expect(["renamed", "tool_0"]).toEqual(expect.arrayContaining(owed));
    const stayed = (rows: Record<string, unknown>[]) => rows.filter(({ key }) => key !== "renamed" && key !== "tool_0");
    expect(stayed(await cards())).toEqual(stayed(before));
    expect(await cards()).toHaveLength(50);
  });
});

describe("what is private", () => {
  it("never reaches the directory, and leaves it when it was there", async () => {
    const secret = "xyzzyplugh";
    const item = (word: string) => ({
      name: `${word}_name`,
      title: `${word} title`,
      description: `About ${word}.`,
      inputSchema: { properties: { [`${word}_in`]: { description: word } } },
    });
    await mine.publish("closed", { title: "Closed", tools: [item(secret)] });
    await mine.put({ name: "closed", title: secret, visibility: "tenant" });
    await flip("closed", `${secret}_name`, false);
    await flip("closed", `${secret}_name`, true);
    await open("open");
    await mine.publish("open", { tools: [item("public"), { ...item("hidden"), enabled: false }] });
    await mine.remove("closed");
    await drained(tenant);
    const stored = await everything();
    expect(stored).toContain("public_name");
    expect(stored).not.toContain(secret);
    expect(stored).not.toContain("hidden");
    await mine.put({ name: "open", visibility: "tenant" });
    expect((await directory.find({ text: "public", limit: 10 })).cards).toEqual([]);
    expect((await directory.cards(["mcp.open.public_name"])).cards).toEqual([]);
    expect(await kept()).toBe(0);
  });

  it("stays away when it was made private before the directory was told", async () => {
    await mine.publish("s", tools("apple"));
    await drained(tenant);
    const told: DirectoryChange[][] = [];
    await runInDurableObject(stub(), async (object, { storage }) => {
      const config = JSON.stringify({ tenant, name: "s", visibility: "public" });
      storage.sql.exec("UPDATE server SET config = ?, visibility = 'public', public_since = 1", config);
      storage.sql.exec("INSERT INTO pending_item SELECT server, kind, key, 1 FROM card");
      await (object as unknown as { changeConfig(...args: unknown[]): Promise<unknown> }).changeConfig(
        { tenant, subject: "tester" },
        "s",
        { members: { visibility: "tenant" }, claims: {}, warnings: [] },
      );
      const feed = new DirectoryFeed(
        storage.sql,
        () => recording(told),
        () => undefined,
      );
      await feed.update(["s"]);
    });
    expect(told).toMatchObject([[{ name: "s", visibility: "tenant" }]]);
    expect(JSON.stringify(told)).not.toContain("apple");
    expect(await pending()).toEqual([]);
  });
});

const state = { epoch: "e", generation: 1 };

/** A directory that takes everything and keeps it. */
function recording(told: DirectoryChange[][]) {
  return {
    update: async (changes: readonly DirectoryChange[]) => {
      told.push([...changes]);
      return { accepted: changes.map(() => true), state };
    },
  };
}

describe("after a crash", () => {
  it("the alarm tells what was committed and not yet told", async () => {
    await open("s");
    await mine.publish("s", tools("apple"));
    await drained(tenant);
    // As a crash leaves it: the write is committed with what it owes, nothing is told, an alarm is set.
    await runInDurableObject(directoryStub(), async (_, { storage }) => {
      const changed: ItemChange[] = [{ kind: "tool", key: "apple" }];
      applyItems(
        storage.sql,
        { tenant: tenantKey(tenant), name: "s", generation: 1 },
        { publicSince: 1, changed, complete: true },
      );
    });
    await runInDurableObject(stub(), async (_, { storage }) => {
      storage.sql.exec("INSERT INTO pending_item SELECT server, kind, key, 2 FROM card");
      storage.sql.exec("INSERT INTO outbox (task, subject, version, due_at) VALUES ('directory', 's', 1, 0)");
      await storage.setAlarm(Date.now() + 60_000);
    });
    await evictDurableObject(stub());
    await evictDurableObject(directoryStub());
    expect(await keys("")).toEqual([]);
    expect(await runDurableObjectAlarm(stub())).toBe(true);
    expect(await keys("apple")).toEqual(["apple"]);
    expect(await pending()).toEqual([]);
  });
});

describe("what is told", () => {
  const many = Array.from({ length: 450 }, (_, index) => `tool_${index}`);

  it("goes in bounded batches, the entry with each, and is struck off as it is taken", async () => {
    await mine.publish("s", tools(...many));
    await drained(tenant);
    const told: DirectoryChange[][] = [];
    await runInDurableObject(stub(), async (_, { storage }) => {
      const { sql } = storage;
      sql.exec("UPDATE server SET visibility = 'public', public_since = 1");
      sql.exec("INSERT INTO pending_item SELECT server, kind, key, 1 FROM card");
      const owed = () => Number(sql.exec("SELECT count(*) AS n FROM pending_item").one().n);
      let down = false;
      const { update } = recording(told);
      const flaky = async (changes: readonly DirectoryChange[]) => {
        if (down) throw new Error("the directory is down");
        return update(changes);
      };
      const feed = new DirectoryFeed(
        sql,
        () => ({ update: flaky }),
        () => undefined,
      );
      expect(await feed.update(["s"])).toEqual(["s"]);
      // Told again before it was struck off: the next ones, not the same.
      expect(await feed.update(["s"])).toEqual(["s"]);
      expect(owed()).toBe(450);
      feed.removeAccepted();
      expect(owed()).toBe(50);
      down = true;
      await expect(feed.update(["s"])).rejects.toThrow("down");
      feed.removeAccepted();
      expect(owed()).toBe(50);
      down = false;
      // A newer change of an item that is on its way stays owed.
      const last = feed.update(["s"]);
      sql.exec("UPDATE pending_item SET generation = 2 WHERE key = 'tool_99'");
      expect(await last).toEqual([]);
      feed.removeAccepted();
      expect(owed()).toBe(1);
    });
    const batches = told.flat().map((change) => ("items" in change ? change.items : undefined));
    expect(batches.map((items) => items?.changed.length)).toEqual([200, 200, 50]);
    expect(batches.map((items) => items?.complete)).toEqual([false, false, true]);
    expect(new Set(batches.flatMap((items) => items?.changed.map(({ key }) => key))).size).toBe(450);
  });

  it("is bounded by bytes too", async () => {
    const description = Array.from({ length: 600 }, (_, index) => `word${index}`).join(" ");
    await mine.publish("s", { tools: many.slice(0, 200).map((name) => ({ name, description })) });
    await drained(tenant);
    const told: DirectoryChange[][] = [];
    await runInDurableObject(stub(), async (_, { storage }) => {
      storage.sql.exec("UPDATE server SET visibility = 'public', public_since = 1");
      storage.sql.exec("INSERT INTO pending_item SELECT server, kind, key, 1 FROM card");
      const feed = new DirectoryFeed(
        storage.sql,
        () => recording(told),
        () => undefined,
      );
      while ((await feed.update(["s"])).length > 0);
    });
    expect(told.length).toBeGreaterThan(1);
    const tokens = (batch: DirectoryChange[]) => JSON.stringify(batch).length;
    for (const batch of told) expect(tokens(batch)).toBeLessThan(600_000);
  });

  it("stays owed while the directory knows a later state, and takes no part in a loop", async () => {
    await mine.publish("s", tools("apple"));
    await drained(tenant);
    await runInDurableObject(stub(), async (_, { storage }) => {
      storage.sql.exec("UPDATE server SET visibility = 'public', public_since = 1");
      storage.sql.exec("INSERT INTO pending_item SELECT server, kind, key, 1 FROM card");
      const feed = new DirectoryFeed(
        storage.sql,
        () => ({ update: async (changes) => ({ accepted: changes.map(() => false), state }) }),
        () => undefined,
      );
      expect(await feed.update(["s"])).toEqual([]);
      // A later state of the directory says nothing of this write.
      expect(feed.stateWith("s")).toBeUndefined();
      feed.removeAccepted();
    });
    expect(await pending()).toHaveLength(1);
  });

  it("all arrives, however many there are, with a writer waiting for one batch only", async () => {
    await mine.publish("s", tools(...many));
    await mine.put({ name: "s", visibility: "public" });
    expect((await find("")).length).toBeGreaterThanOrEqual(200);
    await drained(tenant);
    expect(await find("")).toHaveLength(450);
    expect(await pending()).toEqual([]);
  });
});

describe("what arrives late or twice", () => {
  const bagOf = (name: string) => itemTermWeights({ key: name, declared: { name } }, { name: "s" });
  const item = (key: string, id = `id.${key}`): ItemChange => ({
    kind: "tool",
    key,
    indexed: {
      card: {
        ...{ tenant: tenantKey(tenant), server: "s", kind: "tool", key, id, digest: "sha256-x", tokens: 1, flags: [] },
        attributes: [],
      },
      bag: bagOf(key),
      vector: null,
    },
  });
  const change = (
    generation: number,
    publicSince: number,
    changed: ItemChange[],
    complete = true,
  ): DirectoryChange => ({
    ...{
      tenant: tenantKey(tenant),
      name: "s",
      visibility: "public",
      status: "active",
      generation,
      updatedAt: "2026-01-01T00:00:00Z",
    },
    ...{ probe: "unknown", attributes: [] },
    items: { publicSince, changed, complete },
  });
  const gone = (key: string): ItemChange => ({ kind: "tool", key });

  it("loses to a later generation of its server", async () => {
    expect(await directory.update([change(5, 1, [item("apple")])])).toMatchObject({ accepted: [true] });
    expect(await directory.update([change(7, 1, [gone("apple"), item("pear")])])).toMatchObject({ accepted: [true] });
    expect(await directory.update([change(5, 1, [item("apple")])])).toMatchObject({ accepted: [false] });
    expect(await keys("")).toEqual(["pear"]);
    expect(await directory.update([{ tenant: tenantKey(tenant), name: "s", generation: 8 }])).toMatchObject({
      accepted: [true],
    });
    expect(await directory.update([change(7, 1, [item("pear")])])).toMatchObject({ accepted: [false] });
    expect(await keys("")).toEqual([]);
  });

  it("does no harm at the same generation: a first batch that comes again leaves the second alone", async () => {
    await directory.update([change(5, 5, [item("apple")], false)]);
    await directory.update([change(5, 5, [item("pear")])]);
    await directory.update([change(5, 5, [item("apple")], false)]);
    expect(await keys("")).toEqual(["apple", "pear"]);
    expect(await find("apple")).toHaveLength(1);
  });

  it("drops what is left of an earlier time when the server was private or gone in between, unheard of", async () => {
    await directory.update([change(5, 5, [item("apple"), item("pear")])]);
    await directory.update([change(9, 8, [item("pear")])]);
    expect(await keys("")).toEqual(["pear"]);
    expect(await keys("apple")).not.toContain("apple");
  });

  it("says of a card no later generation than all its server's items have reached", async () => {
    await directory.update([change(5, 3, [item("apple")])]);
    await directory.update([change(8, 3, [item("pear")], false)]);
    expect((await find("")).map(({ generation }) => generation)).toEqual([5, 5]);
    await directory.update([change(8, 3, [item("plum")])]);
    expect((await find("")).map(({ generation }) => generation)).toEqual([8, 8, 8]);
  });

  it("changes no generation of the directory when there is nothing new in it", async () => {
    await directory.update([change(5, 3, [item("apple")])]);
    const { generation } = await directory.cards([]);
    await directory.update([change(5, 3, [])]);
    await directory.update([change(4, 3, [item("pear")])]);
    expect((await directory.cards([])).generation).toBe(generation);
    await directory.update([change(5, 3, [item("pear")])]);
    expect((await directory.cards([])).generation).toBe(generation + 1);
  });
});
