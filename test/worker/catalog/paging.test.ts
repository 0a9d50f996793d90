import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createUsage } from "../../../src/kernel/platform/usage.ts";
import { configs, Registry, token } from "../support/registry.ts";
import {
  admin,
  both,
  catA,
  catalog,
  catB,
  clock,
  directoryStub,
  type Item,
  mine,
  namesOf,
  outsider,
  pass,
  registry,
  seed,
  writer,
} from "./catalog-client.ts";

beforeAll(seed, 60_000);

describe("pages", () => {
  async function pages(query: string, who?: string, between: (page: number) => Promise<unknown> = async () => {}) {
    const found: Item[][] = [];
    const changed: (true | undefined)[] = [];
    for (let cursor = ""; ; ) {
      const { status, body } = await catalog(`${query}${cursor && `&cursor=${cursor}`}`, who);
      expect([status, body.error]).toEqual([200, undefined]);
      found.push(body.data.items);
      changed.push(body.data.changed);
      if (body.data.nextCursor === undefined) return { found, changed };
      cursor = body.data.nextCursor;
      await between(found.length);
    }
  }

  it.each([
    ["everything", "?limit=3", (tenant: string) => [tenant]],
    ["one tenant", "?limit=3&tenant={}", (tenant: string) => [tenant]],
    ["a category", "?limit=3&category=cat-{}", (tenant: string) => [tenant]],
    ["a category, as an outsider", "?limit=3&category=cat-{}", () => []],
    ["two categories", "?limit=3&category=cat-{}&category=even-{}&status=active", (tenant: string) => [tenant]],
  ])("of %s show every server exactly once while others write", async (what, query, held) => {
    const tenant = `cat-pages-${what.replaceAll(/[^a-z]/g, "")}`;
    const one = await writer(tenant);
    const who = await token({ tenants: held(tenant), sub: tenant });
    const make = async (name: string, index: number) => {
      const visibility = index % 2 === 0 ? "public" : "tenant";
      await one.create(name, { visibility });
      const category = index % 3 === 0 ? `even-${tenant}` : `cat-${tenant}`;
      await one.publish(name, {
        tools: [
          { name: `t-${name}`, category },
          { name: `u-${name}`, category: `cat-${tenant}` },
        ],
      });
    };
    for (const [index, name] of [..."abcdefgh"].entries()) await make(name, index);
    const asked = query.replaceAll("{}", tenant);
    const own = ({ tenant: of }: Item) => of === tenant;
    const expected = [..."abcdefgh"].filter((_, index) => held(tenant).length > 0 || index % 2 === 0);

    const quiet = await pages(asked, who);
    expect(namesOf(quiet.found.flat().filter(own))).toEqual(expected.map((name) => `${tenant}/${name}`));
    expect(quiet.found.slice(0, -1).every(({ length }) => length === 3)).toBe(true);
    expect(quiet.changed.every((changed) => changed === undefined)).toBe(true);

    const busy = await pages(asked, who, async (page) => {
      if (page !== 1) return;
      for (const [index, name] of ["a1", "c1", "g1"].entries()) await make(name, index);
      await one.remove("h");
      await one.settle("a", { visibility: "public", title: "Moved" });
    });
    const seen = namesOf(busy.found.flat().filter(own));
    expect(new Set(seen).size).toBe(seen.length);
    const throughout = expected.filter((name) => name !== "h").map((name) => `${tenant}/${name}`);
    expect(seen.filter((name) => throughout.includes(name))).toEqual(throughout);
    expect(busy.changed.slice(1).every((changed) => changed === true)).toBe(true);
  });

  it("are not opened by another list's cursor", async () => {
    const cursorOf = async (query: string, who: string) => {
      const { nextCursor } = (await catalog(`?limit=1${query}`, who)).body.data;
      expect(nextCursor).toBeDefined();
      return nextCursor as string;
    };
    const own = await cursorOf(`&${mine}`, both);
    expect((await catalog(`?limit=2&fields=title&${mine}&cursor=${own}`, both)).status).toBe(200);
    const listed = await registry.send("GET", `${configs}?limit=1`, { token: both });
    const attempts: [string, string, string, string][] = [
      ["another caller's", both, `&${mine}`, await cursorOf(`&${mine}`, admin)],
      ["an outsider's use of a member's", outsider, `&${mine}`, own],
      ["without its filter", both, "", own],
      ["with another filter", both, `&${mine}&kind=tool`, own],
      ["the list of settings'", both, "", listed.body.data.nextCursor],
      ["cut short", both, `&${mine}`, own.slice(0, -4)],
      ["nothing", both, `&${mine}`, ""],
      ["plain text", both, `&${mine}`, "cat-a/open"],
      ["very long", both, `&${mine}`, "A".repeat(10_000)],
    ];
    const outcomes = [];
    for (const [what, who, query, cursor] of attempts) {
      const { status, body } = await catalog(`?limit=1${query}&cursor=${encodeURIComponent(cursor)}`, who);
      outcomes.push([what, status, body.error?.code]);
    }
    expect(outcomes).toEqual(attempts.map(([what]) => [what, 400, "ErrorCursorInvalid"]));
  });
});

describe("what a page touches", () => {
  const nothing = createUsage();
  async function touched(query: string, who?: string, headers: Record<string, string> = {}) {
    const before = { ...registry.services.usage };
    const answer = await catalog(query, who, headers);
    const after = registry.services.usage;
    const delta = Object.fromEntries(
      Object.entries(after).map(([name, count]) => [name, count - before[name as keyof typeof before]]),
    );
    return { answer, delta, source: answer.headers.get("Rollcall-Source") };
  }
  const query = "?tenant=cat-a";

  beforeEach(() => {
    pass(10_000);
  });

  it("is memory alone within two seconds, for the same caller and question", async () => {
    const first = await touched(query);
    expect([first.delta, first.source]).toEqual([{ ...nothing, objectCalls: 1 }, "object"]);
    pass(2_000);
    const again = await touched(query);
    expect([again.delta, again.source]).toEqual([{ ...nothing, memory: 1 }, "memory"]);
    expect(again.answer.text).toBe(first.answer.text);
    expect((await touched(query, catA.token)).delta.objectCalls).toBe(1);
    expect((await touched(`${query}&limit=2`)).delta.objectCalls).toBe(1);
    expect((await touched(`${query}&fields=title`)).delta.objectCalls).toBe(1);
  });

  it("is one call afterwards, which looks nothing up while nothing changed", async () => {
    const first = await touched(query);
    pass(2_001);
    const spy = await runInDurableObject(directoryStub(), async (_, { storage }) => {
      const exec = storage.sql.exec.bind(storage.sql);
      const asked: string[] = [];
      // biome-ignore lint/suspicious/noExplicitAny: stands in for every overload
      (storage.sql as any).exec = (text: string, ...values: SqlStorageValue[]) => {
        asked.push(text);
        return exec(text, ...values);
      };
      return asked;
    });
    const again = await touched(query);
    expect([again.delta, again.source, again.answer.text]).toEqual([
      { ...nothing, objectCalls: 1 },
      "object",
      first.answer.text,
    ]);
    expect([...new Set(spy)]).toEqual(["SELECT value FROM meta WHERE key = ?"]);
    // Revalidated, it is as good as new.
    expect((await touched(query)).source).toBe("memory");
    await evictDurableObject(directoryStub());
  });

  it("goes to the directory with Cache-Control: no-cache", async () => {
    await touched(query);
    expect((await touched(query, undefined, { "Cache-Control": "no-cache" })).source).toBe("object");
  });

  it("shows a write at once where it was made, and to others within two seconds", async () => {
    const far = new Registry({ now: () => clock, vars: { DIRECTORY_MB: "0" } });
    const seen = async (where: Registry) =>
      namesOf((await where.send("GET", "/api/catalog?tenant=cat-fresh")).body.data.items);
    const fresh = await writer("cat-fresh");
    expect([await seen(registry), await seen(far)]).toEqual([[], []]);
    await fresh.create("s", { visibility: "public" });
    expect([await seen(registry), await seen(far)]).toEqual([["cat-fresh/s"], []]);
    pass(2_001);
    expect(await seen(far)).toEqual(["cat-fresh/s"]);
    await fresh.settle("s", { visibility: "tenant" });
    expect(await seen(registry)).toEqual([]);
  });

  it("answers 304 while what is shown is the same, whatever others write", async () => {
    const { headers } = await catalog(query);
    const etag = headers.get("ETag") ?? "";
    expect(etag).toMatch(/^W\/"[0-9a-f]{32}\.c3"$/);
    await catB.settle("inner", { title: `Changed ${clock}` });
    const same = await catalog(query, undefined, { "If-None-Match": etag });
    expect([same.status, same.text, same.headers.get("ETag")]).toEqual([304, "", etag]);
    expect((await catalog(query, catA.token, { "If-None-Match": etag })).status).toBe(200);
    await catA.settle("old", { status: "deprecated", visibility: "public", title: `Changed ${clock}` });
    const other = await catalog(query, undefined, { "If-None-Match": etag });
    expect(other.status).toBe(200);
    expect(other.headers.get("ETag")).not.toBe(etag);
  });
});
