import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { catalogDimensions } from "../../../src/catalog/contract.ts";
import { capabilities, config, configs, drained, token } from "../support/registry.ts";
import { asObject, both, catA, catalog, type Item, mine, registry, seed, slow, writer } from "./catalog-client.ts";
import { audit, auditTenant } from "./directory-tables.ts";

beforeAll(seed, 60_000);

describe("what is shown", () => {
  it("tells what a reader chooses by", async () => {
    const { body, headers } = await catalog("?tenant=cat-a&kind=prompt");
    expect(body.success).toBe(true);
    expect(body.data.items).toEqual([
      {
        tenant: "cat-a",
        name: "open",
        title: "Open",
        description: `${"d".repeat(1_000)}…`,
        version: "2",
        visibility: "public",
        status: "active",
        probe: "unknown",
        counts: { tool: 2, prompt: 1 },
        tokens: expect.any(Number),
        attributes: {
          provider: ["mcp"],
          category: ["query", "storage"],
          permission: ["files:read", "files:write"],
          effect: ["none, really", "write"],
        },
        digest: expect.stringMatching(/^sha256-/),
        generation: expect.any(Number),
        updatedAt: expect.any(String),
        flags: [],
        registry: { tokens: expect.any(Number), flags: [], status: "active" },
      },
    ]);
    expect(headers.get("Rollcall-Generation")).toBe(String(body.data.generation));
    expect(headers.get("Server-Timing")).toMatch(/^object;dur=/);
    expect(headers.get("Cache-Control")).toBe("private, no-cache");
  });

  it("only the members that were asked for, and always whose it is", async () => {
    const { data } = (await catalog("?tenant=cat-a&kind=prompt&fields=version,title")).body;
    expect(data.items).toEqual([{ tenant: "cat-a", name: "open", title: "Open", version: "2" }]);
  });

  it("counts with a first page unless told otherwise", async () => {
    const first = (await catalog(`?${mine}&limit=1`, both)).body.data;
    expect(Object.keys(first.facets)).toEqual([...catalogDimensions]);
    expect(first.facets.category).toEqual({
      values: [
        { value: "query", count: 3 },
        { value: "private-category", count: 1 },
        { value: "storage", count: 1 },
      ],
    });
    expect(asObject(first.facets.kind)).toEqual({ tool: 2, prompt: 1, operation: 1, generator: 1 });
    expect(asObject(first.facets.status)).toEqual({ active: 4, deprecated: 1 });
    const next = `?${mine}&limit=1&cursor=${first.nextCursor}`;
    expect((await catalog(next, both)).body.data).not.toHaveProperty("facets");
    const asked = (await catalog(`${next}&facets=category`, both)).body.data;
    expect(asked.facets).toEqual({ category: first.facets.category });
    expect(asked.items.map(({ name }: Item) => name)).toEqual(["old"]);
    expect((await catalog(`?${mine}&facets=false`, both)).body.data).not.toHaveProperty("total");
  });

  it("does not show lists elsewhere anything new", async () => {
    const { items } = (await registry.send("GET", `${configs}?visibility=public`, { token: catA.token })).body.data;
    for (const item of items) expect(Object.keys(item)).not.toEqual(expect.arrayContaining(["attributes"]));
    for (const item of items) expect(Object.keys(item)).not.toEqual(expect.arrayContaining(["probe"]));
    const own = (await registry.send("GET", `${configs}?tenant=cat-a`, { token: catA.token })).body.data.items;
    for (const item of own) expect(Object.keys(item)).not.toEqual(expect.arrayContaining(["attributes"]));
  });
});

describe("counts that are kept", () => {
  const word = fc.constantFrom("x", "y", "z");
  const tool = fc.record({
    name: fc.constantFrom("t1", "t2", "t3"),
    category: fc.option(word, { nil: undefined }),
    permissions: fc.uniqueArray(word, { maxLength: 3 }),
    enabled: fc.constantFrom(true, true, false),
  });
  const operation = fc.oneof(
    fc.record({ does: fc.constant("publish" as const), tools: fc.uniqueArray(tool, { selector: ({ name }) => name }) }),
    fc.record({ does: fc.constant("crowd" as const), values: fc.constantFrom(31, 33, 40) }),
    fc.record({ does: fc.constant("flip" as const), tool: fc.constantFrom("t1", "t2", "t3"), enabled: fc.boolean() }),
    fc.record({
      does: fc.constant("settle" as const),
      visibility: fc.constantFrom("public", "tenant"),
      status: fc.constantFrom("active", "deprecated"),
    }),
    fc.record({ does: fc.constant("remove" as const) }),
  );

  it("are those of a recount, whatever is written", slow, async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom("one", "two"), operation), { minLength: 5, maxLength: 12 }),
        async (steps) => {
          run += 1;
          const tenant = `cat-model-${run}`;
          const who = await token({ tenants: [tenant], sub: tenant });
          const send = async (method: string, path: string, body?: unknown) => {
            const answer = await registry.send(method, path, { token: who, ...(body === undefined ? {} : { body }) });
            expect(answer.status).toBeLessThan(500);
          };
          for (const [name, step] of steps) {
            const place = capabilities(tenant, name);
            if (step.does === "publish") await send("PUT", place, { tools: step.tools });
            if (step.does === "crowd") {
              const tools = Array.from({ length: step.values }, (_, at) => ({ name: `t${at}`, category: `c${at}` }));
              await send("PUT", place, { tools });
            }
            if (step.does === "flip") {
              await send("PATCH", place, { items: [{ kind: "tool", name: step.tool, enabled: step.enabled }] });
            }
            if (step.does === "settle") {
              const { visibility, status } = step;
              await send("PUT", configs, { tenant, name, visibility, status });
            }
            if (step.does === "remove") await send("DELETE", config(tenant, name));
          }
          await drained(tenant);
          await audit();
          await auditTenant(tenant);
        },
      ),
      { numRuns: 8 },
    );
  });

  it("show the most frequent values, and that there are more", async () => {
    const many = await writer("cat-many");
    for (const half of [0, 15]) {
      const rare = Array.from({ length: 15 }, (_, at) => ({ name: `m${half}${at}`, category: `many-${half + at}` }));
      const tools = [...rare, { name: `q${half}`, category: "query" }];
      await many.create(`s${half}`, { visibility: half === 0 ? "public" : "tenant" });
      await many.publish(`s${half}`, { tools });
    }
    const { category } = (await catalog("?facets=category", many.token)).body.data.facets;
    expect([category.values.length, category.more]).toEqual([20, true]);
    const counts = category.values.map(({ count }: { count: number }) => count);
    expect(counts).toEqual(counts.toSorted((x: number, y: number) => y - x));
    expect(asObject(category).query).toBeGreaterThanOrEqual(2);
  });
});
