import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { type Answer, capabilities, config, configs, drained, secret, token, tools } from "../support/registry.ts";
import {
  admin,
  expectProblem,
  get,
  json,
  official,
  ours,
  path,
  publish,
  published,
  publisher,
  registry,
  status,
} from "./official-client.ts";

describe("publishing a server.json", () => {
  const remotes = [{ type: "sse", url: "https://{r}.whole.test/sse", variables: { r: { isRequired: true } } }];
  const whole = json("io.github.whole/Server_1.x", {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    title: "Whole",
    websiteUrl: "https://whole.test/",
    repository: { url: "https://github.com/whole/server", source: "github", id: "7", subfolder: "src/a" },
    icons: [{ src: "https://whole.test/i.png", sizes: ["48x48"], theme: "dark" }],
    packages: [{ registryType: "npm", identifier: "@w/srv", version: "1.0.0", transport: { type: "stdio" } }],
    remotes,
    _meta: { [publisher]: { tool: "t", n: [1.5, null] } },
  });

  it("gives it back as it was, with what the registry knows beside it", async () => {
    // To the official registry, a member that is null is absent.
    const answer = await publish({ ...whole, remotes: [{ ...remotes[0], headers: null }] });
    expect(answer.status).toBe(200);
    const { server, _meta } = answer.body;
    expect(server).toEqual(whole);
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
      expect([read.status, read.body.server, read.body._meta[official]]).toEqual([200, whole, _meta[official]]);
      expect(Object.keys(read.body._meta)).toEqual([official, ours]);
    }
  });

  it("makes a public server of ours, with the fields in its manifest", async () => {
    const member = await token({ tenants: ["io.github.whole"] });
    const settings = await registry.send("GET", config("io.github.whole", "Server_1.x"), { token: member });
    expect(settings.body.data).toMatchObject({ visibility: "public", tenant: "io.github.whole" });
    const { body } = await registry.send("GET", capabilities("io.github.whole", "Server_1.x"), { token: admin });
    const { $schema: _, name: __, ...fields } = whole as Record<string, unknown>;
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
    await published("io.github.sourced/srv", { remotes });
    const { body } = await registry.send("GET", config("io.github.sourced", "srv"), { token: admin });
    // The first has a name that leads inside, the second wants a key: neither is asked.
    expect(body.data.sources).toBeUndefined();
  });

  it("reads the first of two sources that get one name because a source before them goes", async () => {
    const source = (path: string, id?: string) => ({ id, type: "sse", url: `https://moved.test/${path}` });
    const sources = [source("gone", "remote-1"), source("second"), source("third", "source-1")];
    const body = { tenant: "moved", name: "srv", visibility: "public", sources };
    expect((await registry.send("POST", configs, { token: admin, body })).status).toBe(201);
    await published("moved/srv");
    const settings = (await registry.send("GET", config("moved", "srv"), { token: admin })).body.data;
    expect(settings.sources).toMatchObject([{ url: "https://moved.test/second" }, { url: "https://moved.test/third" }]);
    expect(settings.registry.sources).toMatchObject([{ id: "source-1" }]);
  });

  it("keeps what the server can do, and what else its settings say", async () => {
    const body = {
      tenant: "kept",
      name: "srv",
      visibility: "public",
      policy: { sameVersion: "refuse" },
      title: "Mine",
    };
    await registry.send("POST", configs, { token: admin, body });
    await registry.send("PUT", capabilities("kept", "srv"), {
      token: admin,
      body: { ...tools("kept_t"), version: "0.1.0", features: { a: true } },
    });
    await published("kept/srv", { version: "1.0.0", title: "Theirs" });
    const read = await registry.send("GET", capabilities("kept", "srv"), { token: admin });
    expect(read.body.data).toMatchObject({ version: "1.0.0", title: "Theirs", features: { a: true } });
    expect(read.body.data.tools.map(({ name }: { name: string }) => name)).toEqual(["kept_t"]);
    expect(read.body.data.registry.flags).toEqual([]);
    const settings = await registry.send("GET", config("kept", "srv"), { token: admin });
    expect(settings.body.data).toMatchObject({ title: "Mine", policy: { sameVersion: "refuse" } });
    const latest = await get(path("kept/srv", "latest"));
    expect(latest.body._meta[ours]).toEqual({
      digest: read.body.data.registry.digest,
      generation: expect.any(Number),
      counts: { tool: 1 },
      tokens: expect.any(Number),
      ...{ flags: [], status: "active" },
      capabilities: "https://registry.test/api/catalog/kept/srv",
    });
  });

  it("is one change of the tenant, whichever version it is", async () => {
    for (const [version, expected] of [
      ["1.0.0", 1],
      ["2.0.0", 2],
      ["1.5.0", 3],
    ] as const) {
      await published("counted/srv", { version });
      const { body } = await registry.send("GET", "/api/changes/counted?limit=100", { token: admin });
      expect(new Set(body.data.items.map(({ generation }: { generation: number }) => generation)).size).toBe(expected);
      expect(body.data.generation).toBe(expected);
    }
    const { body } = await registry.send("GET", capabilities("counted", "srv"), { token: admin });
    expect(body.data.version).toBe("2.0.0");
  });

  it.each<[string, unknown, number, string, RegExp]>([
    ["a name without a slash", json("nothing"), 422, "ErrorServerJsonInvalid", /\/name/],
    ["a name that is no tenant's", json(`${"n".repeat(101)}/srv`), 422, "ErrorServerJsonInvalid", /tenant/],
    ["a name that starts with a dash", json("-io.github/srv"), 422, "ErrorServerJsonInvalid", /before the slash/],
    ["no schema", json("bad/srv", { $schema: undefined }), 422, "ErrorServerJsonInvalid", /\/\$schema/],
    ["a key that nobody knows", json("bad/srv", { "x-own": 1 }), 422, "ErrorServerJsonInvalid", /x-own/],
    [
      "what only registries say",
      json("bad/srv", { _meta: { [official]: { status: "deleted" } } }),
      422,
      "ErrorServerJsonInvalid",
      /_meta/,
    ],
    [
      "too long a description",
      json("bad/srv", { description: "x".repeat(101) }),
      422,
      "ErrorServerJsonInvalid",
      /\/description/,
    ],
    ["a version range", json("bad/srv", { version: "^1.0.0" }), 422, "ErrorServerJsonInvalid", /\/version/],
    ["the version latest", json("bad/srv", { version: "latest" }), 422, "ErrorServerJsonInvalid", /\/version/],
    ["a blank entry", json("", { description: "", version: "" }), 422, "ErrorServerJsonInvalid", /\/name/],
    ["a list", [], 422, "ErrorServerJsonInvalid", /./],
    ["null", "null", 422, "ErrorServerJsonInvalid", /./],
    ["no JSON", "{", 400, "ErrorInvalidBody", /JSON/],
    [
      "a key twice",
      '{"$schema":"https://x/schemas/2025-12-11/server.schema.json","name":"bad/srv","name":"bad/two","description":"d","version":"1"}',
      422,
      "ErrorServerJsonInvalid",
      /name/,
    ],
    ["nothing", "", 400, "ErrorInvalidBody", /JSON/],
    ["more than fits", json("bad/srv", { "x-big": "x".repeat(70_000) }), 413, "ErrorTooLarge", /64 KiB/],
    ["an invisible character", json("bad/srv", { title: "a\u202eb" }), 422, "ErrorServerJsonInvalid", /\/title/],
  ])("refuses %s", async (_, body, wanted, code, words) => {
    expectProblem(await publish(body), wanted, code, words);
    expect((await get(path("bad/srv"))).status).toBe(404);
  });

  it("names every fault where it is", async () => {
    const { body } = await publish(json("bad/srv", { description: "", packages: [{ version: "" }] }));
    const locations = body.errors.map(({ location }: { location: string }) => location);
    expect(locations).toEqual(expect.arrayContaining(["description", "packages[0].version", "packages[0].identifier"]));
  });

  it("wants a token, for this registry, with the scope, that holds the tenant", async () => {
    const challenge = (answer: Answer) => answer.headers.get("WWW-Authenticate") ?? "";
    const nobody = await registry.send("POST", "/v0.1/publish", { body: json("auth/srv") });
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
      await publish(json("auth/srv"), elsewhere),
      await registry.send("GET", "/v0.1/servers", { token: elsewhere }),
      await registry.send("GET", "/v0.1/servers", { token: "nonsense" }),
    ]) {
      expectProblem(answer, 401, "ErrorUnauthorized");
      expect(challenge(answer)).toContain('error="invalid_token"');
    }
    const reader = await publish(json("auth/srv"), await token({ tenants: ["auth"], scope: "registry:read" }));
    expectProblem(reader, 403, "ErrorInsufficientScope");
    expect(challenge(reader)).toContain('error="insufficient_scope", scope="registry:publish"');
    const outsider = await token({ tenants: ["other"] });
    expectProblem(await publish(json("auth/srv"), outsider), 403, "ErrorTenantPermissionError");
    // Before anything else about the document, so that nobody learns of another's versions.
    expectProblem(await publish(json("auth/srv", { version: "latest" }), outsider), 403, "ErrorTenantPermissionError");
    expectProblem(await status("whole/srv", "all", { status: "deleted" }, outsider), 403, "ErrorTenantPermissionError");
    expect((await publish(json("auth/srv"), await token({ tenants: ["auth"] }))).status).toBe(200);
  });

  it("does not make public what is not", async () => {
    await registry.send("POST", configs, { token: admin, body: { tenant: "hidden", name: "srv" } });
    expectProblem(await publish(json("hidden/srv")), 409, "ErrorServerPrivate", /is private/);
    expect((await get(path("hidden/srv"))).status).toBe(404);
  });
});

describe("a remote", () => {
  const remote = (url: string) => ({ remotes: [{ type: "sse", url }] });

  it("belongs to one server, in all tenants and every spelling, until its versions are gone", async () => {
    await published("owner/srv", remote("https://owned.test/sse"));
    await published("owner/srv", { ...remote("https://owned.test/sse"), version: "1.1.0" });
    for (const url of ["https://owned.test/sse", "https://OWNED.test:443/sse"]) {
      expectProblem(await publish(json("thief/srv", remote(url))), 400, "ErrorRemoteTaken", /owner\/s/);
    }
    expect((await get(path("thief/srv"))).status).toBe(404);
    await published("thief/srv", remote("https://owned.test/other"));
    await status("owner/srv", "1.0.0", { status: "deleted" });
    expectProblem(await publish(json("thief/two", remote("https://owned.test/sse"))), 400, "ErrorRemoteTaken");
    await status("owner/srv", "all", { status: "deleted" });
    await drained("owner");
    await published("thief/two", remote("https://owned.test/sse"));
    expectProblem(await status("owner/srv", "all", { status: "active" }), 400, "ErrorRemoteTaken", /thief\/two/);
    expect((await get(path("owner/srv"))).status).toBe(404);
  });

  it("is given to one of those who want it at once", async () => {
    const all = await Promise.all(
      Array.from({ length: 6 }, (_, at) => publish(json(`race${at}/srv`, remote("https://wanted.test/sse")))),
    );
    expect(all.map((answer) => answer.status).sort()).toEqual([200, 400, 400, 400, 400, 400]);
  });

  it.each(["http://plain.test/sse", "https://localhost:8000/sse", "https://{region}.test/sse"])(
    "must be an https URL that others can reach: %s is refused",
    async (url) => expectProblem(await publish(json("local.a/srv", remote(url))), 422, "ErrorServerJsonInvalid", /url/),
  );
});

describe("validating", () => {
  const validate = (body: unknown) => registry.send("POST", "/v0.1/validate", { body });

  it("says whether a document could be published, to anyone", async () => {
    expect((await validate(json("any/srv"))).body).toEqual({ valid: true, issues: [], notChecked: [] });
    const packages = [{ registryType: "npm", identifier: "x", transport: { type: "stdio" } }];
    expect((await validate(json("any/srv", { packages }))).body).toEqual({
      valid: true,
      issues: [],
      notChecked: [{ path: "packages[0]", message: expect.stringContaining("npm has x") }],
    });
    const old = "https://static.modelcontextprotocol.io/schemas/2025-10-17/server.schema.json";
    expect((await validate(json("any/srv", { $schema: old }))).body).toMatchObject({
      valid: true,
      issues: [{ path: "$schema", severity: "warning", reference: "schema-version-deprecated" }],
    });
    const { status: answered, body } = await validate(json("any/srv", { version: "^1.0.0" }));
    expect([answered, body.valid]).toEqual([200, false]);
    expect(body.issues).toContainEqual({
      type: "semantic",
      path: "version",
      message: expect.stringMatching(/^"\^1\.0\.0" must be one version/),
      severity: "error",
      reference: "version-looks-like-range",
    });
    expect((await validate({})).body.issues.map((issue: { path: string }) => issue.path)).toEqual([
      "$schema",
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

describe("what a stranger tried", () => {
  it.each([" ", "..", "1.x-alpha", "1.2.*", "1.x", "^1", "1.0 || 2.0", "1.0 - 2.0"])(
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
});
