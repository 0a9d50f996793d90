import { describe, expect, it } from "vitest";
import { catalogDimensions } from "../../../src/catalog/contract.ts";
import { catalogFields, parseCatalogQuery } from "../../../src/catalog/query.ts";

function parse(query: string) {
  const parameters = new URLSearchParams(query);
  return parseCatalogQuery(Object.fromEntries([...parameters.keys()].map((name) => [name, parameters.getAll(name)])));
}

describe("a question to the catalogue", () => {
  it("asks for everything when it says nothing", () => {
    expect(parse("")).toEqual({ ok: true, value: { filter: { values: {} }, fields: catalogFields } });
  });

  it("takes every filter, and a repeated one as several values", () => {
    const parsed = parse(
      "tenant=b&tenant=a&kind=tool&kind=tool&provider=mcp&category=a,b&permission=p&effect=e&capability_type=c" +
        "&status=deprecated&probe=live&updated_since=2026-01-01T00:00:00Z&limit=7&cursor=x",
    );
    expect(parsed).toEqual({
      ok: true,
      value: {
        filter: {
          values: {
            tenant: ["a", "b"],
            kind: ["tool"],
            provider: ["mcp"],
            category: ["a,b"],
            permission: ["p"],
            effect: ["e"],
            capability_type: ["c"],
            status: ["deprecated"],
            probe: ["live"],
          },
          updatedSince: Date.UTC(2026, 0, 1),
        },
        fields: catalogFields,
        limit: "7",
        cursor: "x",
      },
    });
  });

  it.each([
    ["facets=false", []],
    ["facets=true", catalogDimensions],
    ["facets=status,kind", ["kind", "status"]],
    ["facets=status&facets=kind", ["kind", "status"]],
  ])("counts as %s says", (query, facets) => {
    expect(parse(query)).toMatchObject({ ok: true, value: { facets } });
  });

  it("always names a server", () => {
    expect(parse("fields=tokens,counts&fields=title")).toMatchObject({
      value: { fields: ["tenant", "name", "title", "counts", "tokens"] },
    });
  });

  it.each([
    ["page=2", 'Unknown query parameter "page"; known: tenant, kind'],
    ["Kind=tool", '"Kind"'],
    ["constructor=1", '"constructor"'],
    ["limit=1&limit=2", "limit is given 2 times"],
    ["cursor=a&cursor=b", "cursor is given 2 times"],
    ["kind=robot", "kind must be one of tool, prompt"],
    ["kind=tool&kind=robot", "kind must be one of"],
    ["kind=", "kind must be one of"],
    ["status=gone", "status must be one of active, deprecated"],
    ["probe=dead", "probe must be one of unknown, live"],
    ["tenant=A!", "tenant must be"],
    ["tenant=", "tenant must be"],
    ["category=", "category is empty"],
    [`effect=${"x".repeat(129)}`, "effect is longer"],
    [`permission=${Array.from({ length: 21 }, (_, at) => at).join("&permission=")}`, "given 21 times, 20 at most"],
    ["updated_since=yesterday", "updated_since must be"],
    ["updated_since=2026-01-01", "updated_since must be"],
    ["updated_since=2026-01-01T00:00:00+02:00", "%2B"],
    ["updated_since=", "updated_since must be"],
    ["fields=secret", 'fields has no "secret"; there are tenant, name'],
    ["fields=", 'fields has no ""'],
    ["fields=title,,name", 'fields has no ""'],
    ["facets=colour", 'facets has no "colour"; there are tenant, kind'],
    ["facets=true,false", "or true or false"],
    ["facets=", 'facets has no ""'],
  ])("is refused with %s", (query, mention) => {
    const parsed = parse(query);
    expect(parsed).toMatchObject({ ok: false, error: { code: "ErrorBadRequest" } });
    if (!parsed.ok) expect(parsed.error.message).toContain(mention);
  });
});
