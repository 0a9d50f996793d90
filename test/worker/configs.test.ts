import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { bodyKey, headKey } from "../../src/storage/keys.ts";
import { type Answer, capabilities, config, configs, drained, Registry, token, tools } from "./registry.ts";

const clock = Date.now();
const registry = new Registry({ now: () => clock });

/** Writes and reads as a member of one tenant. */
async function member(tenant: string) {
  const mine = await token({ tenants: [tenant] });
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    registry.send(method, path, { token: mine, headers, ...(body === undefined ? {} : { body }) });
  return {
    send,
    post: (body: Record<string, unknown>) => send("POST", configs, { tenant, ...body }),
    put: (body: Record<string, unknown>, headers?: Record<string, string>) =>
      send("PUT", configs, { tenant, ...body }, headers),
    get: (name: string, headers?: Record<string, string>) => send("GET", config(tenant, name), undefined, headers),
    remove: (name: string, headers?: Record<string, string>) =>
      send("DELETE", config(tenant, name), undefined, headers),
    publish: (name: string, body: unknown) => send("PUT", capabilities(tenant, name), body),
    capabilities: (name: string) => send("GET", capabilities(tenant, name)),
  };
}
type Member = Awaited<ReturnType<typeof member>>;

const yaml = (send: Member["send"], body: string, type = "application/yaml") =>
  send("POST", configs, body, { "Content-Type": type });
const paths = (answer: Answer) => answer.body.error.details.issues.map((issue: { path: string }) => issue.path);

describe("registering a server", () => {
  let make: Member;
  beforeAll(async () => {
    make = await member("make");
  });

  it("answers 201 with the config, its generation and its tag", async () => {
    const body = {
      name: "one",
      title: "One",
      description: "First",
      sources: [{ type: "sse", url: "https://one.test/sse" }],
    };
    const { status, headers, body: answer } = await make.post(body);
    expect(status).toBe(201);
    expect(answer).toEqual({
      success: true,
      message: "MCP server created successfully",
      data: { tenant: "make", visibility: "tenant", ...body, generation: 1 },
    });
    expect(headers.get("Rollcall-Generation")).toBe("1");
    expect(headers.get("ETag")).toMatch(/^W\//);
  });

  it("keeps unknown keys at any depth, and returns them", async () => {
    const extra = {
      "x-team": "blue",
      policy: { sameVersion: "flag", later: [1, null, { deep: false }] },
      sources: [{ type: "stdio", args: ["-y"] }],
    };
    await make.post({ name: "extra", ...extra });
    expect((await make.get("extra")).body.data).toMatchObject(extra);
  });

  it("ignores the keys that answers add", async () => {
    const { body } = await make.post({
      name: "echo",
      createdAt: "1970",
      updatedAt: "1970",
      generation: 99,
      effectiveBy: "x",
      registry: { digest: "x" },
    });
    expect(body.data).toEqual({ tenant: "make", name: "echo", visibility: "tenant", generation: body.data.generation });
    expect(body.data.generation).toBeLessThan(99);
    const { data } = (await make.get("echo")).body;
    expect(data.createdAt).not.toBe("1970");
    expect(data.registry.digest).toBeUndefined();
  });

  it.each(["application/yaml", "text/yaml", "application/x-yaml", "application/yaml; charset=utf-8"])(
    "takes %s",
    async (type) => {
      const name = `yaml-${type.replaceAll(/\W+/g, "-")}`;
      const answer = await yaml(
        make.send,
        `# settings\ntenant: make\nname: ${name}\nvisibility: public\nno: "no"\n`,
        type,
      );
      expect([answer.status, answer.body.data]).toMatchObject([201, { name, visibility: "public", no: "no" }]);
    },
  );

  it("keeps a gateway's config as it is written", async () => {
    const text = [
      'name: "gateway"',
      'tenant: "make"',
      "routers:",
      '  - server: "users"',
      '    prefix: "/gateway/user"',
      "    cors: &cors",
      '      allowOrigins: ["*"]',
      "      allowCredentials: true",
      '  - server: "orders"',
      "    cors: *cors",
      "servers:",
      '  - name: "users"',
      "    config:",
      "      Cookie: 123",
      "      Authorization: 'Bearer {{ env \"AUTH_TOKEN\" }}'",
      "tools:",
      '  - name: "register_user"',
      "    requestBody: |-",
      "      {",
      '        "username": "{{.Args.username}}"',
      "      }",
      "mcpServers:",
      '  - type: "streamable-http"  # a comment',
      '    url: "http://localhost:5237/mcp"',
    ].join("\n");
    expect((await yaml(make.send, text)).status).toBe(201);
    const cors = { allowOrigins: ["*"], allowCredentials: true };
    expect((await make.get("gateway")).body.data).toMatchObject({
      routers: [
        { server: "users", prefix: "/gateway/user", cors },
        { server: "orders", cors },
      ],
      servers: [{ config: { Cookie: 123, Authorization: 'Bearer {{ env "AUTH_TOKEN" }}' } }],
      tools: [{ requestBody: '{\n  "username": "{{.Args.username}}"\n}' }],
      mcpServers: [{ type: "streamable-http", url: "http://localhost:5237/mcp" }],
    });
  });

  it("refuses a name that is taken, and leaves what is there", async () => {
    await make.post({ name: "taken", title: "First" });
    const again = await make.post({ name: "taken", title: "Second" });
    expect([again.status, again.body.error]).toEqual([
      409,
      { code: "ErrorMCPServerExists", message: "MCP server already exists" },
    ]);
    expect((await make.get("taken")).body.data.title).toBe("First");
    await make.publish("published", tools("make_published"));
    expect((await make.post({ name: "published" })).status).toBe(409);
  });

  it("lets one of two at once win", async () => {
    const both = await Promise.all([make.post({ name: "race", title: "A" }), make.post({ name: "race", title: "B" })]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    const winner = both.find(({ status }) => status === 201);
    expect((await make.get("race")).body.data.title).toBe(winner?.body.data.title);
  });
});

describe.each(["POST", "PUT"])("%s of a config that is not right", (method) => {
  let wrong: Member;
  const submit = (body: unknown) => wrong.send(method, configs, body);
  beforeAll(async () => {
    wrong = await member("wrong");
    await wrong.post({ name: "there" });
  });

  it.each([
    ["no tenant", { name: "x" }, 400, "ErrorTenantRequired"],
    ["an empty tenant", { tenant: "", name: "x" }, 400, "ErrorTenantRequired"],
    ["a null tenant", { tenant: null, name: "x" }, 400, "ErrorTenantRequired"],
    ["an empty object", {}, 400, "ErrorTenantRequired"],
    ["no name", { tenant: "wrong" }, 400, "ErrorMCPServerNameRequired"],
    ["an empty name", { tenant: "wrong", name: "" }, 400, "ErrorMCPServerNameRequired"],
    ["a null name", { tenant: "wrong", name: null }, 400, "ErrorMCPServerNameRequired"],
    ["a tenant that is a number", { tenant: 7, name: "x" }, 400, "ErrorTenantInvalid"],
    ["a tenant in capitals", { tenant: "Wrong", name: "x" }, 400, "ErrorTenantInvalid"],
    ["a name that is a list", { tenant: "wrong", name: ["x"] }, 400, "ErrorMCPServerNameInvalid"],
    ["a name with a slash", { tenant: "wrong", name: "a/b" }, 400, "ErrorMCPServerNameInvalid"],
    ["another's tenant", { tenant: "other", name: "x" }, 403, "ErrorTenantPermissionError"],
    [
      "another's tenant, and nothing else right",
      { tenant: "other", name: 7, visibility: 7 },
      403,
      "ErrorTenantPermissionError",
    ],
  ])("refuses %s", async (_, body, status, code) => {
    const answer = await submit(body);
    expect([answer.status, answer.body.success, answer.body.error.code]).toEqual([status, false, code]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ["visibility", { visibility: "world" }, "/visibility"],
    ["title", { title: {} }, "/title"],
    ["description", { description: 7 }, "/description"],
    ["sources", { sources: {} }, "/sources"],
    ["a source without a type", { sources: [{ type: "sse" }, { url: "https://x.test" }] }, "/sources/1/type"],
    ["a source's credential", { sources: [{ type: "sse", credential: "hunter2" }] }, "/sources/0/credential"],
    ["more sources than allowed", { sources: Array(33).fill({ type: "sse" }) }, "/sources"],
    ["advertise", { advertise: { variants: { full: "yes" } } }, "/advertise/variants/full"],
    ["policy", { policy: { sameVersion: "shrug" } }, "/policy/sameVersion"],
    ["_meta", { _meta: [] }, "/_meta"],
    ["an invisible character", { description: "two\u200bwords" }, "/description"],
    ["a carriage return in an unknown key", { "x/y": ["a\r\nb: c"] }, "/x~1y/0"],
  ])("answers 422 with a pointer to %s", async (_, settings, path) => {
    const answer = await submit({ tenant: "wrong", name: "there", ...settings });
    expect([answer.status, answer.body.error.code, paths(answer)]).toEqual([422, "ErrorMCPServerValidation", [path]]);
    expect(answer.body.error.message).toContain(path);
  });

  it("names everything that is wrong at once", async () => {
    const answer = await submit({ tenant: "wrong", name: "there", title: 1, visibility: 2, sources: [3] });
    expect(paths(answer).sort()).toEqual(["/sources/0", "/title", "/visibility"]);
  });
});

describe("replacing a config", () => {
  let change: Member;
  beforeAll(async () => {
    change = await member("change");
  });

  it("answers 200 with the new config and the next generation", async () => {
    const first = await change.post({ name: "s", title: "Old", "x-old": 1 });
    const { status, body, headers } = await change.put({ name: "s", description: "New" });
    expect(status).toBe(200);
    const generation = first.body.data.generation + 1;
    expect(body).toEqual({
      success: true,
      message: "MCP server updated successfully",
      data: { tenant: "change", name: "s", visibility: "tenant", description: "New", generation },
    });
    expect(headers.get("Rollcall-Generation")).toBe(String(generation));
    const { data } = (await change.get("s")).body;
    expect(data).toMatchObject({ description: "New", registry: { generation } });
    expect([data.title, data["x-old"]]).toEqual([undefined, undefined]);
  });

  it("answers 404 for a server that is not there, and makes none", async () => {
    const { status, body } = await change.put({ name: "missing" });
    expect([status, body.error.code]).toEqual([404, "ErrorMCPServerNotFound"]);
    expect((await change.get("missing")).status).toBe(404);
  });

  it("leaves what the server can do alone", async () => {
    await change.publish("doer", tools("change_doer"));
    const before = (await change.capabilities("doer")).body.data;
    await change.put({ name: "doer", title: "Doer" });
    expect((await change.capabilities("doer")).body.data).toEqual(before);
  });

  it("adds no generation when nothing changed, such as when an answer is sent back", async () => {
    await change.post({ name: "same", title: "T", "x-a": [1], sources: [{ type: "sse", url: "https://x.test" }] });
    const read = await change.get("same");
    const { body, headers } = await change.put(read.body.data);
    expect(body.data.generation).toBe(read.body.data.registry.generation);
    expect((await change.get("same")).headers.get("ETag")).toBe(read.headers.get("ETag"));
    expect(headers.get("Rollcall-Generation")).toBe(read.headers.get("Rollcall-Generation"));
  });

  it("takes the tag of any answer in If-Match, once", async () => {
    await change.post({ name: "tagged" });
    const tag = async () => (await change.get("tagged")).headers.get("ETag") ?? "";
    const first = await tag();
    expect((await change.put({ name: "tagged", title: "1" }, { "If-Match": first })).status).toBe(200);
    const second = await change.put({ name: "tagged", title: "2" }, { "If-Match": first });
    expect([second.status, second.body.error.code]).toEqual([412, "ErrorPreconditionFailed"]);
    const view = (await change.capabilities("tagged")).headers.get("ETag") ?? "";
    expect((await change.put({ name: "tagged", title: "3" }, { "If-Match": `"other", ${view}` })).status).toBe(200);
    expect((await change.put({ name: "tagged", title: "4" }, { "If-Match": "*" })).status).toBe(200);
    expect((await change.put({ name: "tagged", title: "5" }, { "If-Match": "not a tag" })).status).toBe(412);
    expect((await change.get("tagged")).body.data.title).toBe("4");
  });

  it("says by when a narrower visibility holds everywhere: 80 s from now", async () => {
    await change.post({ name: "shown", visibility: "public" });
    const narrowed = await change.put({ name: "shown", visibility: "tenant" });
    expect(Date.parse(narrowed.body.data.effectiveBy) - clock).toBe(80_000);
    for (const settings of [{ visibility: "public" }, { visibility: "public", title: "T" }]) {
      expect((await change.put({ name: "shown", ...settings })).body.data.effectiveBy).toBeUndefined();
    }
    // Absent is the default, so leaving it out narrows too.
    expect((await change.put({ name: "shown" })).body.data.effectiveBy).toBeDefined();
  });
});

describe("reading a config", () => {
  let read: Member;
  beforeAll(async () => {
    read = await member("read");
    await read.post({ name: "s", title: "S", visibility: "public", "x-kept": true });
  });

  it("shows the settings, and what the registry knows beside them", async () => {
    const empty = (await read.get("s")).body;
    expect(empty).toMatchObject({ success: true, message: "MCP server information retrieved successfully" });
    expect(empty.data).toMatchObject({ tenant: "read", name: "s", title: "S", visibility: "public", "x-kept": true });
    expect(empty.data.registry).toMatchObject({ generation: 1, disabled: [], flags: [] });
    expect(empty.data.registry.digest).toBeUndefined();

    const published = await read.publish("s", {
      version: "1.2",
      ...tools("read_a", "read_b"),
      prompts: [{ name: "p" }],
    });
    const { data } = (await read.get("s")).body;
    expect(data.registry).toMatchObject({
      generation: published.body.data.generation,
      digest: published.body.data.digest,
      version: "1.2",
      counts: { tool: 2, prompt: 1 },
    });
    expect(data.registry.tokens).toBe((await read.capabilities("s")).body.data.tokens);
    expect(Date.parse(data.registry.lastSynced)).not.toBeNaN();
    expect(data.createdAt).toBe(empty.data.createdAt);
    expect(data.updatedAt >= data.createdAt).toBe(true);
  });

  it("answers 304 until the config, the manifest or a switch changes", async () => {
    await read.post({ name: "tag" });
    await read.publish("tag", tools("read_tag"));
    let etag = "";
    const unchanged = async () => {
      const { status, headers, text } = await read.get("tag", { "If-None-Match": etag });
      etag = headers.get("ETag") ?? "";
      return status === 304 && text === "";
    };
    expect(await unchanged()).toBe(false);
    expect(await unchanged()).toBe(true);
    await read.put({ name: "tag", title: "T" });
    expect([await unchanged(), await unchanged()]).toEqual([false, true]);
    await read.publish("tag", tools("read_tag", "read_tag2"));
    expect([await unchanged(), await unchanged()]).toEqual([false, true]);
    await read.send("PATCH", capabilities("read", "tag"), {
      items: [{ kind: "tool", name: "read_tag", enabled: false }],
    });
    expect([await unchanged(), await unchanged()]).toEqual([false, true]);
  });

  it("answers 404 for what is not there, 412 for a generation ahead, and refuses a query", async () => {
    expect((await read.get("missing")).body.error.code).toBe("ErrorMCPServerNotFound");
    expect((await read.get("s", { "Rollcall-Min-Generation": "9999" })).status).toBe(412);
    const { status, body } = await read.send("GET", `${config("read", "s")}?verbose=1`);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('"verbose"')]);
  });
});

describe("deleting a server", () => {
  let gone: Member;
  beforeAll(async () => {
    gone = await member("gone");
  });

  it("answers 200, by when it is gone everywhere, and 404 from then on", async () => {
    const published = await gone.publish("s", tools("gone_s"));
    const { digest, generation } = published.body.data;
    const { status, body, headers } = await gone.remove("s");
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      message: "MCP server deleted successfully",
      data: { generation: generation + 1, effectiveBy: new Date(clock + 80_000).toISOString() },
    });
    expect(headers.get("Rollcall-Generation")).toBe(String(generation + 1));

    const view = capabilities("gone", "s");
    for (const [method, path, sent] of [
      ["GET", config("gone", "s")],
      ["DELETE", config("gone", "s")],
      ["PUT", configs, { tenant: "gone", name: "s" }],
      ["GET", view],
      ["PATCH", view, { items: [{ kind: "tool", name: "gone_s", enabled: false }] }],
      ["GET", `${view}/revisions`],
      ["GET", `${view}/revisions/${digest}`],
      ["GET", `${view}/diff?from=${digest}`],
    ] as const) {
      const answer = await gone.send(method, path, sent);
      expect([method, path, answer.status, answer.body.error.code]).toEqual([
        method,
        path,
        404,
        "ErrorMCPServerNotFound",
      ]);
    }
    const { items } = (await gone.send("GET", configs)).body.data;
    expect(items.map(({ name }: { name: string }) => name)).not.toContain("s");
  });

  it("takes the manifest out of KV, and leaves a tombstone for the head", async () => {
    const { digest } = (await gone.publish("kv", tools("gone_kv"))).body.data;
    await drained("gone");
    expect(await env.REGISTRY.get(bodyKey("gone", "kv", digest))).not.toBeNull();
    await gone.remove("kv");
    await drained("gone");
    expect(await env.REGISTRY.get(bodyKey("gone", "kv", digest))).toBeNull();
    expect(await env.REGISTRY.get(headKey("gone", "kv"), "json")).toMatchObject({ deleted: true });
  });

  it("leaves a server that published the same manifest whole", async () => {
    const { digest } = (await gone.publish("twin-a", tools("gone_twin"))).body.data;
    await gone.publish("twin-b", tools("gone_twin"));
    await drained("gone");
    await gone.remove("twin-a");
    await drained("gone");
    expect(await env.REGISTRY.get(bodyKey("gone", "twin-a", digest))).toBeNull();
    expect(await env.REGISTRY.get(bodyKey("gone", "twin-b", digest))).not.toBeNull();
    const mine = await token({ tenants: ["gone"] });
    for (const isolate of [registry, new Registry()]) {
      const { status, body } = await isolate.send("GET", capabilities("gone", "twin-b"), { token: mine });
      expect([status, body.data.tools.length]).toEqual([200, 1]);
    }
  });

  it("does nothing when If-Match does not", async () => {
    await gone.post({ name: "kept" });
    const refused = await gone.remove("kept", { "If-Match": '"sha256-0"' });
    expect([refused.status, refused.body.error.code]).toEqual([412, "ErrorPreconditionFailed"]);
    const etag = (await gone.get("kept")).headers.get("ETag") ?? "";
    expect((await gone.remove("kept", { "If-Match": etag })).status).toBe(200);
  });

  it("lets the name be registered again, empty", async () => {
    const old = (await gone.publish("again", tools("gone_again"))).body.data;
    await gone.put({ name: "again", visibility: "public", title: "Old" });
    await gone.send("PATCH", capabilities("gone", "again"), {
      items: [{ kind: "tool", name: "gone_again", enabled: false }],
    });
    const etag = (await gone.get("again")).headers.get("ETag");
    await gone.remove("again");

    expect((await gone.post({ name: "again" })).status).toBe(201);
    const { body, headers } = await gone.get("again");
    expect(headers.get("ETag")).not.toBe(etag);
    expect(body.data).toMatchObject({ visibility: "tenant", registry: { disabled: [], flags: [] } });
    expect([body.data.title, body.data.registry.digest, body.data.registry.counts]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect((await gone.capabilities("again")).body.data.tools).toEqual([]);
    expect((await gone.send("GET", `${capabilities("gone", "again")}/revisions`)).body.data.items).toEqual([]);
    expect((await gone.send("GET", `${capabilities("gone", "again")}/revisions/${old.digest}`)).status).toBe(404);

    // The same manifest as before: its body was dropped with the old server and must be there again.
    const back = await gone.publish("again", tools("gone_again"));
    expect([back.body.data.digest, (await gone.capabilities("again")).body.data.tools.length]).toEqual([old.digest, 1]);
    await drained("gone");
    expect(await env.REGISTRY.get(bodyKey("gone", "again", old.digest))).not.toBeNull();
  });

  it("lets the name be published again, to the tenant alone", async () => {
    await gone.post({ name: "republished", visibility: "public" });
    await gone.remove("republished");
    expect((await gone.publish("republished", tools("gone_republished"))).status).toBe(201);
    expect((await gone.get("republished")).body.data.visibility).toBe("tenant");
  });
});

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
    expect(found.length).toBeGreaterThan(5);
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
    expect([status, body.error]).toEqual([
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
    ["one given twice", "?limit=1&limit=2", "limit is given 2 times"],
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

describe("what a path takes", () => {
  it.each([
    ["DELETE", configs, "GET, HEAD, POST, PUT"],
    ["PATCH", config("make", "one"), "GET, HEAD, DELETE"],
  ])("%s %s is 405 with the methods it takes", async (method, path, allow) => {
    const { status, headers } = await registry.send(method, path, { token: await token({ tenants: ["make"] }) });
    expect([status, headers.get("Allow")]).toEqual([405, allow]);
  });
});
