import { beforeAll, describe, expect, it } from "vitest";
import { capabilities, config, configs, Registry, token, tools } from "../support/registry.ts";
import { type Offer, serveUpstreams } from "../support/upstreams.ts";

const registry = new Registry();
const tenant = "origin";
let mine: string;
let offers: Map<string, Offer>;

const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  registry.send(method, path, { token: mine, headers, ...(body === undefined ? {} : { body }) });
const put = (name: string, body: unknown, query = "") => send("PUT", capabilities(tenant, name) + query, body);
const refresh = async (name: string) => (await send("POST", `${capabilities(tenant, name)}/refresh`)).body.data;
const data = async (name: string, query = "") => (await send("GET", capabilities(tenant, name) + query)).body.data;
const names = async (name: string, query = "") =>
  (await data(name, query)).tools.map((tool: { name: string }) => tool.name) as string[];
const types = async (name: string) =>
  ((await data(name)).generators ?? []).map(({ type }: { type: string }) => type) as string[];
const off = (name: string, ...items: string[]) =>
  send("PATCH", capabilities(tenant, name), {
    items: items.map((item) => ({ kind: "tool", name: item, enabled: false })),
  });

beforeAll(async () => {
  mine = await token({ tenants: [tenant] });
  offers = serveUpstreams();
});

/** A server with one source, which was read. */
async function sourced(name: string, ...offered: string[]): Promise<Offer> {
  const offer: Offer = { tools: tools(...offered).tools };
  offers.set(`${name}.example`, offer);
  const sources = [{ id: "main", type: "streamable-http", url: `https://${name}.example/mcp` }];
  await send("POST", configs, { tenant, name, sources });
  expect(await names(name)).toEqual(offered);
  return offer;
}

describe("a push to a server with a source", () => {
  it("adds to what the source offers, and outlasts its next reading", async () => {
    const offer = await sourced("beside", "read_a", "read_b");
    const pushed = await put("beside", { title: "T", ...tools("pushed"), generators: [{ type: "gen" }] });
    expect(pushed.body.data).toMatchObject({ outcome: "changed", changes: { additive: 2, removed: 0 } });
    offer.tools = tools("read_a", "read_c").tools;
    expect(await refresh("beside")).toMatchObject({ outcome: "applied" });
    expect((await names("beside")).sort()).toEqual(["pushed", "read_a", "read_c"]);
    expect([await types("beside"), (await data("beside")).title]).toEqual([["gen"], "T"]);
    // The fields that the source set are there too, and none of them is the publisher's now.
    expect((await data("beside")).serverInfo).toMatchObject({ name: "upstream" });
  });

  it("replaces what was pushed before, and nothing of the source's", async () => {
    await sourced("again", "read");
    await put("again", tools("one", "two"));
    const second = await put("again", tools("two"));
    expect(second.body.data.changes).toMatchObject({ removed: 1 });
    expect((await names("again")).sort()).toEqual(["read", "two"]);
    expect((await refresh("again")).outcome).toBe("unchanged");
  });

  it("of what an answer shows changes nothing and warns of nothing", async () => {
    await sourced("back", "read_x", "read_y");
    await put("back", { title: "T", ...tools("own") });
    const answer = await data("back");
    const { body } = await put("back", answer);
    expect(body.data).toMatchObject({ outcome: "unchanged", digest: answer.registry.digest, warnings: [] });
    // The source's items are still the source's.
    await put("back", tools("other"));
    expect((await names("back")).sort()).toEqual(["other", "read_x", "read_y"]);
  });

  it("of other content under a source's name is refused by name, or left out", async () => {
    await sourced("taken", "read");
    const document = { tools: [...tools("own").tools, { name: "read", description: "Mine." }] };
    const before = await data("taken");
    const whole = await put("taken", document);
    expect([whole.status, whole.body.error.details.issues]).toEqual([
      422,
      [{ path: "/tools/1", rule: "owned", message: expect.stringContaining('source "main"') }],
    ]);
    expect(await data("taken")).toEqual(before);
    const partial = await put("taken", document, "?partial=true");
    expect(partial.body.data.rejected).toMatchObject([{ path: "/tools/1", name: "read" }]);
    expect(await names("taken")).toEqual(["read", "own"]);
    const [read] = (await data("taken")).tools.filter((tool: { name: string }) => tool.name === "read");
    expect(read.description).toBe("Does read.");
  });

  it("may have the names of a source that is no longer configured", async () => {
    await sourced("left", "read");
    await send("PATCH", config(tenant, "left"), { sources: null });
    expect(await names("left")).toEqual([]);
    const { body } = await put("left", { tools: [{ name: "read", description: "Mine now." }] });
    expect(body.data).toMatchObject({ outcome: "changed", changes: { additive: 1, removed: 0 } });
    await put("left", tools("new"));
    expect(await names("left")).toEqual(["new"]);
  });
});

describe("a reading", () => {
  it("leaves out an item under a name that was pushed, and says so", async () => {
    await send("POST", configs, { tenant, name: "first" });
    await put("first", tools("same"));
    offers.set("first.example", {
      tools: [...tools("read").tools, { name: "same", description: "Theirs.", inputSchema: { type: "object" } }],
    });
    const sources = [{ id: "main", type: "streamable-http", url: "https://first.example/mcp" }];
    await send("PATCH", config(tenant, "first"), { sources });
    const { outcome, warnings } = await refresh("first");
    expect([outcome === "failed", warnings.at(-1)]).toEqual([false, expect.stringContaining('"same" was left out')]);
    expect((await names("first")).sort()).toEqual(["read", "same"]);
  });

  const unusable = [{ name: "has space", inputSchema: { type: "object" } }];
  it.each<[string, Partial<Offer>, string]>([
    ["of which every item is refused", { tools: unusable }, "unpublishable"],
    ["that declares no capabilities any more", { declares: false }, "undeclared"],
    ["that fails", { isDown: true }, "unavailable"],
  ])("of a source %s keeps the last good copy, stale", async (what, change, error) => {
    const name = `keeps-${error}`;
    const offer = await sourced(name, "one", "two");
    const before = await data(name);
    Object.assign(offer, change);
    const { outcome } = await refresh(name);
    expect([what, outcome]).toEqual([what, "failed"]);
    const after = await data(name);
    expect([after.registry.digest, after.tools.length, after.registry.stale]).toEqual([
      before.registry.digest,
      2,
      true,
    ]);
    expect(after.registry.sources[0]).toMatchObject({ id: "main", error });
    expect(after.registry.sources[0].status).not.toBe("live");
    Object.assign(offer, { tools: tools("three").tools, declares: true, isDown: false });
    await refresh(name);
    expect([await names(name), (await data(name)).registry.stale]).toEqual([["three"], undefined]);
  });

  it("of which every id is taken keeps the last good copy, and other sources are read", async () => {
    await put("holder", { tools: [{ name: "x", id: "origin.taken" }] });
    const [one, two] = [{ tools: tools("of_one").tools }, { tools: tools("of_two").tools }] as [Offer, Offer];
    offers.set("one.example", one).set("two.example", two);
    const sources = ["one", "two"].map((id) => ({ id, type: "streamable-http", url: `https://${id}.example/mcp` }));
    await send("POST", configs, { tenant, name: "both", sources });
    expect((await names("both")).sort()).toEqual(["of_one", "of_two"]);
    // A source cannot declare ids, so the name decides: another server has its default id.
    await put("squatter", { tools: [{ name: "y", id: "mcp.both.newer" }] });
    one.tools = tools("newer").tools;
    two.tools = tools("of_two", "of_two_more").tools;
    expect((await refresh("both")).outcome).toBe("applied");
    expect((await names("both")).sort()).toEqual(["of_one", "of_two", "of_two_more"]);
    const status = (await data("both")).registry.sources.map(({ id, error }: { id: string; error?: string }) => [
      id,
      error,
    ]);
    expect(status).toEqual([
      ["one", "unpublishable"],
      ["two", undefined],
    ]);
  });

  it("of empty lists is believed", async () => {
    const offer = await sourced("empty", "one");
    offer.tools = [];
    expect((await refresh("empty")).outcome).toBe("applied");
    expect(await names("empty")).toEqual([]);
  });

  it("does not let a source state what only the registry may", async () => {
    const claims = { verified: true, tokens: 1, flags: [], digest: "x", registry: { tokens: 7 } };
    offers.set("claims.example", { tools: [{ ...tools("t").tools[0], ...claims }] });
    const sources = [{ id: "main", type: "streamable-http", url: "https://claims.example/mcp" }];
    await send("POST", configs, { tenant, name: "claims", sources });
    const [tool] = (await data("claims")).tools;
    const { registry: _, ...stated } = claims;
    for (const key of Object.keys(stated)) expect(tool).not.toHaveProperty(key);
    expect(tool.registry).toMatchObject({ flags: [], status: "active" });
    expect(tool.registry.tokens).toBeGreaterThan(7);
  });
});

describe("a plugin", () => {
  const register = (name: string, generator: unknown, query = "") =>
    send("POST", `${capabilities(tenant, name)}/generators${query}`, generator);

  it("survives a push, a push of an answer and a reading, until its type is named", async () => {
    const offer = await sourced("plugged", "read");
    expect((await register("plugged", { type: "plug", best_for: ["x"] })).status).toBe(201);
    offer.tools = tools("read", "more").tools;
    await refresh("plugged");
    expect(await types("plugged")).toEqual(["plug"]);
    const { body } = await put("plugged", tools("own"));
    expect(body.data.kept).toEqual([{ kind: "generator", name: "plug", why: "plugin" }]);
    expect(await types("plugged")).toEqual(["plug"]);
    const answer = await data("plugged");
    expect((await put("plugged", answer)).body.data.outcome).toBe("unchanged");
    await put("plugged", tools("own", "two"));
    expect(await types("plugged")).toEqual(["plug"]);
    // Named with other content it is pushed, and goes with the next push that leaves it out.
    await put("plugged", { ...tools("own"), generators: [{ type: "plug", version: "2" }] });
    expect((await data("plugged")).generators).toMatchObject([{ type: "plug", version: "2" }]);
    await put("plugged", tools("own"));
    expect(await types("plugged")).toEqual([]);
  });

  it("is read in both spellings, by the same rules", async () => {
    await put("spelled", tools("own"));
    const upstream = { services: ["s"], credentials_required: ["KEY"], expected_latency_ms: { p50: 1, p95: 5 } };
    expect((await register("spelled", { type: "good", upstream_dependencies: upstream })).status).toBe(201);
    const view = (await send("GET", `${capabilities(tenant, "spelled")}/generators`)).body;
    expect(view.generators.good.upstream_dependencies).toMatchObject(upstream);
    const slow = { ...upstream, expected_latency_ms: { p50: 9, p95: 1 } };
    expect((await register("spelled", { type: "bad", upstream_dependencies: slow })).status).toBe(422);
    const both = await register("spelled", { type: "bad", best_for: [], bestFor: [] });
    expect([both.status, both.body.error.details.issues[0].path]).toEqual([422, "/best_for"]);
    const odd = await register("spelled", { type: "odd", best_forr: [] });
    expect(odd.body.data.warnings).toEqual([expect.stringContaining("did you mean bestFor?")]);
  });

  it("takes the place of a pushed generator when told, in the query or in the body", async () => {
    await put("over", { generators: [{ type: "a" }, { type: "b" }] });
    expect((await register("over", { type: "a", version: "2" })).status).toBe(409);
    expect((await register("over", { type: "a", version: "2", override: true })).status).toBe(201);
    expect((await register("over", { type: "b", version: "2" }, "?override=true")).status).toBe(201);
    await put("over", { tools: [] });
    expect(await types("over")).toEqual(["a", "b"]);
  });

  it("cannot take an id that the server has", async () => {
    await put("ids", { tools: [{ name: "t", id: "origin.ids" }] });
    const { status, body } = await register("ids", { type: "g", id: "origin.ids" });
    expect([status, body.error.details.collisions]).toEqual([
      409,
      [{ id: "origin.ids", item: "generator g", takenBy: "tool t of ids" }],
    ]);
  });
});

describe("a switched-off item", () => {
  it("that a push does not name stays, switched off", async () => {
    const first = await put("dis", tools("one", "two", "three"));
    await off("dis", "two");
    const answer = await data("dis");
    expect(answer.tools).toHaveLength(2);
    const back = await put("dis", answer);
    expect(back.body.data).toMatchObject({ outcome: "unchanged", digest: first.body.data.digest, warnings: [] });
    expect(back.body.data.kept).toEqual([{ kind: "tool", name: "two", why: "disabled" }]);
    const more = await put("dis", { tools: [...answer.tools, ...tools("four").tools] });
    expect(more.body.data.changes).toMatchObject({ additive: 1, removed: 0 });
    expect((await data("dis")).registry.digest).toBe(more.body.data.digest);
    expect(await names("dis")).toEqual(["one", "three", "four"]);
    await send("PATCH", capabilities(tenant, "dis"), { items: [{ kind: "tool", name: "two", enabled: true }] });
    expect(await names("dis")).toEqual(["one", "two", "three", "four"]);
  });

  it("is shown to those who manage the server, and to nobody else", async () => {
    await put("shown", tools("one", "two"));
    await off("shown", "two");
    await send("PATCH", config(tenant, "shown"), { visibility: "public" });
    const managed = await data("shown", "?include=disabled");
    expect(managed.tools.map((tool: { name: string; enabled: boolean }) => [tool.name, tool.enabled])).toEqual([
      ...[
        ["one", true],
        ["two", false],
      ],
    ]);
    expect(managed.tokens).toBe((await data("shown")).tokens);
    const read = (who: string) =>
      registry.send("GET", `${capabilities(tenant, "shown")}?include=disabled`, { token: who });
    expect((await read(await token({ tenants: [tenant], scope: "registry:read" }))).status).toBe(403);
    expect((await read(await token({ tenants: ["elsewhere"] }))).status).toBe(403);
    expect((await read(await token({ admin: true }))).status).toBe(200);
    expect((await send("GET", `${capabilities(tenant, "shown")}?include=all`)).status).toBe(400);
    // Reading again does not give what was kept for another.
    expect(await names("shown")).toEqual(["one"]);
    expect((await send("GET", `${capabilities(tenant, "shown")}/tools?include=disabled`)).status).toBe(400);
  });

  it("goes if somebody who saw it leaves it out", async () => {
    await put("seen", tools("one", "two"));
    await off("seen", "two");
    const managed = await data("seen", "?include=disabled");
    expect((await put("seen", managed, "?include=disabled")).body.data).toMatchObject({
      outcome: "unchanged",
      warnings: [],
    });
    const { body } = await put("seen", tools("one"), "?include=disabled");
    expect(body.data).toMatchObject({ outcome: "changed", changes: { removed: 1 } });
    expect(body.data).not.toHaveProperty("kept");
    expect(await names("seen", "?include=disabled")).toEqual(["one"]);
  });
});

describe("restoring a revision", () => {
  const restore = (name: string, digest: string, query = "", headers = {}) =>
    send("POST", `${capabilities(tenant, name)}/revisions/${digest}/restore${query}`, undefined, headers);

  it("brings back what was pushed and registered, and leaves what sources offer", async () => {
    const offer = await sourced("past", "read_old");
    await put("past", { title: "Old", ...tools("old") });
    await send("POST", `${capabilities(tenant, "past")}/generators`, { type: "plug" });
    const then = (await data("past")).registry.digest;
    await put("past", { ...tools("new"), generators: [{ type: "plug", version: "9" }] });
    offer.tools = tools("read_new").tools;
    await refresh("past");
    const preview = await restore("past", then, "?dryRun=true");
    expect(preview.body.data).toMatchObject({ dryRun: true, changes: { removed: 1 } });
    const { status, body } = await restore("past", then);
    expect(status).toBe(200);
    expect(body.data.changes).toEqual(preview.body.data.changes);
    const now = await data("past");
    expect(now.tools.map((tool: { name: string }) => tool.name).sort()).toEqual(["old", "read_new"]);
    expect([now.title, now.generators[0].version, now.registry.digest]).toEqual(["Old", undefined, body.data.digest]);
    // The plugin is one again.
    await put("past", tools("last"));
    expect(await types("past")).toEqual(["plug"]);
  });

  it("of the very same content gives the digest again, with a new generation", async () => {
    const first = (await put("digest", { version: "1", ...tools("a") })).body.data;
    const second = (await put("digest", { version: "2", ...tools("b") })).body.data;
    const { body } = await restore("digest", first.digest);
    expect(body.data).toMatchObject({ digest: first.digest, generation: second.generation + 1, outcome: "changed" });
    expect((await restore("digest", first.digest)).body.data.outcome).toBe("unchanged");
    const log = await send("GET", `${capabilities(tenant, "digest")}/revisions`);
    expect(log.body.data.items.map(({ digest }: { digest: string }) => digest)).toEqual([
      ...[first.digest, second.digest, first.digest],
    ]);
  });

  it("keeps switched-off items that the revision lacks", async () => {
    const first = (await put("kept", tools("a"))).body.data;
    await put("kept", tools("a", "b"));
    await off("kept", "b");
    const { body } = await restore("kept", first.digest);
    expect(body.data.kept).toEqual([{ kind: "tool", name: "b", why: "disabled" }]);
  });

  it("is refused where it cannot be, and changes nothing", async () => {
    const first = (await put("guarded", tools("a"))).body.data;
    await put("guarded", tools("b"));
    const before = await data("guarded");
    const unknown = `sha256-${"0".repeat(64)}`;
    expect((await restore("guarded", unknown)).body.error.code).toBe("ErrorRevisionNotFound");
    expect((await restore("guarded", "nonsense")).status).toBe(400);
    expect((await restore("absent", first.digest)).status).toBe(404);
    expect((await restore("guarded", first.digest, "?x=1")).status).toBe(400);
    expect((await restore("guarded", first.digest, "", { "If-Match": '"other"' })).status).toBe(412);
    const path = `${capabilities(tenant, "guarded")}/revisions/${first.digest}/restore`;
    expect((await send("GET", path)).status).toBe(405);
    const reader = await token({ tenants: [tenant], scope: "registry:read" });
    expect((await registry.send("POST", path, { token: reader })).status).toBe(403);
    // The id went to another server meanwhile.
    await put("guarded-thief", { tools: [{ name: "x", id: "mcp.guarded.a" }] });
    expect((await restore("guarded", first.digest)).body.error.code).toBe("ErrorCapabilityCollision");
    expect((await restore("guarded", first.digest, "?partial=true")).status).toBe(422);
    expect(await data("guarded")).toEqual(before);
  });
});
