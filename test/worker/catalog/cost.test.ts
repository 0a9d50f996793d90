import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, it } from "vitest";
import { catalogDimensions, type DirectoryCatalogQuery } from "../../../src/catalog/contract.ts";
import { readCatalog } from "../../../src/catalog/sql/catalog.ts";
import { refOf, tenantKey } from "../../../src/kernel/names.ts";
import type { ListedChange } from "../../../src/objects/directory/contract.ts";
import { catalog, directory, directoryStub, namesOf, seed, slow } from "./catalog-client.ts";
import { audit } from "./directory-tables.ts";

beforeAll(seed, 60_000);

/** An entry as a tenant tells it. */
function told(tenant: string, at: number, more: Partial<ListedChange> = {}): ListedChange {
  return {
    tenant: tenantKey(tenant),
    name: `s${String(at).padStart(5, "0")}`,
    visibility: at % 2 === 0 ? "public" : "tenant",
    status: "active",
    probe: "live",
    counts: { tool: 1 },
    tokens: 10,
    generation: 1,
    updatedAt: new Date(Date.UTC(2026, 0, 1) + at).toISOString(),
    attributes: [
      ["provider", "mcp"],
      ["category", at % 10 === 0 ? "grown-tenth" : "grown"],
    ],
    ...more,
  };
}

describe("what it costs", () => {
  const fill = async (tenant: string, from: number, to: number) => {
    for (let at = from; at < to; at += 500) {
      const some = Array.from({ length: Math.min(500, to - at) }, (_, index) => told(tenant, at + index));
      await directory.update(some);
    }
  };
  /** Rows read and written by some work on the directory's own tables. */
  const rows = (work: (sql: SqlStorage) => void) =>
    runInDurableObject(directoryStub(), async (_, { storage }) => {
      const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
      const counting = {
        exec: (text: string, ...values: SqlStorageValue[]) => {
          const cursor = storage.sql.exec(text, ...values);
          cursors.push(cursor);
          return cursor;
        },
      } as unknown as SqlStorage;
      work(counting);
      const sum = (of: "rowsRead" | "rowsWritten") => cursors.reduce((total, cursor) => total + cursor[of], 0);
      return { read: sum("rowsRead"), written: sum("rowsWritten") };
    });
  const question = (more: Partial<DirectoryCatalogQuery>): DirectoryCatalogQuery => ({
    values: {},
    caller: [tenantKey("grown-a")],
    after: refOf({ tenant: "", name: "" }),
    limit: 31,
    facets: [],
    ...more,
  });
  const questions: Record<string, Partial<DirectoryCatalogQuery>> = {
    "a first page with its counts": { facets: catalogDimensions },
    "a page in the middle": { after: refOf({ tenant: "grown-a", name: "s00100" }) },
    "an admin's": { caller: "admin", facets: catalogDimensions },
    "an outsider's": { caller: [], facets: catalogDimensions },
    "one category": { values: { category: ["grown-tenth"] } },
    "two dimensions": { values: { category: ["grown-tenth"], provider: ["mcp"] } },
    "one tenant's": { values: { tenant: [tenantKey("grown-a")] } },
    "what changed lately": { caller: [], updatedSince: Date.UTC(2026, 0, 1) + 190 },
  };
  const readFor = async (more: Partial<DirectoryCatalogQuery>) =>
    (await rows((sql) => void readCatalog(sql, question(more)))).read;

  it("does not grow with the catalogue to read a page, or to take a change", slow, async () => {
    await fill("grown-a", 0, 400);
    await fill("grown-b", 0, 20);
    const before: Record<string, number> = {};
    for (const [what, more] of Object.entries(questions)) before[what] = await readFor(more);
    const change = (generation: number) => told("grown-a", 50, { generation, tokens: generation });
    const counted = async (generation: number) => {
      const spent = { written: 0 };
      await runInDurableObject(directoryStub(), async (object, { storage }) => {
        const exec = storage.sql.exec.bind(storage.sql);
        const cursors: { rowsWritten: number }[] = [];
        // biome-ignore lint/suspicious/noExplicitAny: stands in for every overload
        (storage.sql as any).exec = (text: string, ...values: SqlStorageValue[]) => {
          const cursor = exec(text, ...values);
          cursors.push(cursor);
          return cursor;
        };
        await (object as unknown as typeof directory).update([change(generation)]);
        spent.written = cursors.reduce((sum, { rowsWritten }) => sum + rowsWritten, 0);
        // biome-ignore lint/suspicious/noExplicitAny: back to what it was
        delete (storage.sql as any).exec;
      });
      return spent.written;
    };
    const small = await counted(2);
    expect(small).toBeGreaterThan(0);
    expect(small).toBeLessThan(10);
    await fill("grown-a", 400, 2_000);
    await fill("grown-b", 20, 2_000);
    expect(await counted(3)).toBe(small);
    for (const [what, more] of Object.entries(questions)) {
      if (what === "what changed lately") continue;
      expect([what, await readFor(more)]).toEqual([what, before[what]]);
    }
    expect(before["a page in the middle"]).toBeLessThan(160);
    // Little changed since: no more is read than changed, however much there is.
    const late = { updatedSince: Date.UTC(2026, 0, 1) + 1_990, caller: [] };
    expect(await readFor(late)).toBeLessThan(100);
    await audit();
  });

  it("counts what is filtered up to 1,000", async () => {
    const asked = question({ caller: "admin", values: { category: ["grown"] }, facets: ["category", "tenant"] });
    const answer = await directory.catalog(asked);
    expect(answer).toMatchObject({
      counted: {
        total: { count: 1_000, atLeast: true },
        facets: { category: { values: [{ value: "grown", count: 1_000, atLeast: true }] } },
      },
    });
    const fewer = await directory.catalog({ ...asked, values: { category: ["grown-tenth"] } });
    expect(fewer).toMatchObject({ counted: { total: { count: 400 } } });
  });

  it("ends a page where it has looked long enough, and goes on from there", slow, async () => {
    // Far apart in a long list: of each value many, of both together few.
    const sparse = (at: number) =>
      told("sparse", at, {
        visibility: "public",
        attributes: [
          ["category", "sparse"],
          ["effect", at % 2_400 === 0 || at % 2 === 1 ? "odd" : "even"],
          ["permission", at % 2 === 0 ? "even" : "odd"],
        ],
      });
    for (let at = 0; at < 4_810; at += 481) {
      await directory.update(Array.from({ length: 481 }, (_, index) => sparse(at + index)));
    }
    const found: string[] = [];
    let empty = 0;
    for (let cursor = "", page = 0; page < 10; page += 1) {
      const { data } = (await catalog(`?effect=odd&permission=even&limit=2&facets=true${cursor}`)).body;
      found.push(...namesOf(data.items));
      if (data.items.length < 2) empty += 1;
      if (page === 0) expect(data.total.atLeast).toBe(true);
      if (data.nextCursor === undefined) break;
      cursor = `&cursor=${data.nextCursor}`;
    }
    expect(found).toEqual(["sparse/s00000", "sparse/s02400", "sparse/s04800"]);
    expect(empty).toBeGreaterThan(0);
  });
});
