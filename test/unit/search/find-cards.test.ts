import { describe, expect, it } from "vitest";
import { openLocalSql } from "../../../bench/search/local-sql.ts";
import { tenantKey } from "../../../src/kernel/names.ts";
import type { ItemChange } from "../../../src/search/contract.ts";
import { itemTermWeights } from "../../../src/search/item-terms.ts";
import { oneOf } from "../../../src/search/sql/card-table.ts";
import { applyItems } from "../../../src/search/sql/directory-cards.ts";
import { findCards } from "../../../src/search/sql/find-cards.ts";
import { cardRecordColumns, directorySearchTables } from "../../../src/search/sql/tables.ts";
import { termCounts } from "../../../src/search/sql/term-counts.ts";

const sql = openLocalSql(":memory:");
sql.exec(`${directorySearchTables} ${cardRecordColumns}`);

function put(tenant: string, tools: Record<string, string>): void {
  const changed = Object.entries(tools).map(([key, description]): ItemChange => {
    const card = {
      ...{
        tenant: tenantKey(tenant),
        server: "s",
        kind: "tool" as const,
        key,
        id: key,
        digest: "",
        tokens: 1,
        description,
      },
      flags: [],
    };
    return {
      kind: "tool",
      key,
      indexed: { card, bag: itemTermWeights({ key, declared: { name: key, description } }, { name: "s" }) },
    };
  });
  applyItems(sql, { tenant: tenantKey(tenant), name: "s", generation: 1 }, { publicSince: 1, changed, complete: true });
}

const crowd = Array.from({ length: 400 }, (_, index): [string, string] => [`get_data_${index}`, "Gets the data."]);
put("crowd", { ...Object.fromEntries(crowd), find_walrus: "Finds a walrus in the data." });
put("small", { get_data: "Gets the data.", eat_pear: "Eats a pear." });

/** With bounds as narrow as an index of a million cards would make the usual ones. */
const bounds = { postings: 50, fewest: 20, most: 40 };
const find = (text: string, tenants?: string[]) => {
  const conditions = tenants === undefined ? [] : [oneOf("tenant", tenants)];
  return findCards(sql, { text, limit: 10 }, conditions, { vectors: undefined, count: termCounts, bounds });
};

describe("a search with bounds", () => {
  it("finds by its rare words what common ones alone would not lead to", () => {
    expect(find("get data about a walrus")[0]?.key).toBe("find_walrus");
  });

  it("finds some where there are only common words", () => {
    expect(find("get data")).toHaveLength(10);
  });

  it("finds in a small tenant what is common elsewhere", () => {
    expect(find("get data", ["small"]).map(({ tenant, key }) => [tenant, key])).toEqual([["small", "get_data"]]);
  });

  it("finds in a large tenant no other's", () => {
    const found = find("eat data", ["crowd"]);
    expect(found.length).toBeGreaterThan(0);
    expect(new Set(found.map(({ tenant }) => tenant))).toEqual(new Set(["crowd"]));
  });

  it("takes any number of steps", () => {
    for (const steps of [2, 3, 6, 7, 8]) {
      const text = Array.from({ length: steps }, (_, index) => `get the data again ${index}.`).join(" ");
      expect(find(text).length).toBeGreaterThan(0);
    }
  });
});
