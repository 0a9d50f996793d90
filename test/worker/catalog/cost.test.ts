import { runInDurableObject } from "cloudflare:test";
import { expect, it } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import type { ListedChange } from "../../../src/objects/directory/contract.ts";
import { directory, directoryStub, slow } from "./catalog-client.ts";
import { audit, question } from "./directory-tables.ts";

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

async function fill(tenant: string, from: number, to: number): Promise<void> {
  for (let at = from; at < to; at += 500) {
    await directory.update(Array.from({ length: Math.min(500, to - at) }, (_, index) => told(tenant, at + index)));
  }
}

/** Rows that a call of the directory reads and writes. */
function rows(call: (object: typeof directory) => Promise<unknown>): Promise<{ read: number; written: number }> {
  return runInDurableObject(directoryStub(), async (object, { storage }) => {
    const exec = storage.sql.exec.bind(storage.sql);
    const cursors: { rowsRead: number; rowsWritten: number }[] = [];
    // biome-ignore lint/suspicious/noExplicitAny: stands in for every overload
    (storage.sql as any).exec = (text: string, ...values: SqlStorageValue[]) => {
      const cursor = exec(text, ...values);
      cursors.push(cursor);
      return cursor;
    };
    await call(object as unknown as typeof directory);
    // biome-ignore lint/suspicious/noExplicitAny: back to what it was
    delete (storage.sql as any).exec;
    const sum = (of: "rowsRead" | "rowsWritten") => cursors.reduce((total, cursor) => total + cursor[of], 0);
    return { read: sum("rowsRead"), written: sum("rowsWritten") };
  });
}

it("the cost of a page and of a change does not grow with the catalogue", slow, async () => {
  const change = (generation: number) => rows((object) => object.update([told("grown-a", 50, { generation })]));
  const page = () =>
    rows((object) => object.catalog(question({ caller: [], values: { category: ["grown"] }, facets: ["category"] })));
  await fill("grown-a", 0, 400);
  await page();
  const before = { change: await change(2), page: await page() };
  expect(before.change.written).toBeLessThan(7);
  expect(before.page.read).toBeLessThan(40);
  await fill("grown-a", 400, 2_000);
  await fill("grown-b", 0, 2_000);
  expect({ change: await change(3), page: await page() }).toEqual(before);
  await audit();
  const counted = await directory.catalog(question({ values: { category: ["grown"] }, facets: ["category"] }));
  expect(counted).toMatchObject({ counted: { total: { count: 3_600 } } });
});
