import { describe, expect, it } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import { addFacets, countFacets, searchDimensions } from "../../../src/search/index/facets.ts";
import { type ItemFilter, type StatusOf, wantedItems } from "../../../src/search/index/filter.ts";
import { type Item, partOf } from "./indexing.ts";

const items: Item[] = [
  {
    name: "read",
    tenant: "a",
    server: "files",
    attributes: [
      ["provider", "mcp"],
      ["effect", "read"],
    ],
  },
  {
    name: "write",
    tenant: "a",
    server: "files",
    attributes: [
      ["provider", "mcp"],
      ["effect", "write"],
    ],
  },
  { name: "hello", tenant: "a", server: "talk", kind: "prompt", deprecated: true },
  {
    name: "get",
    tenant: "b",
    server: "web",
    attributes: [
      ["provider", "openapi"],
      ["effect", "read"],
    ],
  },
];
const part = partOf(items);
const statusOf: StatusOf = ({ name }) => (name === "web" ? "withdrawn" : "active");
const passing = (filter: ItemFilter) => {
  const wanted = wantedItems(part, filter, filter.status && statusOf);
  return items.filter((_, at) => wanted === undefined || wanted[at] === 1).map(({ name }) => name);
};

describe("filters", () => {
  it.each<[ItemFilter, string[]]>([
    [{}, ["read", "write", "hello", "get"]],
    [{ exceptTenants: [] }, ["read", "write", "hello", "get"]],
    [{ kinds: ["prompt"] }, ["hello"]],
    [{ tenants: [tenantKey("b")] }, ["get"]],
    [{ exceptTenants: [tenantKey("b")] }, ["read", "write", "hello"]],
    [{ servers: ["files", "web"] }, ["read", "write", "get"]],
    [{ attributes: { provider: ["mcp"] } }, ["read", "write"]],
    [{ attributes: { effect: ["read"], provider: ["openapi", "mcp"] } }, ["read", "get"]],
    [{ attributes: { effect: ["none"] } }, []],
    [{ status: ["deprecated"] }, ["hello"]],
    [{ status: ["withdrawn", "active"] }, ["read", "write", "get"]],
  ])("%j let %j through", (filter, names) => {
    expect(passing(filter)).toEqual(names);
  });
});

describe("facets", () => {
  it("count everything that matches, by each dimension, the most frequent first", () => {
    const isMatch = (_: number, place: number) => place !== 1;
    const counted = countFacets(searchDimensions, [{ part }], { isMatch }, statusOf);
    expect(counted).toEqual({
      tenant: [
        ["a", 2],
        ["b", 1],
      ],
      kind: [
        ["tool", 2],
        ["prompt", 1],
      ],
      provider: [
        ["mcp", 1],
        ["openapi", 1],
      ],
      category: [],
      permission: [],
      effect: [["read", 2]],
      capability_type: [],
      status: [
        ["active", 1],
        ["deprecated", 1],
        ["withdrawn", 1],
      ],
    });
    expect(
      addFacets(
        ["effect"],
        [
          counted,
          {
            effect: [
              ["write", 3],
              ["read", 1],
            ],
          },
        ],
      ),
    ).toEqual({
      effect: [
        ["read", 3],
        ["write", 3],
      ],
    });
  });
});
