import { describe, expect, it } from "vitest";
import { catalogDimensions, catalogFields } from "../../../src/catalog/contract.ts";
import { catalogParameters, catalogQuery } from "../../../src/catalog/query.ts";
import { RequestFailed } from "../../../src/http/context.ts";
import { queryReader } from "../../../src/http/read-parameters.ts";

const read = queryReader({ parameters: { query: catalogParameters } });
const parse = (query: string) => catalogQuery(read(new URLSearchParams(query)) as Parameters<typeof catalogQuery>[0]);

function refusal(query: string) {
  try {
    parse(query);
  } catch (error) {
    if (error instanceof RequestFailed) return error.failure;
  }
  throw new Error(`${query} was taken`);
}

describe("a question to the catalogue", () => {
  it("asks for everything when it says nothing", () => {
    expect(parse("")).toEqual({ filter: { values: {} }, order: "name", fields: catalogFields });
  });

  it("takes every filter, and a repeated one as several values", () => {
    const parsed = parse(
      "tenant=b&tenant=a&kind=tool&kind=tool&provider=mcp&category=a,b&permission=p&effect=e&capability_type=c" +
        "&status=deprecated&probe=live&updated_since=2026-01-01T00:00:00Z&limit=7&cursor=x",
    );
    expect(parsed).toEqual({
      order: "name",
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
    });
  });

  it.each([
    ["facets=false", []],
    ["facets=true", catalogDimensions],
    ["facets=status,kind", ["kind", "status"]],
    ["facets=status&facets=kind", ["kind", "status"]],
  ])("counts as %s says", (query, facets) => {
    expect(parse(query)).toMatchObject({ facets });
  });

  it("always names a server", () => {
    expect(parse("fields=tokens,counts&fields=title")).toMatchObject({
      fields: ["tenant", "name", "title", "counts", "tokens"],
    });
  });

  it.each([
    ["page=2", 'Unknown query parameter "page"; known: tenant, kind'],
    ["Kind=tool", '"Kind"'],
    ["constructor=1", '"constructor"'],
    ["limit=1&limit=2", "limit may be given once"],
    ["cursor=a&cursor=b", "cursor may be given once"],
    ["kind=robot", "kind must be one of tool, prompt"],
    ["kind=tool&kind=robot", "kind must be one of"],
    ["kind=", "kind must be one of"],
    ["status=gone", "status must be one of active, deprecated"],
    ["probe=dead", "probe must be one of unknown, live"],
    ["tenant=A!", "Tenant name must be"],
    ["tenant=", "Tenant name is required"],
    ["category=", "category must have at least 1 character"],
    [`effect=${"x".repeat(129)}`, "effect must have at most 128 characters"],
    [
      `permission=${Array.from({ length: 21 }, (_, at) => at).join("&permission=")}`,
      "may be repeated 20 times at most",
    ],
    ["updated_since=yesterday", "updated_since must be"],
    ["updated_since=2026-01-01", "updated_since must be"],
    ["updated_since=2026-01-01T00:00:00+02:00", "%2B"],
    ["updated_since=", "updated_since must be"],
    ["fields=secret", "fields must be one of tenant, name"],
    ["fields=", "fields must be one of"],
    ["fields=title,,name", "fields must be one of"],
    ["facets=colour", "facets must be one of tenant, kind"],
    ["facets=colour", "true, false"],
    ["facets=", "facets must be one of"],
  ])("is refused with %s", (query, mention) => {
    const { code, message } = refusal(query);
    expect(code).toMatch(/^Error(BadRequest|Tenant(Invalid|Required))$/);
    expect(message).toContain(mention);
  });
});
