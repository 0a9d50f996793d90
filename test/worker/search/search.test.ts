import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { wordVectors } from "../../../src/search/load-word-vectors.ts";
import { CardIndex } from "../../../src/search/sql/card-index.ts";
import { findCards } from "../../../src/search/sql/find-cards.ts";
import { built } from "../directory/edges.ts";
import { type Member, member, registry } from "../support/member.ts";
import { drained, Registry, token } from "../support/registry.ts";

interface Item {
  id: string;
  tenant: string;
  name: string;
  tokens: number;
  score: number;
  [member: string]: unknown;
}

const search = async (query: Record<string, string | string[]>, who?: string, headers: Record<string, string> = {}) => {
  const parameters = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}=${encodeURIComponent(value)}`),
  );
  const path = `/api/search?${parameters.join("&")}`;
  return registry.send("GET", path, { headers, ...(who === undefined ? {} : { token: who }) });
};
const items = async (...asked: Parameters<typeof search>): Promise<Item[]> => {
  const { status, body } = await search(...asked);
  expect([asked[0], status, body?.error]).toEqual([asked[0], 200, undefined]);
  return body.data.items;
};
const names = async (...asked: Parameters<typeof search>) => (await items(...asked)).map(({ name }) => name);

let mine: string;
let theirs: string;
let owner: Member;

const tool = (name: string, description: string) => ({ name, description, inputSchema: { type: "object" } });

beforeAll(async () => {
  mine = await token({ tenants: ["finders"] });
  theirs = await token({ tenants: ["keepers"] });
  owner = await member("finders");
  await owner.post({ name: "office", title: "Office", visibility: "public" });
  await owner.publish("office", {
    tools: [
      tool("send_email", "Sends an e-mail to one or more people."),
      tool("createInvoice", "Makes out a bill for a customer."),
      tool("resize_picture", "Changes the width and height of an image."),
      tool("weather_forecast", "The weather of the next days in a town."),
    ],
    prompts: [{ name: "polite_email", description: "Words an e-mail politely." }],
  });
  await owner.publish("vault", { tools: [tool("open_vault", "Opens the vault with a secret word.")] });
  const other = await member("keepers");
  await other.publish("cellar", { tools: [tool("count_bottles", "Counts the bottles of wine in the cellar.")] });
  await drained("finders");
  await drained("keepers");
});

describe("what a search finds", () => {
  it("is what serves the task, the best first, with its cost and where its words are", async () => {
    const [first] = await items({ q: "email my customers" }, mine);
    expect(first).toMatchObject({ id: expect.any(String), tenant: "finders", server: "office", name: "send_email" });
    expect(first?.tokens).toBeGreaterThan(0);
    expect(first?.highlights).toMatchObject({ name: [[5, 10]] });
    expect(first).not.toHaveProperty("why");
  });

  it("is found by meaning where the words differ", async () => {
    expect(await names({ q: "shrink my photos" }, mine)).toContain("resize_picture");
    expect(await wordVectors(env.ASSETS)).toBeDefined();
  });

  it("is explained when asked", async () => {
    const { body } = await search({ q: "Send an email to Ann. Then make out an invoice.", explain: "true" }, mine);
    expect(body.data.steps).toBe(2);
    const why = new Map(body.data.items.map((item: Item) => [item.name, item.why]));
    expect(why.get("createInvoice")).toMatchObject({ clause: 1, words: 1, meaning: expect.any(Number) });
    expect(why.get("send_email")).toMatchObject({ clause: 0, terms: expect.arrayContaining(["send", "email"]) });
    expect((await names({ q: "Send an email to Ann. Then make out an invoice.", limit: "2" }, mine)).sort()).toEqual([
      "createInvoice",
      "send_email",
    ]);
  });

  it("is what the caller may see: the public, and what is its own", async () => {
    expect(await names({ q: "vault secret" }, mine)).toContain("open_vault");
    expect(await names({ q: "vault secret" }, theirs)).not.toContain("open_vault");
    expect(await names({ q: "vault secret" })).not.toContain("open_vault");
    expect(await names({ q: "email" })).toContain("send_email");
    expect(await names({ q: "email or bottles" }, theirs)).toEqual(
      expect.arrayContaining(["send_email", "count_bottles"]),
    );
    expect(await names({ q: "bottles of wine" }, mine)).not.toContain("count_bottles");
  });

  it("can be of some kinds and tenants only", async () => {
    expect(await names({ q: "email", kind: "prompt" }, mine)).toEqual(["polite_email"]);
    expect((await names({ q: "email", kind: ["prompt", "tool"] }, mine)).sort()).toEqual(
      expect.arrayContaining(["polite_email", "send_email"]),
    );
    expect(await names({ q: "email or bottles", tenant: "keepers" }, theirs)).toEqual(["count_bottles"]);
    expect(await names({ q: "email", tenant: "nobody" }, mine)).toEqual([]);
  });
});

describe("many of the same", () => {
  it("are found, however many have the word and none in its name", async () => {
    const crowd = await member("herd");
    const publish = (server: string, count: number) =>
      crowd.publish(server, {
        tools: Array.from({ length: count }, (_, at) => tool(`${server}_${at}`, "Frobnicates it.")),
      });
    for (const server of ["a1", "b2", "c3", "d4"]) await publish(server, 500);
    const who = await token({ tenants: ["herd"] });
    expect(await items({ q: "frobnicate" }, who)).toHaveLength(10);
    expect(await items({ q: "Frobnicate this thing. Then send an email.", limit: "20" }, who)).not.toHaveLength(0);
  });

  it("come last where they are the same in another tenant, and say so", async () => {
    const twin = await member("twins");
    await twin.publish("copy", { tools: [tool("weather_forecast", "The weather of the next days in a town.")] });
    const who = await token({ tenants: ["twins", "finders"] });
    const found = (await items({ q: "weather forecast" }, who)).filter(({ name }) => name === "weather_forecast");
    expect(found.map(({ alike }) => alike ?? false)).toEqual([false, true]);
  });

  it("are behind what differs, on whichever page that ends", async () => {
    const forks = await member("forks");
    const servers = Array.from({ length: 14 }, (_, at) => `fork${at}`);
    for (const server of servers) {
      await forks.publish(server, { tools: [tool("river_level", "How high the water of a river stands.")] });
    }
    const others = ["river_flow", "river_map", "river_ferry"].map((name) =>
      tool(name, `About the ${name} of a river.`),
    );
    await forks.publish("rivers", { tools: others });
    const who = await token({ tenants: ["forks"] });
    const q = "how high does the water of the river stand";
    const whole = await items({ q, limit: "30", tenant: "forks" }, who);
    expect(new Set(whole.slice(0, 4).map(({ name }) => name)).size).toBe(4);
    expect(whole.filter(({ alike }) => alike)).toHaveLength(13);
    const paged: Item[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = { q, limit: "2", tenant: "forks", ...(cursor === undefined ? {} : { cursor }) };
      const { status, body } = await search(page, who);
      expect([status, body.error]).toEqual([200, undefined]);
      paged.push(...body.data.items);
      cursor = body.data.nextCursor;
    }
    expect(paged).toEqual(whole);
  });

  it("are found in a tenant beyond those that one question goes to, where they are public", async () => {
    const many = Array.from({ length: 20 }, (_, at) => `aaa-${at}`);
    const who = await token({ tenants: [...many, "finders"] });
    const { body } = await search({ q: "weather forecast" }, who);
    expect(body.data.skippedTenants).toContain("finders");
    expect(body.data.items[0]).toMatchObject({ tenant: "finders", name: "weather_forecast" });
  });
});

describe("a budget", () => {
  it("is never exceeded, and says what did not fit", async () => {
    const all = await items({ q: "email weather invoice picture" }, mine);
    const costs = all.map(({ tokens }) => tokens);
    const total = costs.reduce((sum, cost) => sum + cost, 0);
    for (const budget of [1, Math.min(...costs), Math.max(...costs) + 1, total - 1, total, 1_000_000_000]) {
      const { body } = await search({ q: "email weather invoice picture", budget: String(budget) }, mine);
      const used = body.data.items.reduce((sum: number, item: Item) => sum + item.tokens, 0);
      expect(used).toBeLessThanOrEqual(budget);
      expect(body.data.usedTokens).toBe(used);
      const left = (body.data.leftOut ?? []).map(({ reason }: { reason: string }) => reason);
      expect(new Set(left).size).toBeLessThanOrEqual(1);
      expect(body.data.items.length + left.length + (body.data.moreLeftOut ?? 0)).toBeLessThanOrEqual(all.length);
      if (budget >= total) expect(body.data.items).toHaveLength(all.length);
      if (budget !== 1) continue;
      expect([body.data.items, left.length + (body.data.moreLeftOut ?? 0)]).toEqual([[], all.length]);
      const [{ id, tokens }] = all as [Item];
      const message = `It costs ${tokens} tokens; 1 are left`;
      expect(body.data.leftOut[0]).toMatchObject({ id, tokens, reason: "over-budget", message });
    }
  });
});

describe("pages", () => {
  it("follow each other until something is written", async () => {
    const q = "email weather invoice picture";
    const whole = await items({ q }, mine);
    const first = await search({ q, limit: "2" }, mine);
    const cursor = first.body.data.nextCursor;
    const second = await search({ q, limit: "2", cursor }, mine);
    expect([...first.body.data.items, ...second.body.data.items]).toEqual(whole.slice(0, 4));
    expect((await search({ q: "email", limit: "2", cursor }, mine)).body.error.code).toBe("ErrorCursorInvalid");
    expect((await search({ q, limit: "2", cursor }, theirs)).body.error.code).toBe("ErrorCursorInvalid");
    // What is written elsewhere is no matter; what was on the page before is.
    await owner.publish("vault", { tools: [tool("open_vault", "Opens the vault with two secret words.")] });
    const ids = (list: Item[]) => list.map(({ id }) => id);
    const again = await search({ q, limit: "2", cursor }, mine);
    expect(ids(again.body.data.items)).toEqual(ids(whole.slice(2, 4)));
    const [best] = whole;
    const flip = (enabled: boolean) =>
      owner.send("PATCH", "/api/mcp/capabilities/finders/office", {
        items: [{ kind: best?.kind, name: best?.name, enabled }],
      });
    await flip(false);
    const late = await search({ q, limit: "2", cursor }, mine);
    await flip(true);
    expect([late.status, late.body.error.code]).toEqual([410, "ErrorCursorExpired"]);
  });

  it("are not sent again while they are the same", async () => {
    const first = await search({ q: "email" }, mine);
    const etag = first.headers.get("ETag") ?? "";
    expect(etag).toMatch(/^W\/"/);
    expect((await search({ q: "email" }, mine, { "If-None-Match": etag })).status).toBe(304);
    expect((await search({ q: "vault" }, mine, { "If-None-Match": etag })).status).toBe(200);
    expect(Number(first.headers.get("Rollcall-Generation"))).toBeGreaterThan(0);
  });
});

describe("a question that is wrong", () => {
  it.each([
    [{}, "task is missing"],
    [{ q: "" }, "task is missing"],
    [{ q: "   " }, "task is missing"],
    [{ q: "***" }, "must contain a letter or digit"],
    [{ q: "x".repeat(10_241) }, "task must have at most 10240 characters"],
    [{ q: "a", kind: "tol" }, "kind must be one of tool"],
    [{ q: "a", tenant: "No Such" }, "Tenant name"],
    [{ q: "a", budget: "0" }, "budget must be a whole number from 1"],
    [{ q: "a", budget: "-5" }, "budget must be a whole number"],
    [{ q: "a", budget: "1000000001" }, "budget must be a whole number"],
    [{ q: "a", limit: "0" }, "limit must be a whole number from 1 to 100"],
    [{ q: "a", limit: "-1" }, "limit must be"],
    [{ q: "a", limit: "99999999999" }, "limit must be"],
    [{ q: "a", explain: "maybe" }, "explain must be true or false"],
    [{ q: "a", cursor: "made.up" }, "cursor"],
    [{ q: ["a", "b"] }, "task may be given once"],
    [{ q: "a", query: "b" }, "q and query are the same parameter"],
  ])("is refused: %j", async (query, message) => {
    const { status, body } = await search(query as Record<string, string>, mine);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(message)]);
  });

  it("in any script, of any length or with any operator is plain text", async () => {
    const texts = [
      '"email" AND NOT (',
      "NEAR(email vault, 2)",
      "name:email*",
      "^email",
      "электронная почта",
      "电子邮件 email",
    ];
    for (const q of [...texts, `email ${"word ".repeat(2_000)}`]) {
      expect([q.slice(0, 40), (await search({ q }, mine)).status]).toEqual([q.slice(0, 40), 200]);
    }
    expect(await names({ q: 'email" OR 1=1 --' }, mine)).toContain("send_email");
  });

  it("does not take another method, or a generation", async () => {
    expect((await registry.send("POST", "/api/search?q=a", { token: mine })).status).toBe(405);
    const { status } = await search({ q: "a" }, mine, { "Rollcall-Min-Generation": "1" });
    expect(status).toBe(400);
  });
});

describe("filters, facets and an unfinished word", () => {
  let keeper: string;

  beforeAll(async () => {
    keeper = await token({ tenants: ["sorted"] });
    const sorter = await member("sorted");
    await sorter.publish("desk", {
      tools: [
        { ...tool("read_ledger", "Reads the ledger."), effects: ["read"], category: "money" },
        { ...tool("write_ledger", "Writes the ledger."), effects: ["write"], permissions: ["ledger"] },
        { ...tool("old_ledger", "The ledger of old."), annotations: { deprecated: true }, deprecated: true },
      ],
      prompts: [{ name: "explain_ledger", description: "Explains the ledger." }],
    });
    await drained("sorted");
  });
  const found = async (query: Record<string, string | string[]>) =>
    (await names({ q: "ledger", tenant: "sorted", ...query }, keeper)).sort();

  it("let through what has one of the values, of every filter", async () => {
    expect(await found({})).toHaveLength(4);
    expect(await found({ effect: ["read", "write"] })).toEqual(["read_ledger", "write_ledger"]);
    expect(await found({ effect: "read", category: "money" })).toEqual(["read_ledger"]);
    expect(await found({ effect: "write", category: "money" })).toEqual([]);
    expect(await found({ permission: "ledger" })).toEqual(["write_ledger"]);
    expect(await found({ provider: "openapi" })).toEqual([]);
    expect(await found({ kind: "prompt", provider: "mcp" })).toEqual(["explain_ledger"]);
    expect(await found({ status: "withdrawn" })).toEqual([]);
    expect(await found({ status: ["active", "deprecated"] })).toHaveLength(4);
  });

  it("count everything that matches, whatever the page shows", async () => {
    const { body } = await search({ q: "ledger", tenant: "sorted", limit: "1", facets: "effect,kind" }, keeper);
    expect(body.data.facets).toEqual({
      kind: {
        values: [
          { value: "tool", count: 3 },
          { value: "prompt", count: 1 },
        ],
      },
      effect: {
        values: [
          { value: "read", count: 1 },
          { value: "write", count: 1 },
        ],
      },
    });
    const all = await search({ q: "ledger", tenant: "sorted", facets: "true" }, keeper);
    expect(Object.keys(all.body.data.facets)).toContain("status");
    expect((await search({ q: "ledger", tenant: "sorted" }, keeper)).body.data.facets).toBeUndefined();
  });

  it("complete the last word, where that is asked for", async () => {
    expect(await found({ q: "ledg" })).toEqual([]);
    expect(await found({ q: "ledg", prefix: "true" })).toHaveLength(4);
  });

  it("are refused when they are none", async () => {
    for (const wrong of [{ status: "gone" }, { effect: "" }, { facets: "colour" }, { prefix: "perhaps" }]) {
      const { status, body } = await search({ q: "a", ...(wrong as unknown as Record<string, string>) }, keeper);
      expect([status, body.error.code]).toEqual([400, expect.stringMatching(/^Error/)]);
    }
  });
});

describe("a search that is asked again", () => {
  it("comes from memory, for those who may see the same, until something is written", async () => {
    let clock = Date.now();
    const near = new Registry({ now: () => clock });
    const path = `/api/search?limit=2&task=${encodeURIComponent("send a letter by mail")}`;
    const ask = (who?: string, headers = {}) => near.send("GET", path, { token: who, headers });
    const source = async (who?: string) => (await ask(who)).headers.get("Rollcall-Source");
    const found = async (who?: string) => (await ask(who)).body.data.items.map(({ name }: Item) => name);
    const publish = (...tools: object[]) =>
      near.send("PUT", "/api/mcp/capabilities/finders/vault", { token: mine, body: { tools } });
    await vi.waitFor(
      async () => {
        await built();
        // A load that failed is tried again after a while.
        clock += 31_000;
        expect(await source()).toBe("memory");
      },
      { timeout: 20_000, interval: 100 },
    );
    const strong = await ask(undefined, { "Cache-Control": "no-cache" });
    expect(strong.headers.get("Rollcall-Source")).toBe("object");
    expect(strong.body.data.items).toEqual((await ask()).body.data.items);

    expect([await source(mine), await source(mine)]).toEqual(["memory", "memory"]);
    expect(await found(mine)).not.toContain("mail_letter");
    expect((await publish(tool("mail_letter", "Sends a letter by mail."))).status).toBe(200);
    expect((await found(mine))[0]).toBe("mail_letter");
    expect(await found()).not.toContain("mail_letter");
    await publish(tool("open_vault", "Opens the vault with a secret word."));
  });

  /** A request whose body has to come with its length, as over the wire. */
  const sent = (where: Registry, path: string, body: object, who?: string, more: Record<string, string> = {}) => {
    const text = JSON.stringify(body);
    const headers = { "Content-Type": "application/json", "Content-Length": String(text.length), ...more };
    return where.send("POST", path, { token: who, headers, body: text });
  };
  const budgeted = (where: Registry, task: string, who?: string) =>
    sent(where, "/api/index/finders/budget", { task, budget: 200 }, who);
  const called = (where: Registry, args: object, who?: string) => {
    const name = "search_capabilities";
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args, _meta } };
    return sent(where, "/mcp", body, who, {
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": "tools/call",
      "Mcp-Name": name,
    });
  };

  it("is free as a budgeted index and as a tool call too, until something changes", async () => {
    let clock = Date.now();
    const near = new Registry({ now: () => clock });
    await vi.waitFor(
      async () => {
        await built();
        clock += 31_000;
        const { headers } = await near.send("GET", `/api/search?task=letter${clock}`);
        expect(headers.get("Rollcall-Source")).toBe("memory");
      },
      { timeout: 20_000, interval: 100 },
    );
    const task = "the weather in a town";
    const { usage, responses } = near.services;
    for (const ask of [() => budgeted(near, task), () => called(near, { task, facets: true })]) {
      const first = await ask();
      const [hits, calls] = [responses.lookups.hits, usage.objectCalls];
      const second = await ask();
      expect([second.status, second.body]).toEqual([200, first.body]);
      expect([responses.lookups.hits - hits, usage.objectCalls - calls]).toEqual([1, 0]);
    }
    const found = (await called(near, { task, facets: true })).body.result.structuredContent;
    expect(found.facets.kind.values).toContainEqual({ value: "tool", count: expect.any(Number) });
    expect((await called(near, { task })).body.result.structuredContent.facets).toBeUndefined();
    // Members see their own tenant, and for a moment only.
    const index = await budgeted(near, "open the vault", mine);
    expect(index.body.data.index).toContain("open_vault");
    expect((await budgeted(near, "open the vault")).body.data.index).not.toContain("open_vault");
    const manifest = { tools: [tool("weather_of_towns", "The weather in a town.")] };
    await near.send("PUT", "/api/mcp/capabilities/finders/office2", { token: mine, body: manifest });
    await near.send("PUT", "/api/mcp/configs", {
      token: mine,
      body: { tenant: "finders", name: "office2", visibility: "public" },
    });
    expect((await budgeted(near, task)).body.data.index).toContain("weather_of_towns");
    expect((await called(near, { task, facets: true })).text).toContain("weather_of_towns");
    await near.send("DELETE", "/api/mcp/configs/finders/office2", { token: mine });
    expect((await called(near, { task, facets: true })).text).not.toContain("weather_of_towns");
  });

  it("is limited as a budgeted index and as a tool call too, and a refusal is not kept", async () => {
    let clock = Date.now();
    const narrow = new Registry({ now: () => clock, vars: { SEARCH_LIMIT: "1/1" } });
    expect((await budgeted(narrow, "one", mine)).status).toBe(200);
    const refused = await budgeted(narrow, "two", mine);
    expect([refused.status, refused.body.error.code]).toEqual([429, "ErrorTooManyRequests"]);
    expect((await called(narrow, { task: "three" }, mine)).text).toContain("ErrorTooManyRequests");
    clock += 1_000;
    expect((await called(narrow, { task: "three" }, mine)).body.result.structuredContent.items).toEqual(
      expect.any(Array),
    );
  });

  it("is limited for one caller where it is new, and free where it is not", async () => {
    let clock = Date.now();
    const narrow = new Registry({ now: () => clock, vars: { SEARCH_LIMIT: "1/3" } });
    const ask = (text: string) => narrow.send("GET", `/api/search?task=${text}`, { token: mine });
    const statuses = [];
    for (const text of ["one", "two", "three", "four"]) statuses.push((await ask(text)).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
    const late = await ask("five");
    expect([late.body.error.code, Number(late.headers.get("Retry-After"))]).toEqual(["ErrorTooManyRequests", 1]);
    clock += 1_000;
    expect((await ask("six")).status).toBe(200);
  });

  it("has no next page in another epoch of the directory", async () => {
    const q = "email weather invoice picture";
    const { body } = await search({ q, limit: "2" });
    const cursor = body.data.nextCursor;
    expect((await search({ q, limit: "2", cursor })).status).toBe(200);
    await runInDurableObject(env.DIRECTORY.get(env.DIRECTORY.idFromName("directory")), async (_, { storage }) => {
      storage.sql.exec("UPDATE meta SET value = value + 1 WHERE key = 'epoch'");
    });
    const late = await search({ q, limit: "2", cursor }, undefined, { "Cache-Control": "no-cache" });
    expect([late.status, late.body.error.code]).toEqual([410, "ErrorCursorExpired"]);
    expect(late.body.error.message).toMatch(/without `cursor`/);
  });
});

describe("what a question reads", () => {
  it("is what it shows, once the index is in memory, and after a write what changed", async () => {
    const crowd = await member("crowd");
    const named = (name: string, count: number) =>
      Array.from({ length: count }, (_, index) => tool(`get_data_${name}_${index}`, `Gets data number ${index}.`));
    await crowd.publish("s", { tools: named("s", 600) });
    const stub = env.TENANTS.get(env.TENANTS.idFromName("crowd"));
    const vectors = await wordVectors(env.ASSETS);
    const index = new CardIndex();
    let generation = 0;
    /** Rows with words that are read for a question, and how many results there are. */
    const reads = () =>
      runInDurableObject(stub, async (_, { storage }) => {
        let read = 0;
        const counting = {
          exec: (query: string, ...values: unknown[]) => {
            const rows = storage.sql.exec(query, ...values).toArray();
            // Numbers alone come from an index, and are not counted.
            if (query.includes("bag") || query.includes("SELECT *")) read += rows.length;
            return { toArray: () => rows, one: () => rows[0], [Symbol.iterator]: () => rows[Symbol.iterator]() };
          },
        } as unknown as SqlStorage;
        const at = { index, generation, vectors, statusOf: () => () => "active" as const };
        // Only words that every item has.
        const { cards } = findCards({ sql: counting, ...at }, { text: "get data number", limit: 10 });
        return [read, cards.length];
      });
    expect(await reads()).toEqual([600 + 10, 10]);
    expect(await reads()).toEqual([10, 10]);
    await crowd.publish("t", { tools: named("t", 7) });
    generation += 1;
    expect(await reads()).toEqual([7 + 10, 10]);
    // A search that needed no index had it prepared; then an item is written while the next one prepares it.
    const prepared = () => runInDurableObject(stub, (_, { storage }) => index.prepare(storage.sql, generation));
    await prepared();
    await crowd.publish("u", { tools: named("u", 3) });
    generation += 1;
    await prepared();
    await crowd.publish("v", { tools: named("v", 5) });
    generation += 1;
    const items = await runInDurableObject(stub, (_, { storage }) =>
      index.parts(storage.sql, generation).reduce((sum, { numbers }) => sum + numbers.length, 0),
    );
    expect(items).toBe(600 + 7 + 3 + 5);
  });
});
