import { beforeAll, describe, expect, it } from "vitest";
import { clock, type Member, member, paths, yaml } from "../support/member.ts";
import { configs, tools } from "../support/registry.ts";

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
      registry: { generation: 99 },
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
    expect([again.status, again.body.error]).toMatchObject([
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
    ["a tenant with an underscore", { tenant: "wr_ong", name: "x" }, 400, "ErrorTenantInvalid"],
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
    ["a source without a type", { sources: [{ type: "stdio" }, { url: "https://x.test" }] }, "/sources/1/type"],
    ["an SSE source without a url", { sources: [{ type: "sse" }] }, "/sources/0/url"],
    ["an HTTP source without a url", { sources: [{ type: "streamable-http", id: "a" }] }, "/sources/0/url"],
    [
      "a source's credential",
      { sources: [{ type: "sse", url: "https://x.test", credential: "hunter2" }] },
      "/sources/0/credential",
    ],
    ["more sources than allowed", { sources: Array(33).fill({ type: "stdio" }) }, "/sources"],
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

describe("changing a config", () => {
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
      data: {
        ...{ tenant: "change", name: "s", visibility: "tenant", title: "Old", "x-old": 1, description: "New" },
        ...{ generation, changed: ["description"] },
      },
    });
    expect(headers.get("Rollcall-Generation")).toBe(String(generation));
    const { data } = (await change.get("s")).body;
    expect(data).toMatchObject({ title: "Old", "x-old": 1, description: "New", registry: { generation } });
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
    // Absent keeps it as it is; removed, it is the default, which is narrower.
    expect((await change.put({ name: "shown" })).body.data.effectiveBy).toBeUndefined();
    expect((await change.put({ name: "shown", visibility: null })).body.data.effectiveBy).toBeDefined();
  });
});
