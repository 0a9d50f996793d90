import { beforeAll, describe, expect, it } from "vitest";
import { capabilities, token } from "../support/registry.ts";
import {
  admin,
  asObject,
  both,
  catA,
  catalog,
  type Item,
  mine,
  names,
  outsider,
  registry,
  seed,
  writer,
} from "./catalog-client.ts";

beforeAll(seed, 60_000);

describe("who sees what", () => {
  const open = ["cat-a/old", "cat-a/open", "cat-b/api"];
  it.each([
    ["anyone, the public ones", () => undefined, open],
    ["an outsider, the same", () => outsider, open],
    ["a member, their own too", () => catA.token, ["cat-a/hidden", ...open]],
    ["a member of both, both", () => both, ["cat-a/hidden", "cat-a/old", "cat-a/open", "cat-b/api", "cat-b/inner"]],
    ["an admin, all", () => admin, ["cat-a/hidden", "cat-a/old", "cat-a/open", "cat-b/api", "cat-b/inner"]],
  ])("%s", async (_, who, expected) => {
    expect(await names(`?${mine}`, who())).toEqual(expected);
    const everything = await names("?limit=100", who());
    expect(everything.filter((name) => name.startsWith("cat-"))).toEqual(expected);
    const { total, facets } = (await catalog(`?${mine}`, who())).body.data;
    expect(total).toEqual({ count: expected.length });
    expect(Object.values(asObject(facets.tenant)).reduce((sum, count) => sum + count, 0)).toBe(expected.length);
    expect(asObject((await catalog("", who())).body.data.facets.tenant)).toMatchObject({
      "cat-a": expected.filter((name) => name.startsWith("cat-a/")).length,
    });
  });

  it.each([
    ["?category=private-category"],
    ["?permission=private-permission"],
    ["?provider=custom"],
    ["?kind=generator"],
  ])("nothing of a private server to outsiders, not with %s", async (query) => {
    for (const who of [undefined, outsider]) {
      const { data } = (await catalog(query, who)).body;
      expect([data.items, data.total]).toEqual([[], { count: 0 }]);
    }
    expect((await catalog("?facets=true", outsider)).text).not.toContain("private-");
    expect((await names(query, both)).length).toBe(1);
  });

  it("someone of very many tenants, all of theirs", async () => {
    const others = Array.from({ length: 60 }, (_, at) => `cat-none-${at}`);
    const many = await token({ tenants: [...others, "cat-b", "cat-a"] });
    expect(await names(`?${mine}`, many)).toEqual(await names(`?${mine}`, both));
    expect(await names("?category=query", many)).toEqual(await names("?category=query", both));
    const of = async (who: string) => (await catalog("", who)).body.data;
    const [counted, kept] = [await of(many), await of(both)];
    expect([counted.items, counted.total, counted.facets]).toEqual([kept.items, kept.total, kept.facets]);
  });

  it("needs a token that is good, and one that may read", async () => {
    expect((await catalog("", "nonsense")).status).toBe(401);
    expect((await catalog("", await token({ tenants: ["cat-a"], scope: "registry:publish" }))).status).toBe(403);
  });
});

describe("filters", () => {
  it.each([
    ["kind=tool", ["cat-a/hidden", "cat-a/open"]],
    ["kind=tool&kind=operation", ["cat-a/hidden", "cat-a/open", "cat-b/api"]],
    ["kind=tool&kind=prompt", ["cat-a/hidden", "cat-a/open"]],
    ["provider=openapi", ["cat-b/api"]],
    ["provider=mcp", ["cat-a/open", "cat-b/inner"]],
    ["category=query", ["cat-a/open", "cat-b/api", "cat-b/inner"]],
    ["category=query&kind=operation", ["cat-b/api"]],
    ["category=query&kind=operation&kind=generator&tenant=cat-b", ["cat-b/api", "cat-b/inner"]],
    ["category=query&kind=prompt&provider=openapi", []],
    ["permission=files:write", ["cat-a/open"]],
    ["effect=none,%20really", ["cat-a/open"]],
    ["capability_type=rest_api", ["cat-b/api"]],
    ["status=deprecated&tenant=cat-a", ["cat-a/old"]],
    ["status=active&tenant=cat-a", ["cat-a/hidden", "cat-a/open"]],
    ["probe=unknown&tenant=cat-b", ["cat-b/api", "cat-b/inner"]],
    ["probe=live&tenant=cat-b", []],
    ["category=no-such", []],
    ["tenant=nobody", []],
    ["updated_since=2000-01-01T00:00:00Z&tenant=cat-a", ["cat-a/hidden", "cat-a/old", "cat-a/open"]],
    ["updated_since=2000-01-01T00:00:00Z&category=query", ["cat-a/open", "cat-b/api", "cat-b/inner"]],
    ["updated_since=2100-01-01T00:00:00Z", []],
  ])("%s", async (query, expected) => {
    expect(await names(`?${query}`, both)).toEqual(expected);
    expect((await catalog(`?${query}`, both)).body.data.total).toEqual({ count: expected.length });
    expect((await names(`?${query}`, admin)).filter((name) => name.startsWith("cat-"))).toEqual(expected);
  });

  it("updated_since shows what changed at that time or later", async () => {
    const { items } = (await catalog("?tenant=cat-a&fields=updatedAt", both)).body.data;
    const [last] = items
      .map(({ updatedAt }: Item) => String(updatedAt))
      .sort()
      .reverse();
    const since = async (at: string) => names(`?tenant=cat-a&updated_since=${encodeURIComponent(at)}`, both);
    expect(await since(last)).toEqual(["cat-a/old"]);
    expect(await since(last.replace("Z", "1Z"))).toEqual([]);
  });

  it("probe follows what asking the sources finds", async () => {
    const far = await writer("cat-probed");
    // An address that is refused: nothing leaves the test.
    const sources = [{ type: "streamable-http", url: "http://127.0.0.1:9/mcp" }];
    await far.create("s", { visibility: "public", sources });
    expect(
      (await registry.send("POST", `${capabilities("cat-probed", "s")}/refresh`, { token: far.token })).status,
    ).toBe(200);
    expect(await names("?probe=unreachable&tenant=cat-probed")).toEqual(["cat-probed/s"]);
    await far.settle("s", { visibility: "public", sources: null });
    expect(await names("?probe=unknown&tenant=cat-probed")).toEqual(["cat-probed/s"]);
  });
});

describe("bad input", () => {
  it.each([
    ["?limit=0", "limit must be a whole number from 1 to 100"],
    ["?limit=-1", "limit must be"],
    ["?limit=101", "limit must be"],
    ["?limit=99999999999999999999", "limit must be"],
    ["?limit=1e1", "limit must be"],
    ["?limit=", "limit must be"],
    ["?limit=1&limit=2", "limit may be given once"],
    ["?q=x", 'Unknown query parameter "q"; known: tenant, kind'],
    ["?__proto__=1", '"__proto__"'],
    ["?kind=robot", "kind must be one of tool"],
    ["?status=gone", "status must be one of active, deprecated"],
    ["?probe=dead", "probe must be one of"],
    ["?tenant=A!", "Tenant name must be"],
    ["?updated_since=tomorrow", "updated_since must be an RFC 3339 time"],
    ["?fields=secret", "fields must be one of"],
    ["?facets=colour", "facets must be one of"],
    [`?category=${"x".repeat(129)}`, "category must have at most 128"],
  ])("%s is refused", async (query, mention) => {
    const { status, body } = await catalog(query);
    expect(status).toBe(400);
    expect(body.error.message).toContain(mention);
  });

  it("a tenant's generation cannot be asked for, nor another method", async () => {
    expect((await catalog("", undefined, { "Rollcall-Min-Generation": "1" })).status).toBe(400);
    const { status, headers } = await registry.send("POST", "/api/catalog", { body: {} });
    expect([status, headers.get("Allow")]).toEqual([405, "GET, HEAD"]);
  });

  it("values that look like SQL or patterns are values", async () => {
    for (const value of ["' OR 1=1 --", "%", "*", '"', "\\", "\u0000", "[]"]) {
      expect(await names(`?category=${encodeURIComponent(value)}`, admin)).toEqual([]);
    }
  });
});
