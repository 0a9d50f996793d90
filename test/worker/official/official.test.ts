import { SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { ServerJson } from "../../../src/official/schema.ts";
import {
  type Answer,
  capabilities,
  config,
  configs,
  drained,
  Registry,
  secret,
  token,
  tools,
} from "../support/registry.ts";

const registry = new Registry({ vars: { READ_LIMIT: "100000/100000" } });
const official = "io.modelcontextprotocol.registry/official";
const ours = "dev.rollcall/registry";
const publisher = "io.modelcontextprotocol.registry/publisher-provided";

let admin: string;
beforeAll(async () => {
  admin = await token({ admin: true, tenants: [] });
});

const json = (name: string, change: object = {}) => ({
  name,
  description: "Does things.",
  version: "1.0.0",
  ...change,
});
const publish = (document: unknown, who = admin) =>
  registry.send("POST", "/v0.1/publish", { token: who, body: document });
const published = async (name: string, change: object = {}) => {
  const answer = await publish(json(name, change));
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
  return answer.body;
};
const path = (name: string, version?: string) =>
  `/v0.1/servers/${encodeURIComponent(name)}/versions${version === undefined ? "" : `/${encodeURIComponent(version)}`}`;
const get = (where: string) => registry.send("GET", where);
const list = (query: string) => get(`/v0.1/servers?${query}`);
const status = (name: string, version: string | "all", body: unknown, who = admin) =>
  registry.send(
    "PATCH",
    version === "all" ? `/v0.1/servers/${encodeURIComponent(name)}/status` : `${path(name, version)}/status`,
    { token: who, body },
  );
// biome-ignore lint/suspicious/noExplicitAny: whatever the answer holds
const named = (answer: Answer) => answer.body.servers.map(({ server }: any) => `${server.name} ${server.version}`);

/** A failure is a problem document that says everything twice, for both kinds of clients. */
function expectProblem(answer: Answer, wanted: number, code: string, words: RegExp = /./): void {
  expect([answer.status, answer.body?.code, answer.headers.get("Content-Type")]).toEqual([
    wanted,
    code,
    "application/problem+json; charset=utf-8",
  ]);
  const { title, detail, errors, error } = answer.body;
  expect([answer.body.status, typeof title, error]).toEqual([wanted, "string", detail]);
  expect(detail).toMatch(words);
  expect(errors.length).toBeGreaterThan(0);
  for (const { message } of errors) expect(message).toMatch(/./);
}

describe("publishing a server.json", () => {
  const whole = json("io.github.whole/Server_1.x", {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    title: "Whole",
    websiteUrl: "https://whole.test/",
    repository: { url: "https://github.com/whole/server", source: "github", id: "7", subfolder: "src/a" },
    icons: [{ src: "https://whole.test/i.png", sizes: ["48x48"], theme: "dark" }],
    packages: [{ registryType: "npm", identifier: "@w/s", version: "1.0.0", transport: { type: "stdio" }, "x-own": 1 }],
    remotes: [{ type: "sse", url: "https://{r}.whole.test/sse", variables: { r: { isRequired: true } } }],
    _meta: { [publisher]: { tool: "t", n: 1.5 }, [official]: { status: "deleted" }, "com.example": {} },
    "x-unknown": { kept: [null, true] },
  });
  const kept = { ...whole, _meta: { [publisher]: { tool: "t", n: 1.5 } } };

  it("gives it back as it was, with what the registry knows beside it", async () => {
    const answer = await publish(whole);
    expect(answer.status).toBe(200);
    const { server, _meta } = answer.body;
    expect(JSON.stringify(server)).toBe(JSON.stringify(kept));
    const { publishedAt } = _meta[official];
    expect(_meta[official]).toEqual({
      status: "active",
      statusChangedAt: publishedAt,
      publishedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      updatedAt: publishedAt,
      isLatest: true,
    });
    for (const version of ["1.0.0", "latest"]) {
      const read = await get(path(whole.name, version));
      expect([read.status, read.body.server, read.body._meta[official]]).toEqual([200, kept, _meta[official]]);
      expect(Object.keys(read.body._meta)).toEqual([official, ours]);
    }
  });

  it("makes a public server of ours, with the fields in its manifest", async () => {
    const member = await token({ tenants: ["io.github.whole"] });
    const settings = await registry.send("GET", config("io.github.whole", "Server_1.x"), { token: member });
    expect(settings.body.data).toMatchObject({ visibility: "public", tenant: "io.github.whole" });
    const { body } = await registry.send("GET", capabilities("io.github.whole", "Server_1.x"), { token: admin });
    const { $schema: _, name: __, ...fields } = kept as Record<string, unknown>;
    expect(body.data).toMatchObject(fields);
    const everyones = await registry.send("GET", `${configs}?visibility=public&limit=100`, { token: member });
    expect(everyones.body.data.items).toContainEqual(
      expect.objectContaining({ tenant: "io.github.whole", name: "Server_1.x", title: "Whole", version: "1.0.0" }),
    );
  });

  it("takes what can be read of its remotes as sources", async () => {
    const remotes = [
      { type: "streamable-http", url: "https://sourced.test/mcp" },
      { type: "sse", url: "https://keyed.test/sse", headers: [{ name: "X-Key", isSecret: true }] },
    ];
    await published("io.github.sourced/s", { remotes });
    const { body } = await registry.send("GET", config("io.github.sourced", "s"), { token: admin });
    // The first has a name that leads inside, the second wants a key: neither is asked.
    expect(body.data.sources).toBeUndefined();
  });

  it("reads the first of two sources that get one name because a source before them goes", async () => {
    const source = (path: string, id?: string) => ({ id, type: "sse", url: `https://moved.test/${path}` });
    const sources = [source("gone", "remote-1"), source("second"), source("third", "source-1")];
    const body = { tenant: "moved", name: "s", visibility: "public", sources };
    expect((await registry.send("POST", configs, { token: admin, body })).status).toBe(201);
    await published("moved/s");
    const settings = (await registry.send("GET", config("moved", "s"), { token: admin })).body.data;
    expect(settings.sources).toMatchObject([{ url: "https://moved.test/second" }, { url: "https://moved.test/third" }]);
    expect(settings.registry.sources).toMatchObject([{ id: "source-1" }]);
  });

  it("keeps what the server can do, and what else its settings say", async () => {
    const body = { tenant: "kept", name: "s", visibility: "public", policy: { sameVersion: "refuse" }, title: "Mine" };
    await registry.send("POST", configs, { token: admin, body });
    await registry.send("PUT", capabilities("kept", "s"), {
      token: admin,
      body: { ...tools("kept_t"), version: "0.1.0", features: { a: true } },
    });
    await published("kept/s", { version: "1.0.0", title: "Theirs" });
    const read = await registry.send("GET", capabilities("kept", "s"), { token: admin });
    expect(read.body.data).toMatchObject({ version: "1.0.0", title: "Theirs", features: { a: true } });
    expect(read.body.data.tools.map(({ name }: { name: string }) => name)).toEqual(["kept_t"]);
    expect(read.body.data.flags).toBeUndefined();
    const settings = await registry.send("GET", config("kept", "s"), { token: admin });
    expect(settings.body.data).toMatchObject({ title: "Mine", policy: { sameVersion: "refuse" } });
    const latest = await get(path("kept/s", "latest"));
    expect(latest.body._meta[ours]).toEqual({
      digest: read.body.data.digest,
      generation: expect.any(Number),
      counts: { tool: 1 },
      tokens: expect.any(Number),
      capabilities: "https://registry.test/api/mcp/capabilities/kept/s",
    });
  });

  it("is one change of the tenant, whichever version it is", async () => {
    for (const [version, expected] of [
      ["1.0.0", 1],
      ["2.0.0", 2],
      ["1.5.0", 3],
    ] as const) {
      await published("counted/s", { version });
      const { body } = await registry.send("GET", "/api/changes/counted?limit=100", { token: admin });
      expect(new Set(body.data.items.map(({ generation }: { generation: number }) => generation)).size).toBe(expected);
      expect(body.data.generation).toBe(expected);
    }
    const { body } = await registry.send("GET", capabilities("counted", "s"), { token: admin });
    expect(body.data.version).toBe("2.0.0");
  });

  it.each<[string, unknown, number, string, RegExp]>([
    ["a name without a slash", json("nothing"), 422, "ErrorServerJsonInvalid", /\/name/],
    ["a name that is no tenant's", json("Io.Github/x"), 422, "ErrorServerJsonInvalid", /tenant/],
    [
      "too long a description",
      json("bad/s", { description: "x".repeat(101) }),
      422,
      "ErrorServerJsonInvalid",
      /\/description/,
    ],
    ["a version range", json("bad/s", { version: "^1.0.0" }), 422, "ErrorServerJsonInvalid", /\/version/],
    ["the version latest", json("bad/s", { version: "latest" }), 422, "ErrorServerJsonInvalid", /\/version/],
    ["a blank entry", { name: "", description: "", version: "" }, 422, "ErrorServerJsonInvalid", /\/name/],
    ["a list", [], 422, "ErrorServerJsonInvalid", /./],
    ["null", "null", 422, "ErrorServerJsonInvalid", /./],
    ["no JSON", "{", 400, "ErrorInvalidBody", /JSON/],
    [
      "a key twice",
      '{"name":"bad/s","name":"bad/t","description":"d","version":"1"}',
      422,
      "ErrorServerJsonInvalid",
      /name/,
    ],
    ["nothing", "", 400, "ErrorInvalidBody", /JSON/],
    ["more than fits", json("bad/s", { "x-big": "x".repeat(70_000) }), 413, "ErrorTooLarge", /65536/],
    ["an invisible character", json("bad/s", { title: "a\u202eb" }), 422, "ErrorServerJsonInvalid", /\/title/],
  ])("refuses %s", async (_, body, wanted, code, words) => {
    expectProblem(await publish(body), wanted, code, words);
    expect((await get(path("bad/s"))).status).toBe(404);
  });

  it("names every fault where it is", async () => {
    const { body } = await publish(json("bad/s", { description: "", packages: [{ version: "latest" }] }));
    const locations = body.errors.map(({ location }: { location: string }) => location);
    expect(locations).toEqual(expect.arrayContaining(["description", "packages[0].version", "packages[0].identifier"]));
  });

  it("wants a token, for this registry, with the scope, that holds the tenant", async () => {
    const challenge = (answer: Answer) => answer.headers.get("WWW-Authenticate") ?? "";
    const nobody = await registry.send("POST", "/v0.1/publish", { body: json("auth/s") });
    expectProblem(nobody, 401, "ErrorUnauthorized");
    const metadata = 'Bearer resource_metadata="https://registry.test/.well-known/oauth-protected-resource"';
    expect(challenge(nobody)).toBe(`${metadata}, scope="registry:publish"`);
    const elsewhere = await new SignJWT({ scope: "registry:read registry:publish", tenants: ["auth"] })
      .setProtectedHeader({ alg: "HS256", typ: "JWT" })
      .setSubject("tester")
      .setIssuer("rollcall")
      .setAudience("https://another.example")
      .setExpirationTime("1h")
      .sign(secret);
    for (const answer of [
      await publish(json("auth/s"), elsewhere),
      await registry.send("GET", "/v0.1/servers", { token: elsewhere }),
      await registry.send("GET", "/v0.1/servers", { token: "nonsense" }),
    ]) {
      expectProblem(answer, 401, "ErrorUnauthorized");
      expect(challenge(answer)).toContain('error="invalid_token"');
    }
    const reader = await publish(json("auth/s"), await token({ tenants: ["auth"], scope: "registry:read" }));
    expectProblem(reader, 403, "ErrorInsufficientScope");
    expect(challenge(reader)).toContain('error="insufficient_scope", scope="registry:publish"');
    const outsider = await token({ tenants: ["other"] });
    expectProblem(await publish(json("auth/s"), outsider), 403, "ErrorTenantPermissionError");
    // Before anything else about the document, so that nobody learns of another's versions.
    expectProblem(await publish(json("auth/s", { version: "latest" }), outsider), 403, "ErrorTenantPermissionError");
    expectProblem(await status("whole/s", "all", { status: "deleted" }, outsider), 403, "ErrorTenantPermissionError");
    expect((await publish(json("auth/s"), await token({ tenants: ["auth"] }))).status).toBe(200);
  });

  it("does not make public what is not", async () => {
    await registry.send("POST", configs, { token: admin, body: { tenant: "hidden", name: "s" } });
    expectProblem(await publish(json("hidden/s")), 409, "ErrorServerPrivate", /not public/);
    expect((await get(path("hidden/s"))).status).toBe(404);
  });
});

describe("versions", () => {
  const name = "io.github.many/s";
  beforeAll(async () => {
    for (const version of ["1.9.0", "1.10.0", "1.2.0", "2.0.0-rc.1", "snapshot"]) await published(name, { version });
  });
  const latest = async (server: string) => {
    const { body } = await get(path(server));
    return body.servers
      .filter((item: Record<string, Record<string, Record<string, unknown>>>) => item._meta?.[official]?.isLatest)
      .map(({ server: { version } }: { server: { version: string } }) => version);
  };

  it("are listed with the newest first, one of them the latest", async () => {
    const answer = await get(path(name));
    expect(answer.status).toBe(200);
    expect(named(answer)).toEqual(
      ["snapshot", "2.0.0-rc.1", "1.2.0", "1.10.0", "1.9.0"].map((version) => `${name} ${version}`),
    );
    expect(answer.body.metadata).toEqual({ count: 5 });
    expect(await latest(name)).toEqual(["2.0.0-rc.1"]);
    expect((await get(path(name, "latest"))).body.server.version).toBe("2.0.0-rc.1");
  });

  it("never change", async () => {
    expectProblem(
      await publish(json(name, { version: "1.9.0", description: "Another." })),
      400,
      "ErrorVersionExists",
      /1\.9\.0/,
    );
    expectProblem(await publish(json(name, { version: "1.9.0" })), 400, "ErrorVersionExists");
    expect((await get(path(name, "1.9.0"))).body.server).toEqual(json(name, { version: "1.9.0" }));
    for (const method of ["PUT", "DELETE"]) {
      const body = method === "PUT" ? { body: json(name, { version: "1.9.0" }) } : {};
      expectProblem(
        await registry.send(method, path(name, "1.9.0"), { token: admin, ...body }),
        501,
        "ErrorNotImplemented",
      );
    }
  });

  it("are published once, by whoever is first", async () => {
    const twice = await Promise.all(
      Array.from({ length: 8 }, (_, at) => publish(json("raced/s", { title: `T${at}` }))),
    );
    expect(twice.map((answer) => answer.status).sort()).toEqual([200, ...Array(7).fill(400)]);
    const winner = twice.find((answer) => answer.status === 200)?.body.server;
    expect((await get(path("raced/s", "1.0.0"))).body.server).toEqual(winner);
  });

  it("with odd characters are found by their encoded number", async () => {
    for (const version of ["1.0.0+20130313144700", "release/7ü"]) {
      await published("odd/s", { version });
      expect((await get(path("odd/s", version))).body.server.version).toBe(version);
    }
  });

  it.each([
    ["a server that there is not", path("io.github.many/none")],
    ["a version that there is not", path(name, "9.9.9")],
    ["a name without a slash", "/v0.1/servers/nothing/versions"],
    ["a name with broken encoding", "/v0.1/servers/%zz%2Fs/versions/latest"],
    ["nothing at all", "/v0.1/nothing"],
    ["the root", "/v0.1"],
  ])("404 for %s", async (_, where) => {
    const answer = await get(where);
    expect([answer.status, answer.body.status, typeof answer.body.error]).toEqual([404, 404, "string"]);
  });
});

describe("the status of a version", () => {
  it("moves, says why, and takes the latest and the server along", async () => {
    for (const version of ["1.0.0", "2.0.0"]) await published("life/s", { version, title: `V${version}` });
    const before = (await get(path("life/s", "2.0.0"))).body._meta[official];
    const deprecated = await status("life/s", "2.0.0", { status: "deprecated", statusMessage: "Use 3." });
    expect(deprecated.status).toBe(200);
    expect(deprecated.body._meta[official]).toMatchObject({
      status: "deprecated",
      statusMessage: "Use 3.",
      isLatest: true,
      publishedAt: before.publishedAt,
    });
    expect((await registry.send("GET", config("life", "s"), { token: admin })).body.data.status).toBe("deprecated");

    await status("life/s", "2.0.0", { status: "deleted" });
    expect((await get(path("life/s", "2.0.0"))).status).toBe(404);
    expect((await get(`${path("life/s", "2.0.0")}?include_deleted=true`)).body._meta[official].status).toBe("deleted");
    expect((await get(path("life/s", "latest"))).body.server.version).toBe("1.0.0");
    expect(named(await get(path("life/s")))).toEqual(["life/s 1.0.0"]);
    const manifest = async () => (await registry.send("GET", capabilities("life", "s"), { token: admin })).body.data;
    expect(await manifest()).toMatchObject({ version: "1.0.0", title: "V1.0.0", status: "active" });

    const active = await status("life/s", "2.0.0", { status: "active" });
    expect(active.body._meta[official]).not.toHaveProperty("statusMessage");
    expect(await manifest()).toMatchObject({ version: "2.0.0", title: "V2.0.0" });
  });

  it("of all is set at once, and a server whose versions are gone is gone until one is back", async () => {
    await registry.send("POST", configs, { token: admin, body: { tenant: "bulk", name: "s", visibility: "public" } });
    await registry.send("PUT", capabilities("bulk", "s"), { token: admin, body: tools("bulk_t") });
    for (const version of ["1.0.0", "1.1.0", "1.2.0"]) await published("bulk/s", { version });
    await status("bulk/s", "1.1.0", { status: "deprecated" });
    const gone = await status("bulk/s", "all", { status: "deleted", statusMessage: "Moved." });
    expect([gone.status, gone.body.updatedCount, gone.body.servers.length]).toEqual([200, 3, 3]);
    for (const { _meta } of gone.body.servers)
      expect(_meta[official]).toMatchObject({ status: "deleted", statusMessage: "Moved." });
    expect((await get(path("bulk/s"))).status).toBe(404);
    expect(named(await get(`${path("bulk/s")}?include_deleted=true`))).toHaveLength(3);
    expect((await registry.send("GET", capabilities("bulk", "s"), { token: admin })).status).toBe(404);
    expectProblem(await publish(json("bulk/s", { version: "1.2.0" })), 400, "ErrorVersionExists");
    const back = await status("bulk/s", "all", { status: "active" });
    expect(back.body.updatedCount).toBe(3);
    const { body } = await registry.send("GET", capabilities("bulk", "s"), { token: admin });
    expect(body.data.tools.map(({ name }: { name: string }) => name)).toEqual(["bulk_t"]);
    expect((await get(path("bulk/s", "latest"))).body._meta).toMatchObject({
      [official]: { isLatest: true },
      [ours]: { counts: { tool: 1 } },
    });
  });

  it.each<[string, unknown, RegExp]>([
    ["a message with active", { status: "active", statusMessage: "why" }, /statusMessage/],
    ["no change", { status: "active" }, /No changes/],
    ["a status that there is not", { status: "gone" }, /status/],
    ["no status", {}, /status/],
    ["too long a message", { status: "deprecated", statusMessage: "x".repeat(501) }, /statusMessage/],
    ["a key that there is not", { status: "deprecated", reason: "x" }, /reason/],
    ["no object", [], /./],
  ])("is not changed by %s", async (_, body, words) => {
    if ((await get(path("still/s"))).status === 404) await published("still/s");
    for (const which of ["1.0.0", "all"]) {
      const answer = await status("still/s", which, body);
      expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(words)]);
    }
    expect((await get(path("still/s", "1.0.0"))).body._meta[official].status).toBe("active");
  });

  it("is that of something that is there", async () => {
    expectProblem(await status("life/none", "all", { status: "deleted" }), 404, "ErrorVersionNotFound");
    expectProblem(await status("life/s", "9.0.0", { status: "deleted" }), 404, "ErrorVersionNotFound");
  });
});

describe("the list of servers", () => {
  beforeAll(async () => {
    await published("lists.a/sure", { description: "Über 100%_sure, with a back\\slash." });
    await published("lists.a/unsure", { description: "100xysure." });
    for (const version of ["1.0.0", "1.1.0"])
      await published("lists.b/two", { version, description: "LISTS of things." });
    await published("lists.c/gone");
    await status("lists.c/gone", "1.0.0", { status: "deleted" });
  });

  it.each([
    ["search=lists.", ["lists.a/sure 1.0.0", "lists.a/unsure 1.0.0", "lists.b/two 1.0.0", "lists.b/two 1.1.0"]],
    ["search=LISTS.A", ["lists.a/sure 1.0.0", "lists.a/unsure 1.0.0"]],
    ["search=0%25_s", ["lists.a/sure 1.0.0"]],
    ["search=k%5Cs", ["lists.a/sure 1.0.0"]],
    ["search=%C3%BCBER", ["lists.a/sure 1.0.0"]],
    ["search=of+things", ["lists.b/two 1.0.0", "lists.b/two 1.1.0"]],
    ["search=lists.&version=latest", ["lists.a/sure 1.0.0", "lists.a/unsure 1.0.0", "lists.b/two 1.1.0"]],
    ["search=lists.b&version=1.0.0", ["lists.b/two 1.0.0"]],
    ["search=lists.c", []],
    ["search=lists.c&include_deleted=true", ["lists.c/gone 1.0.0"]],
    ["search=lists.c&include_deleted=false", []],
    ["search=lists.c&updated_since=2020-01-01T00:00:00Z", ["lists.c/gone 1.0.0"]],
    ["search=lists.c&updated_since=2020-01-01T00:00:00Z&include_deleted=true", ["lists.c/gone 1.0.0"]],
    ["search=lists.&updated_since=2199-01-01T00:00:00%2B02:00", []],
  ])("%s", async (query, expected) => {
    const answer = await list(query);
    expect([answer.status, named(answer)]).toEqual([200, expected]);
    expect(answer.body.metadata).toEqual({ count: expected.length });
  });

  it("is strictly newer than updated_since", async () => {
    const { updatedAt } = (await get(path("lists.b/two", "1.1.0"))).body._meta[official];
    const since = (time: string) => list(`search=lists.b/two&version=1.1.0&updated_since=${time}`);
    expect(named(await since(updatedAt))).toEqual([]);
    const before = new Date(Date.parse(updatedAt) - 1).toISOString();
    expect(named(await since(before))).toEqual(["lists.b/two 1.1.0"]);
  });

  it.each([
    ["q=weather", /"q"/],
    ["limit=0", /limit/],
    ["limit=101", /limit/],
    ["limit=ten", /limit/],
    ["limit=10&limit=20", /2 times/],
    ["cursor=nonsense", /cursor/],
    ["cursor=io.github.acme%2Fweather:1.0.0", /cursor/],
    ["updated_since=yesterday", /updated_since/],
    ["updated_since=2025-01-01", /updated_since/],
    ["updated_since=2025-13-01T00:00:00Z", /updated_since/],
    ["updated_since=2025-01-01T00:00:00Z&include_deleted=false", /include_deleted/],
    ["include_deleted=maybe", /include_deleted/],
    [`search=${"x".repeat(1_001)}`, /search/],
  ])("%s is refused", async (query, words) => {
    const answer = await list(query);
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(words)]);
    expect(answer.body.error).toBe(answer.body.detail);
  });

  it("takes a cursor only for the list that it is of", async () => {
    const { body } = await list("search=lists.&limit=1");
    const cursor = encodeURIComponent(body.metadata.nextCursor);
    expect((await list(`search=lists.&limit=2&cursor=${cursor}`)).status).toBe(200);
    for (const query of [
      `cursor=${cursor}`,
      `search=lists&cursor=${cursor}`,
      `search=lists.&version=latest&cursor=${cursor}`,
    ]) {
      expectProblem(await list(query), 400, "ErrorCursorInvalid");
    }
    const [payload, signature] = body.metadata.nextCursor.split(".");
    expectProblem(await list(`search=lists.&cursor=${payload.slice(0, -2)}AA.${signature}`), 400, "ErrorCursorInvalid");
  });

  it("goes page by page, and says where it goes on in a link too", async () => {
    const seen: string[] = [];
    let next: string | undefined = "/v0.1/servers?search=lists.&limit=1";
    while (next !== undefined) {
      const answer: Answer = await get(next);
      seen.push(...named(answer));
      next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get("Link") ?? "")?.[1];
      expect(next === undefined).toBe(answer.body.metadata.nextCursor === undefined);
    }
    expect(seen).toEqual(["lists.a/sure 1.0.0", "lists.a/unsure 1.0.0", "lists.b/two 1.0.0", "lists.b/two 1.1.0"]);
  });

  it("shows what existed throughout exactly once, whatever is written meanwhile", async () => {
    const before = Array.from({ length: 9 }, (_, at) => `moving/s${at}`);
    for (const name of before) await published(name);
    for (const filter of ["search=moving/", "search=moving/&version=latest"]) {
      const seen: string[] = [];
      let cursor: string | undefined = "";
      for (let step = 0; cursor !== undefined; step += 1) {
        const answer: Answer = await list(`${filter}&limit=2&cursor=${encodeURIComponent(cursor)}`);
        seen.push(...named(answer).map((text: string) => text.split(" ")[0]));
        cursor = answer.body.metadata.nextCursor;
        await published(`moving/s${step}${filter.length}-new`);
        // The latest of the server at which the page ended moves on.
        if (filter.includes("latest")) await published(seen.at(-1) ?? "", { version: `1.0.${step + 1}` });
        else await status(`moving/s${step % 3}`, "all", { status: "deprecated", statusMessage: `${step}` });
      }
      for (const name of before)
        expect([filter, name, seen.filter((other) => other === name).length]).toEqual([filter, name, 1]);
    }
  });

  it("is the same under /v0, for VS Code and for everyone", async () => {
    for (const query of ["limit=1", "limit=50&version=latest"]) {
      const [one, two] = [await get(`/v0.1/servers?${query}`), await get(`/v0/servers?${query}`)];
      expect([two.status, two.body.servers]).toEqual([200, one.body.servers]);
    }
    const preflight = await registry.send("OPTIONS", "/v0.1/publish", {
      headers: { Origin: "https://app.example", "Access-Control-Request-Method": "POST" },
    });
    expect([preflight.status, preflight.text, preflight.headers.get("Access-Control-Allow-Origin")]).toEqual([
      204,
      "",
      "*",
    ]);
    expect(preflight.headers.get("Access-Control-Allow-Methods")).toContain("PATCH");
    expect((await list("limit=1")).headers.get("Access-Control-Allow-Origin")).toBe("*");
  });
});

describe("a remote", () => {
  const remote = (url: string) => ({ remotes: [{ type: "sse", url }] });

  it("belongs to one server, in all tenants and every spelling, until its versions are gone", async () => {
    await published("owner/s", remote("https://owned.test/sse"));
    await published("owner/s", { ...remote("https://owned.test/sse"), version: "1.1.0" });
    for (const url of ["https://owned.test/sse", "https://OWNED.test:443/sse"]) {
      expectProblem(await publish(json("thief/s", remote(url))), 400, "ErrorRemoteTaken", /owner\/s/);
    }
    expect((await get(path("thief/s"))).status).toBe(404);
    await published("thief/s", remote("https://owned.test/other"));
    await status("owner/s", "1.0.0", { status: "deleted" });
    expectProblem(await publish(json("thief/t", remote("https://owned.test/sse"))), 400, "ErrorRemoteTaken");
    await status("owner/s", "all", { status: "deleted" });
    await drained("owner");
    await published("thief/t", remote("https://owned.test/sse"));
    expectProblem(await status("owner/s", "all", { status: "active" }), 400, "ErrorRemoteTaken", /thief\/t/);
    expect((await get(path("owner/s"))).status).toBe(404);
  });

  it("is given to one of those who want it at once", async () => {
    const all = await Promise.all(
      Array.from({ length: 6 }, (_, at) => publish(json(`race${at}/s`, remote("https://wanted.test/sse")))),
    );
    expect(all.map((answer) => answer.status).sort()).toEqual([200, 400, 400, 400, 400, 400]);
  });

  it("on the reader's own machine is nobody's", async () => {
    for (const name of ["local.a/s", "local.b/s"]) await published(name, remote("http://localhost:8000/sse"));
  });
});

describe("a server that was registered here", () => {
  const register = (name: string, change: object = {}) =>
    registry.send("POST", configs, { token: admin, body: { tenant: "reg", name, visibility: "public", ...change } });
  const read = (name: string, query = "") => get(`${path(`reg/${name}`, "latest")}${query}`);

  it("shows there, valid, with our data in its own key", async () => {
    const sources = [{ type: "stdio" }, { type: "sse", url: "https://reg.test/sse", credential: { secret: "k" } }];
    await register("full", { description: "D".repeat(300), sources });
    const manifest = { ...tools("reg_t"), version: "4.5.6", websiteUrl: "https://reg.test/", title: "Full" };
    await registry.send("PUT", capabilities("reg", "full"), { token: admin, body: manifest });
    const { status: found, body } = await read("full");
    expect(found).toBe(200);
    expect(ServerJson.safeParse(body.server).success).toBe(true);
    expect(body.server).toMatchObject({
      name: "reg/full",
      version: "4.5.6",
      title: "Full",
      websiteUrl: "https://reg.test/",
    });
    expect(body.server).not.toHaveProperty("remotes");
    expect(Array.from(body.server.description)).toHaveLength(100);
    expect(Object.keys(body._meta[official]).sort()).toEqual([
      "isLatest",
      "publishedAt",
      "status",
      "statusChangedAt",
      "updatedAt",
    ]);
    expect(body._meta[ours]).toMatchObject({ counts: { tool: 1 }, digest: expect.stringMatching(/^sha256-/) });
  });

  it("follows what is published, and has one version", async () => {
    await register("moves");
    expect((await read("moves")).body.server.version).toBe("0.0.0");
    for (const version of ["1.0.0", "0.5.0"]) {
      await registry.send("PUT", capabilities("reg", "moves"), {
        token: admin,
        body: { ...tools("moves_t"), version },
      });
      expect(named(await get(path("reg/moves")))).toEqual([`reg/moves ${version}`]);
    }
    expectProblem(await status("reg/moves", "0.5.0", { status: "deleted" }), 409, "ErrorVersionDerived", /settings/);
  });

  it("gives way to what is published as server.json", async () => {
    await register("both");
    await registry.send("PUT", capabilities("reg", "both"), {
      token: admin,
      body: { ...tools("both_t"), version: "9.0.0" },
    });
    await published("reg/both", { version: "1.0.0" });
    expect(named(await get(path("reg/both")))).toEqual(["reg/both 1.0.0"]);
  });

  it("is there while it is public, and told of as deleted once it is", async () => {
    await register("leaves", { description: "Leaves." });
    const settings = { tenant: "reg", name: "leaves", description: "Leaves." };
    await registry.send("PUT", configs, { token: admin, body: settings });
    for (const query of ["", "?include_deleted=true"]) expect((await read("leaves", query)).status).toBe(404);
    await registry.send("PUT", configs, { token: admin, body: { ...settings, visibility: "public" } });
    expect((await read("leaves")).status).toBe(200);
    await registry.send("DELETE", config("reg", "leaves"), { token: admin });
    expect((await read("leaves")).status).toBe(404);
    const gone = await list("search=reg/leaves&updated_since=2020-01-01T00:00:00Z");
    expect(gone.body.servers[0]._meta).toEqual({ [official]: expect.objectContaining({ status: "deleted" }) });
  });

  it("takes its published versions along when it is deleted, and their numbers stay taken", async () => {
    await published("reg/ended");
    await registry.send("DELETE", config("reg", "ended"), { token: admin });
    expect((await get(path("reg/ended"))).status).toBe(404);
    expect((await get(`${path("reg/ended")}?include_deleted=true`)).body.servers[0]._meta[official].status).toBe(
      "deleted",
    );
    expectProblem(await publish(json("reg/ended")), 400, "ErrorVersionExists");
    await published("reg/ended", { version: "1.0.1" });
    expect(named(await get(path("reg/ended")))).toEqual(["reg/ended 1.0.1"]);
  });

  it("hides its published versions with itself, and shows them with itself again", async () => {
    await published("reg/shy");
    const settings = (await registry.send("GET", config("reg", "shy"), { token: admin })).body.data;
    await registry.send("PUT", configs, { token: admin, body: { ...settings, visibility: "tenant" } });
    expect((await get(`${path("reg/shy")}?include_deleted=true`)).status).toBe(404);
    // Nothing but its owner's word makes it public again.
    expectProblem(await status("reg/shy", "all", { status: "deprecated" }), 409, "ErrorServerPrivate");
    expectProblem(await publish(json("reg/shy", { version: "2.0.0" })), 409, "ErrorServerPrivate");
    expect((await get(`${path("reg/shy")}?include_deleted=true`)).status).toBe(404);
    await registry.send("PUT", configs, { token: admin, body: { ...settings, visibility: "public" } });
    expect(named(await get(path("reg/shy")))).toEqual(["reg/shy 1.0.0"]);
  });
});

describe("validating", () => {
  const validate = (body: unknown) => registry.send("POST", "/v0.1/validate", { body });

  it("says whether a document could be published, to anyone", async () => {
    expect((await validate(json("any/s"))).body).toEqual({ valid: true, issues: [] });
    const { status: answered, body } = await validate(
      json("any/s", { version: "^1.0.0", packages: [{ version: "latest" }] }),
    );
    expect([answered, body.valid]).toEqual([200, false]);
    expect(body.issues).toContainEqual({
      type: "semantic",
      path: "version",
      message: expect.stringMatching(/^"\^1\.0\.0" must be one version/),
      severity: "error",
      reference: "custom",
    });
    expect(body.issues.map((issue: { path: string }) => issue.path)).toContain("packages[0].identifier");
    expect((await validate({})).body.issues.map((issue: { path: string }) => issue.path)).toEqual([
      "name",
      "description",
      "version",
    ]);
  });

  it("needs something to read", async () => {
    expectProblem(await validate("{"), 400, "ErrorInvalidBody");
    expectProblem(await validate(`{"a":"${"x".repeat(70_000)}"}`), 413, "ErrorTooLarge");
  });
});

describe("the small ones", () => {
  it.each([
    ["ping", { pong: true }],
    ["health", { status: "ok" }],
    ["version", { version: expect.stringMatching(/^\d/), name: "rollcall" }],
  ])("%s answers", async (name, expected) => {
    for (const prefix of ["/v0.1", "/v0"]) expect((await get(`${prefix}/${name}`)).body).toEqual(expected);
    expectProblem(await get(`/v0.1/${name}?x=1`), 400, "ErrorBadRequest", /"x"/);
    expectProblem(await registry.send("DELETE", `/v0.1/${name}`), 405, "ErrorMethodNotAllowed");
  });
});

describe("discovery", () => {
  it("has a server card for everyone, with a tag", async () => {
    const answer = await new Registry({ vars: { CORS_ORIGINS: "https://one.example" } }).send(
      "GET",
      "/mcp/server-card",
    );
    expect(answer.status).toBe(200);
    const headers = ["Content-Type", "Access-Control-Allow-Origin", "Cache-Control"].map((name) =>
      answer.headers.get(name),
    );
    expect(headers).toEqual(["application/mcp-server-card+json", "*", "public, max-age=3600"]);
    const { $schema, name, version, description, remotes, ...rest } = answer.body;
    expect([$schema, name]).toEqual([
      expect.stringMatching(/^https:.*server-card\.schema\.json$/),
      "dev.rollcall/registry",
    ]);
    expect([version, description.length <= 100]).toEqual([expect.stringMatching(/^\d/), true]);
    const supportedProtocolVersions = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"];
    expect(remotes).toEqual([{ type: "streamable-http", url: "https://registry.test/mcp", supportedProtocolVersions }]);
    expect(Object.keys(rest)).toEqual(["title"]);
    const etag = answer.headers.get("ETag") ?? "";
    const again = await registry.send("GET", "/mcp/server-card", { headers: { "If-None-Match": etag } });
    expect([again.status, again.text, again.headers.get("ETag")]).toEqual([304, "", etag]);
  });

  it("leads from the root to the description, the health, the card and the way in", async () => {
    const { headers } = await registry.send("GET", "/");
    const links = Array.from((headers.get("Link") ?? "").matchAll(/<([^>]+)>; rel="([^"]+)"/g), (match) => [
      match[1],
      match[2],
    ]);
    expect(links.map(([, relation]) => relation)).toEqual(["service-desc", "status", "service-meta", "service-meta"]);
    for (const [link] of links) expect([link, (await get(String(link))).status]).toEqual([link, 200]);
    const { body } = await get("/.well-known/ai-catalog.json");
    expect(body).toEqual({
      specVersion: "1.0",
      entries: [
        {
          identifier: "urn:air:registry.test:mcp:rollcall",
          type: "application/mcp-server-card+json",
          url: "https://registry.test/mcp/server-card",
        },
      ],
    });
  });

  it("takes the public address wherever it names itself", async () => {
    const elsewhere = new Registry({
      vars: { PUBLIC_URL: "https://public.example/", AUTHORIZATION_SERVERS: "https://id.example, https://id2.example" },
    });
    const card = await elsewhere.send("GET", "/mcp/server-card");
    expect(card.body.remotes[0].url).toBe("https://public.example/mcp");
    const metadata = await elsewhere.send("GET", "/.well-known/oauth-protected-resource/mcp");
    expect(metadata.body).toEqual({
      resource: "https://public.example/mcp",
      resource_name: "rollcall",
      scopes_supported: ["registry:read", "registry:publish"],
      bearer_methods_supported: ["header"],
      authorization_servers: ["https://id.example", "https://id2.example"],
    });
    expect(() => new Registry({ vars: { AUTHORIZATION_SERVERS: "id.example" } })).toThrow(/AUTHORIZATION_SERVERS/);
  });

  it("tells crawlers what is theirs, and has no agent card, for there is no agent", async () => {
    const robots = await get("/robots.txt");
    expect(robots.headers.get("Content-Type")).toMatch(/^text\/plain/);
    expect(robots.text).toMatch(/^User-agent: \*\n(?:(?:Allow|Disallow): \/.*\n)+$/);
    for (const none of ["/.well-known/agent-card.json", "/.well-known/agent.json"])
      expect((await get(none)).status).toBe(404);
  });
});

describe("what a stranger tried", () => {
  const latest = async (name: string): Promise<string[]> => {
    const { body } = await list(`search=${encodeURIComponent(name)}&include_deleted=true`);
    const rows: { server: { version: string }; _meta: Record<string, { isLatest: boolean }> }[] = body.servers;
    return rows.filter(({ _meta }) => _meta[official]?.isLatest).map(({ server }) => server.version);
  };

  it("a version that is called all is one version", async () => {
    const name = "io.github.stranger/all";
    for (const version of ["1.0.0", "2.0.0"]) await published(name, { version });
    const change = (version: string) =>
      registry.send("PATCH", `${path(name, version)}/status`, { token: admin, body: { status: "deprecated" } });
    expectProblem(await change("all"), 404, "ErrorVersionNotFound");
    await published(name, { version: "all" });
    expect((await change("all")).status).toBe(200);
    expect((await get(path(name, "2.0.0"))).body._meta[official].status).toBe("active");
  });

  it("a server that comes back through the other door has one latest version, under a number of its own", async () => {
    const name = "io.github.stranger/back";
    await published(name, { version: "0.0.0" });
    await registry.send("DELETE", config("io.github.stranger", "back"), { token: admin });
    const body = { tenant: "io.github.stranger", name: "back", visibility: "public" };
    expect((await registry.send("POST", configs, { token: admin, body })).status).toBe(201);
    await drained("io.github.stranger");
    const [number] = await latest(name);
    expect([await latest(name), number]).toEqual([[expect.stringMatching(/^0\.0\.0\+g\d+$/)], expect.anything()]);
    expect((await get(path(name, "latest"))).body.server.version).toBe(number);
    await published(name, { version: "1.0.0" });
    expect(await latest(name)).toEqual(["1.0.0"]);
  });

  it.each(["1.0.0 ", " ", "1.0.0\n", "1.0.0 2.0.0", "[1.0,2.0)", "(1.0,2.0]", "1.x-alpha", "1.2.*+b", "1.x"])(
    "version %j is refused",
    async (version) => {
      expectProblem(await publish(json("io.github.stranger/ranges", { version })), 422, "ErrorServerJsonInvalid");
    },
  );

  it("an address is not another one because it is spelled differently", async () => {
    const remotes = (url: string) => ({ remotes: [{ type: "streamable-http", url }] });
    await published("io.github.stranger/owner", remotes("https://spelled.test/mcp"));
    for (const url of ["https://spelled.test/mcp#x", "https://spelled.test/mcp?", "https://u:p@spelled.test/mcp"]) {
      expectProblem(await publish(json("io.github.other/thief", remotes(url))), 400, "ErrorRemoteTaken");
    }
    for (const url of ["https://spelled.test./mcp", "https://SPELLED.test:443/%6dcp"]) {
      expectProblem(await publish(json("io.github.other/thief", remotes(url))), 400, "ErrorRemoteTaken");
    }
  });

  it("a private server is not named by the address it asked for, and does not keep it", async () => {
    const body = { tenant: "io.github.stranger", name: "secret", visibility: "tenant" };
    await registry.send("POST", configs, { token: admin, body });
    const remotes = [{ type: "streamable-http", url: "https://hidden.test/mcp" }];
    expect((await publish(json("io.github.stranger/secret", { remotes }))).status).toBe(409);
    await published("io.github.other/open", { remotes });
  });

  it("an answer has a tag and says how new it is", async () => {
    const first = await list("search=stranger");
    expect(Number(first.headers.get("Rollcall-Generation"))).toBeGreaterThan(0);
    const etag = first.headers.get("ETag") ?? "";
    const again = await registry.send("GET", "/v0.1/servers?search=stranger", { headers: { "If-None-Match": etag } });
    expect(again.status).toBe(304);
  });
});
