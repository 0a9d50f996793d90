import { beforeAll, describe, expect, it } from "vitest";
import { type Member, member, registry } from "../support/member.ts";
import { configs, token, tools } from "../support/registry.ts";

describe("listing", () => {
  interface Entry {
    tenant: string;
    name: string;
  }
  let near: Member;
  let admin: string;
  let one: string;
  let both: string;
  let stranger: string;

  beforeAll(async () => {
    near = await member("list-a");
    const far = await member("list-b");
    one = await token({ tenants: ["list-a"] });
    both = await token({ tenants: ["list-a", "list-b"] });
    admin = await token({ admin: true });
    stranger = await token({ tenants: ["list-c"] });
    await near.post({ name: "alpha", title: "Alpha", visibility: "public" });
    await near.post({ name: "Beta" });
    await near.publish("gamma", { description: "From the manifest", version: "3", ...tools("list_gamma") });
    await far.post({ name: "delta", visibility: "public" });
    await far.post({ name: "epsilon" });
  });

  const list = (who: string, query = "", headers: Record<string, string> = {}) =>
    registry.send("GET", configs + query, { token: who, headers });
  const namesOf = (items: Entry[]) => items.map(({ tenant, name }) => `${tenant}/${name}`);
  const names = async (who: string, query = "") => namesOf((await list(who, query)).body.data.items);
  const ofLists = (all: string[]) => all.filter((name) => /^list-[ab]\//.test(name));

  /** Every page from a query on, with what happens between two of them. */
  async function pages(who: string, query: string, between: (page: number) => Promise<unknown> = async () => {}) {
    const found: Entry[][] = [];
    const changed: (true | undefined)[] = [];
    for (let cursor = ""; ; ) {
      const { status, body } = await list(who, `${query}${cursor && `&cursor=${cursor}`}`);
      expect(status).toBe(200);
      found.push(body.data.items);
      changed.push(body.data.changed);
      if (body.data.nextCursor === undefined) return { found, changed };
      cursor = body.data.nextCursor;
      await between(found.length);
    }
  }

  it("shows the servers of the caller's tenants, in order of tenant and name", async () => {
    expect(await names(one)).toEqual(["list-a/Beta", "list-a/alpha", "list-a/gamma"]);
    expect(await names(both)).toEqual([
      "list-a/Beta",
      "list-a/alpha",
      "list-a/gamma",
      "list-b/delta",
      "list-b/epsilon",
    ]);
    expect(await names(stranger)).toEqual([]);
    expect(await names(await token({ tenants: [] }))).toEqual([]);
  });

  it("shows an admin every tenant", async () => {
    const all = await pages(admin, "?limit=100");
    const found = namesOf(all.found.flat());
    expect(ofLists(found)).toEqual(await names(both));
    expect(found.length).toBeGreaterThanOrEqual(5);
  });

  it("says of each server what a reader needs to choose", async () => {
    const { body } = await list(one);
    expect(body).toMatchObject({ success: true, message: "MCP server list retrieved successfully" });
    const [, alpha, gamma] = body.data.items;
    expect(alpha).toMatchObject({ title: "Alpha", visibility: "public", generation: 1 });
    expect(gamma).toMatchObject({
      description: "From the manifest",
      version: "3",
      visibility: "tenant",
      counts: { tool: 1 },
    });
    expect(gamma.digest).toMatch(/^sha256-/);
    const across = (await list(both)).body.data.items;
    expect(across.slice(0, 3)).toEqual(body.data.items);
  });

  it.each([
    ["one tenant", "?tenant=list-b", () => both, ["list-b/delta", "list-b/epsilon"]],
    ["one tenant, for an admin", "?tenant=list-a", () => admin, ["list-a/Beta", "list-a/alpha", "list-a/gamma"]],
    ["public servers of every tenant", "?visibility=public", () => stranger, ["list-a/alpha", "list-b/delta"]],
    ["public servers, for an admin", "?visibility=public", () => admin, ["list-a/alpha", "list-b/delta"]],
    ["public servers of one tenant", "?tenant=list-a&visibility=public", () => both, ["list-a/alpha"]],
  ])("filters by %s", async (_, query, who, expected) => {
    expect(ofLists(await names(who(), query))).toEqual(expected);
  });

  it("is never behind a write, within a tenant or across", async () => {
    for (const visibility of ["public", "tenant"]) {
      await near.send(visibility === "public" ? "POST" : "PUT", configs, {
        tenant: "list-a",
        name: "moving",
        visibility,
      });
      for (const query of ["", "?tenant=list-a"]) expect(await names(both, query)).toContain("list-a/moving");
      expect((await names(stranger, "?visibility=public")).includes("list-a/moving")).toBe(visibility === "public");
    }
    await near.remove("moving");
    expect(await names(one)).not.toContain("list-a/moving");
    expect(await names(both)).not.toContain("list-a/moving");
  });

  it("carries the tenant's generation, and answers 412 for one that is ahead", async () => {
    const { body, headers } = await list(one, "?tenant=list-a");
    expect(headers.get("Rollcall-Generation")).toBe(String(body.data.generation));
    const ahead = { "Rollcall-Min-Generation": String(body.data.generation + 1) };
    expect((await list(one, "?tenant=list-a", ahead)).status).toBe(412);
    expect(
      (await list(one, "?tenant=list-a", { "Rollcall-Min-Generation": String(body.data.generation) })).status,
    ).toBe(200);
  });

  it.each([
    ["a tenant's list", ["pages-1"], ""],
    ["a list across tenants", ["pages-2", "pages-3"], ""],
    ["the public list", ["pages-4"], "&visibility=public"],
  ])("pages through %s with every server exactly once while others write", async (_, tenants, filter) => {
    const reader = await token({ tenants });
    const writers = await Promise.all(tenants.map(member));
    const visibility = filter === "" ? "tenant" : "public";
    for (const { post } of writers) for (const name of "abcdefgh") await post({ name, visibility });
    const [first] = writers as [Member];
    const mine = ({ tenant }: Entry) => tenants.includes(tenant);

    const quiet = await pages(reader, `?limit=3${filter}`);
    const still = quiet.found.flat().filter(mine);
    expect(namesOf(still)).toEqual(tenants.flatMap((tenant) => [..."abcdefgh"].map((name) => `${tenant}/${name}`)));
    expect(quiet.found.slice(0, -1).every(({ length }) => length === 3)).toBe(true);
    expect(quiet.changed.every((changed) => changed === undefined)).toBe(true);

    // Before the position, at it, after it: new servers, a removed one, a changed one.
    const busy = await pages(reader, `?limit=3${filter}`, async (page) => {
      if (page !== 1) return;
      for (const name of ["a1", "c1", "g1"]) await first.post({ name, visibility });
      await first.remove("h");
      await first.put({ name: "a", visibility, title: "Moved" });
      await first.put({ name: "g", visibility, title: "Moved" });
    });
    const seen = namesOf(busy.found.flat().filter(mine));
    expect(new Set(seen).size).toBe(seen.length);
    const throughout = namesOf(still).filter((name) => name !== `${tenants[0]}/h`);
    expect(seen.filter((name) => throughout.includes(name))).toEqual(throughout);
    expect(busy.changed[0]).toBeUndefined();
    expect(busy.changed.slice(1).every((changed) => changed === true)).toBe(true);
  });

  it("has no next page when the last is full", async () => {
    const { found } = await pages(one, "?limit=3");
    expect(found.map(({ length }) => length)).toEqual([3]);
  });

  it("refuses a cursor that is not this list's", async () => {
    const cursor = async (who: string, query: string) => {
      const { nextCursor } = (await list(who, `?limit=1${query}`)).body.data;
      expect(nextCursor).toBeDefined();
      return nextCursor as string;
    };
    const own = await cursor(both, "");
    expect((await list(both, `?cursor=${own}`)).status).toBe(200);
    const [payload = "", signature = ""] = own.split(".");
    const elsewhere = btoa(JSON.stringify([["list-b", ""], 0])).replaceAll("=", "");
    const attempts: [string, string, string, string][] = [
      ["another caller's", both, "", await cursor(admin, "")],
      ["a caller's with fewer tenants", both, "", await cursor(one, "")],
      ["an admin's use of a member's", admin, "", own],
      ["the same caller's with a tenant", both, "", await cursor(both, "&tenant=list-a")],
      ["one moved to another tenant", both, "&tenant=list-b", await cursor(both, "&tenant=list-a")],
      ["the public list's", both, "", await cursor(both, "&visibility=public")],
      ["one used for the public list", both, "&visibility=public", own],
      ["a made-up position", both, "", `${elsewhere}.${signature}`],
      ["a made-up signature", both, "", `${payload}.${"A".repeat(signature.length)}`],
      ["one cut short", both, "", own.slice(0, -4)],
      ["one without its signature", both, "", payload],
      ["one with an empty signature", both, "", `${payload}.`],
      ["one with a letter changed", both, "", `${own.startsWith("A") ? "B" : "A"}${own.slice(1)}`],
      ["nothing", both, "", ""],
      ["plain text", both, "", "list-a/alpha"],
      ["a token", both, "", both],
      ["a very long one", both, "", `${"A".repeat(10_000)}.${signature}`],
    ];
    const outcomes = [];
    for (const [what, who, query, given] of attempts) {
      const { status, body } = await list(who, `?limit=1${query}&cursor=${encodeURIComponent(given)}`);
      outcomes.push([what, status, body.error?.code]);
    }
    expect(outcomes).toEqual(attempts.map(([what]) => [what, 400, "ErrorCursorInvalid"]));
  });

  it("refuses a cursor with something behind it", async () => {
    const { nextCursor } = (await list(both, "?limit=1")).body.data;
    const { status, body } = await list(both, `?limit=1&cursor=${nextCursor}.AAAA`);
    expect([status, body.error?.code]).toEqual([400, "ErrorCursorInvalid"]);
  });

  it.each(["0", "-1", "101", "abc", "1.5", "1e1", "", "+5", "%20"])("refuses a limit of %j", async (limit) => {
    const { status, body } = await list(one, `?limit=${limit}`);
    expect([status, body.error]).toMatchObject([
      400,
      { code: "ErrorBadRequest", message: "limit must be a whole number from 1 to 100" },
    ]);
  });

  it.each(["1", "100"])("takes a limit of %s", async (limit) => {
    expect((await list(one, `?limit=${limit}`)).status).toBe(200);
  });

  it.each([
    ["an unknown parameter, by name", "?page=2", '"page"'],
    ["a misspelt one", "?Limit=2", '"Limit"'],
    ["one that objects have by nature", "?constructor=1", '"constructor"'],
    ["__proto__", "?__proto__=1", '"__proto__"'],
    ["one given twice", "?limit=1&limit=2", "limit may be given once"],
    ["a visibility other than public", "?visibility=tenant", "visibility"],
    ["a tenant that cannot be", "?tenant=A!", "Tenant name"],
  ])("refuses %s", async (_, query, mention) => {
    const { status, body } = await list(one, query);
    expect(status).toBe(400);
    expect(body.error.message).toContain(mention);
  });

  it.each([
    ["another's tenant", "?tenant=list-b"],
    ["a tenant that does not exist", "?tenant=nobody"],
  ])("answers 403 for %s", async (_, query) => {
    const { status, body } = await list(one, query);
    expect([status, body.error.code]).toEqual([403, "ErrorTenantPermissionError"]);
  });
});
