import { describe, expect, it } from "vitest";
import type { CatalogQuestion } from "../../../src/catalog/contract.ts";
import { EntryCache } from "../../../src/catalog/entry-cache.ts";
import { catalogForm, entriesSource, type ListingSource, segmentSource } from "../../../src/catalog/listing.ts";
import { selectServers } from "../../../src/catalog/select.ts";
import { encodeSegment } from "../../../src/directory/encode-segment.ts";
import { decodeSegment } from "../../../src/directory/segment.ts";
import { DirectoryView } from "../../../src/directory/view.ts";
import { MemoryBudget } from "../../../src/kernel/memory-budget.ts";
import { refOf } from "../../../src/kernel/names.ts";
import type { CatalogEntry } from "../../../src/registry/summary.ts";
import { place, entry as plain, tombstone } from "../directory/places.ts";

function server(tenant: string, name: string, more: Partial<CatalogEntry> = {}): CatalogEntry {
  return { ...plain(tenant, name), counts: { tool: 2 }, tokens: 10, ...more };
}

const first = refOf({ tenant: "", name: "" });
const ask = (more: Partial<CatalogQuestion> = {}): CatalogQuestion => ({
  ...{ values: {}, order: "name", after: first, limit: 10, facets: [] },
  ...more,
});
const names = (items: readonly CatalogEntry[]) => items.map(({ tenant, name }) => `${tenant}/${name}`);

/** The public servers of segments, oldest first. */
function segments(...lists: CatalogEntry[][]): ListingSource[] {
  const loaded = lists.map((entries) => {
    const places = entries.map((one) =>
      one.visibility === "public" ? place(one.tenant, one.name, { entry: one }) : tombstone(one.tenant, one.name),
    );
    const decoded = decodeSegment(encodeSegment(places, "chunks").bytes);
    if (!decoded.ok) throw new Error(decoded.error);
    const forms = new Map([[catalogForm.name, catalogForm.build(decoded.value)]]);
    return { segment: decoded.value, forms, bytes: 0 };
  });
  return new DirectoryView({ epoch: "e", generation: 1 }, loaded).segments.map((segment) =>
    segmentSource(segment, new EntryCache(new MemoryBudget(1_000_000))),
  );
}

const base = [
  server("a", "1", { updatedAt: "2026-01-01T00:00:00.000Z", attributes: [["category", "x"]] }),
  server("a", "2", { updatedAt: "2026-01-05T00:00:00.000Z", status: "deprecated" }),
  server("b-c", "1", { updatedAt: "2026-01-03T00:00:00.000Z", attributes: [["category", "y, really"]] }),
  server("b.c", "1", { updatedAt: "2026-01-03T00:00:00.000Z" }),
];
const delta = [
  server("a", "2", { visibility: "tenant" }),
  server("b", "9", { updatedAt: "2026-01-09T00:00:00.000Z", attributes: [["category", "x"]] }),
];
const own = [server("a", "0", { visibility: "tenant", tenant: "A", updatedAt: "2026-01-04T00:00:00.000Z" })];
const sources = [...segments(base, delta), entriesSource(own)];

describe("a page", () => {
  it("is in order of tenant and name across all sources, and shows nothing that was hidden", () => {
    expect(names(selectServers(sources, ask()).items)).toEqual(["A/0", "a/1", "b/9", "b-c/1", "b.c/1"]);
  });

  it("goes on after any server, whether it is there or not", () => {
    for (const order of ["name", "updated"] as const) {
      const all = selectServers(sources, ask({ order })).items;
      const walked: CatalogEntry[] = [];
      for (let after: CatalogQuestion["after"] = first; ; ) {
        const { items } = selectServers(sources, ask({ order, after, limit: 1 }));
        const [next] = items;
        if (next === undefined) break;
        walked.push(next);
        after = { ...refOf(next), updatedAt: order === "updated" ? Date.parse(next.updatedAt) : undefined };
      }
      expect([order, names(walked)]).toEqual([order, names(all)]);
    }
    const gone = ask({ after: refOf({ tenant: "a", name: "2" }) });
    expect(names(selectServers(sources, gone).items)).toEqual(["b/9", "b-c/1", "b.c/1"]);
  });

  it("has the last changed first in the other order, ties by tenant and name", () => {
    const { items } = selectServers(sources, ask({ order: "updated" }));
    expect(names(items)).toEqual(["b/9", "A/0", "b-c/1", "b.c/1", "a/1"]);
    expect(names(selectServers(sources, ask({ order: "updated", limit: 2 })).items)).toEqual(["b/9", "A/0"]);
  });

  it("has what fits every filter by one of its values", () => {
    const found = (more: Partial<CatalogQuestion>) => names(selectServers(sources, ask(more)).items);
    expect(found({ values: { category: ["x", "y, really"] } })).toEqual(["a/1", "b/9", "b-c/1"]);
    expect(found({ values: { category: ["x"], tenant: [refOf(base[0] as CatalogEntry).tenant] } })).toEqual(["a/1"]);
    expect(found({ values: { category: ["x"], kind: ["prompt"] } })).toEqual([]);
    expect(found({ updatedSince: Date.parse("2026-01-04T00:00:00Z") })).toEqual(["A/0", "b/9"]);
    expect(found({ values: { status: ["deprecated"] } })).toEqual([]);
  });

  it("cuts long descriptions", () => {
    const long = entriesSource([server("a", "1", { description: "d".repeat(2_000) })]);
    expect(selectServers([long], ask()).items[0]?.description).toHaveLength(1_001);
  });
});

describe("counts", () => {
  it("are of everything that fits, whatever the page", () => {
    const { counted } = selectServers(sources, ask({ limit: 1, facets: ["tenant", "category", "flag"] }));
    expect(counted).toEqual({
      total: { count: 5 },
      totals: { servers: 5, capabilities: 10, tokens: 50 },
      facets: {
        tenant: {
          values: ["b", "b-c", "b.c"].map((value) => ({ value, count: 1 })).toSpliced(0, 0, { value: "A", count: 2 }),
        },
        category: {
          values: [
            { value: "x", count: 2 },
            { value: "y, really", count: 1 },
          ],
        },
        flag: { values: [] },
      },
    });
  });

  it("show the 20 most frequent values, and that there are more", () => {
    const many = Array.from({ length: 30 }, (_, at) =>
      server("a", `s${at}`, { flags: [], attributes: at < 3 ? [["category", "common"]] : [["category", `c${at}`]] }),
    );
    const facet = selectServers([entriesSource(many)], ask({ facets: ["category"] })).counted?.facets.category;
    expect(facet?.values[0]).toEqual({ value: "common", count: 3 });
    expect([facet?.values.length, facet?.more]).toEqual([20, true]);
  });

  it("count a server once for each rule of its flags", () => {
    const flag = { rule: "exfiltration", path: "/description", message: "sends data away", severity: "high" } as const;
    const flagged = server("a", "1", { flags: [flag, { ...flag, path: "/title" }] });
    const { counted, items } = selectServers(
      [entriesSource([flagged, server("a", "2")])],
      ask({ values: { flag: ["exfiltration"] }, facets: ["flag"] }),
    );
    expect(names(items)).toEqual(["a/1"]);
    expect(counted?.facets.flag).toEqual({ values: [{ value: "exfiltration", count: 1 }] });
  });
});
