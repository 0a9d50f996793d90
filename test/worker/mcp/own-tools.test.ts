import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Principal } from "../../../src/auth/principal.ts";
import { tenantKey } from "../../../src/kernel/names.ts";
import { defaultCapabilityId } from "../../../src/manifest/capability-id.ts";
import { loadTokenizer } from "../../../src/manifest/tokens.ts";
import type { Progress, ToolContext } from "../../../src/mcp/tools/tool.ts";
import { callTool, listTools, ownTools } from "../../../src/mcp/tools/tools.ts";
import { capabilities, configs, drained, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();
const { services } = registry;

function principal(claims: Partial<Principal>): Principal {
  return { subject: "t", tenants: [], scopes: ["registry:read"], admin: false, expiresAt: 9e15, ...claims };
}
const member = principal({ tenants: [tenantKey("tooled")] });
const outsider = principal({ tenants: [tenantKey("elsewhere")] });
const anonymous = principal({ anonymous: true });
const admin = principal({ admin: true });

let mine: string;
let digests: string[];

const generators = [
  { type: "jinja2" },
  { type: "demonstration" },
  {
    type: "code",
    requirements: { fields: ["spec"], envVars: ["KEY"] },
    upstreamDependencies: { services: ["up"], expectedLatencyMs: { p95: 700 } },
  },
];
const first = {
  version: "1",
  generators,
  tools: [{ name: "tooled_a", inputSchema: { type: "object", properties: { a: { type: "string", enum: ["x"] } } } }],
};
const second = { version: "2", generators, ...tools("tooled_a", "tooled_b") };

beforeAll(async () => {
  mine = await token({ tenants: [tenantKey("tooled")] });
  const theirs = await token({ tenants: ["tooled-other"] });
  const put = async (who: string, tenant: string, name: string, body: unknown) =>
    (await registry.send("PUT", capabilities(tenant, name), { token: who, body })).body.data.digest;
  digests = [await put(mine, "tooled", "s", first), await put(mine, "tooled", "s", second)];
  for (const [who, tenant, name] of [
    [mine, "tooled", "open"],
    [theirs, "tooled-other", "open"],
  ] as const) {
    await registry.send("POST", configs, { token: who, body: { tenant, name, visibility: "public" } });
    await put(who, tenant, name, { version: "1", ...tools("free") });
  }
  await put(theirs, "tooled-other", "hidden", { ...tools("secret_tool"), generators });
  await drained("tooled");
  await drained("tooled-other");
});

/** Calls a tool. Whatever it answers must have the form that it announces, in both of its notations. */
async function call(name: string, input: unknown, who: Principal = member, more: Partial<ToolContext> = {}) {
  const result = await callTool(name, input, { services, principal: who, ...more });
  if (!result.ok) return { error: result.error, code: result.error.code };
  const tool = ownTools.find((candidate) => candidate.name === name);
  const listed = listTools().find((candidate) => candidate.name === name);
  expect(tool?.output.safeParse(result.value).error).toBeUndefined();
  expect(z.fromJSONSchema(listed?.outputSchema as never).safeParse(result.value).error).toBeUndefined();
  expect(Object.keys(tool?.output.shape ?? {})).toEqual(expect.arrayContaining(Object.keys(result.value)));
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
  return { data: result.value as any };
}

const get = async (path: string, who = mine) => registry.send("GET", path, { token: who });

/** Arguments that each tool takes, about a server of a tenant. */
const asked = (tenant: string, name: string): [string, Record<string, unknown>][] => [
  ["get_capability", { tenant, id: `mcp.${name}.tooled_a` }],
  ["select_generator", { tenant, name, config: {} }],
  ["preflight_generator", { tenant, name, type: "code" }],
  ["diff_capabilities", { tenant, name, from: digests[0] }],
  ["whats_changed", { tenant }],
];

describe("the list of tools", () => {
  it("is in stable order", () => {
    expect(ownTools.map(({ name }) => name)).toEqual(expect.arrayContaining(listTools().map(({ name }) => name)));
    const own = ["list_servers", "get_capability", "select_generator", "preflight_generator", "diff_capabilities"];
    expect(ownTools.map(({ name }) => name).slice(0, 6)).toEqual([...own, "whats_changed"]);
  });

  it("costs a client little", async () => {
    const count = await loadTokenizer();
    expect(count(JSON.stringify({ tools: listTools() }))).toBeLessThan(2_500);
    expect(count(JSON.stringify({ tools: listTools().slice(0, 6) }))).toBeLessThan(1_500);
  });

  it.each(ownTools.map(({ name }) => name))("says of %s what goes in and comes out, and that it only reads", (name) => {
    const tool = listTools().find((candidate) => candidate.name === name);
    expect(tool).toMatchObject({
      inputSchema: { type: "object", additionalProperties: false },
      outputSchema: { type: "object", required: expect.any(Array) },
      annotations: { openWorldHint: false },
    });
    expect(tool?.description).toMatch(/^[A-Z].{10,100}\.$/);
    expect(JSON.stringify(tool)).not.toContain("$schema");
  });

  it("answers an unknown name with those there are", async () => {
    for (const name of ["nothing", "", "constructor", "__proto__", "LIST_SERVERS", "x".repeat(100_000)]) {
      const { error } = await call(name, {});
      expect(error?.code).toBe("ErrorToolNotFound");
      expect(error?.message).toContain("available: list_servers, get_capability");
      expect(error?.message.length).toBeLessThan(1_000);
    }
  });
});

describe("list_servers", () => {
  const names = ({ data }: { data?: { items: { tenant: string; name: string }[] } }) =>
    data?.items.map(({ tenant, name }) => `${tenant}/${name}`);

  it("shows the caller's own and what is public, each once and in order", async () => {
    expect(names(await call("list_servers", {}))).toEqual(["tooled/open", "tooled/s", "tooled-other/open"]);
    expect(names(await call("list_servers", undefined, outsider))).toEqual(["tooled/open", "tooled-other/open"]);
  });

  it("shows anyone what is public, as the list of configs does", async () => {
    const { data } = await call("list_servers", {}, anonymous);
    expect(data.items).toEqual((await get(`${configs}?visibility=public`)).body.data.items);
    expect(data.items).toHaveLength(2);
  });

  it("shows an admin everything", async () => {
    const all = await get(configs, await token({ admin: true }));
    expect((await call("list_servers", {}, admin)).data.items).toEqual(all.body.data.items);
    expect(names(await call("list_servers", { tenant: "tooled-other" }, admin))).toHaveLength(2);
  });

  it("shows one tenant as its own list does, and to others only what is public of it", async () => {
    const { data } = await call("list_servers", { tenant: "tooled" });
    expect(data).toEqual((await get(`${configs}?tenant=tooled`)).body.data);
    for (const who of [outsider, anonymous]) {
      expect(names(await call("list_servers", { tenant: "tooled" }, who))).toEqual(["tooled/open"]);
      expect(names(await call("list_servers", { tenant: "nobody" }, who))).toEqual([]);
    }
  });

  it("comes in pages, each server once, and tells of writes in between", async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    let changed: boolean | undefined;
    do {
      const page = await call("list_servers", { limit: 1, ...(cursor === undefined ? {} : { cursor }) });
      expect(page.data.items).toHaveLength(1);
      seen.push(...(names(page) ?? []));
      ({ nextCursor: cursor, changed } = page.data);
      if (seen.length === 1) {
        const body = { tenant: "tooled", name: "aaa" };
        await registry.send("POST", configs, { token: mine, body });
        await drained("tooled");
      }
    } while (cursor !== undefined);
    expect(seen).toEqual(expect.arrayContaining(["tooled-other/open", "tooled/open", "tooled/s"]));
    expect(new Set(seen).size).toBe(seen.length);
    expect(changed).toBe(true);
    await registry.send("DELETE", `${configs}/tooled/aaa`, { token: mine });
    await drained("tooled");
  });

  it("takes a cursor only where it was given", async () => {
    const { nextCursor: cursor } = (await call("list_servers", { limit: 1 })).data;
    expect((await call("list_servers", { limit: 1, cursor })).data.items).toHaveLength(1);
    expect((await call("list_servers", { limit: 1, cursor, tenant: "tooled" })).code).toBe("ErrorCursorInvalid");
    expect((await call("list_servers", { limit: 1, cursor }, outsider)).code).toBe("ErrorCursorInvalid");
    expect((await call("list_servers", { limit: 1, cursor: `${cursor}x` })).code).toBe("ErrorCursorInvalid");
  });
});

describe("get_capability", () => {
  const id = "mcp.s.tooled_a";
  const path = `/api/capabilities/tooled/${id}`;

  it("answers as the route does, in each format", async () => {
    const http = await get(path);
    const { data } = await call("get_capability", { tenant: "tooled", id });
    // The second answer may come from memory, which was confirmed at an earlier generation with the same content.
    expect(data).toEqual({ capability: http.body.data, generation: expect.any(Number) });
    expect(data.generation).toBeLessThanOrEqual(Number(http.headers.get("Rollcall-Generation")));
    const yaml = await call("get_capability", { tenant: "tooled", id, format: "yaml" });
    expect(yaml.data.text).toBe((await get(`${path}?format=yaml`)).text);
    expect(yaml.data.losses).toBeUndefined();
    const rtfs = await call("get_capability", { tenant: "tooled", id, format: "rtfs" });
    expect(rtfs.data.text).toBe((await get(`${path}?format=rtfs`)).text);
  });

  it("says what RTFS cannot", async () => {
    const lossy = { tools: [{ name: "lossy", inputSchema: { type: "object", properties: { a: { format: "x" } } } }] };
    await registry.send("PUT", capabilities("tooled", "lossy"), { token: mine, body: lossy });
    const { data } = await call("get_capability", { tenant: "tooled", id: "mcp.lossy.lossy", format: "rtfs" });
    expect(data.losses).toEqual([expect.stringContaining("format")]);
    await registry.send("DELETE", `${configs}/tooled/lossy`, { token: mine });
    await drained("tooled");
  });

  it("finds one with an id as long as its URI", async () => {
    const uri = `docs://${"%/".repeat(400)}`;
    await registry.send("PUT", capabilities("tooled", "long"), { token: mine, body: { resources: [{ uri }] } });
    const long = defaultCapabilityId("long", "resource", uri);
    expect(long.length).toBeGreaterThan(512);
    expect((await call("get_capability", { tenant: "tooled", id: long })).data.capability.uri).toBe(uri);
    expect((await get(`/api/capabilities/tooled/${long}`)).status).toBe(200);
    await registry.send("DELETE", `${configs}/tooled/long`, { token: mine });
    await drained("tooled");
  });

  it("does not find what is not there, or is switched off", async () => {
    for (const other of ["mcp.s.nothing", "", " ", "mcp.s.tooled_a'--"]) {
      expect((await call("get_capability", { tenant: "tooled", id: other })).code).toBe("ErrorCapabilityNotFound");
    }
    const flip = (enabled: boolean) =>
      registry.send("PATCH", capabilities("tooled", "s"), {
        token: mine,
        body: { items: [{ kind: "tool", name: "tooled_a", enabled }] },
      });
    await flip(false);
    expect((await call("get_capability", { tenant: "tooled", id })).code).toBe("ErrorCapabilityNotFound");
    await flip(true);
    expect((await call("get_capability", { tenant: "tooled", id })).code).toBeUndefined();
  });

  it("is anyone's where the server is public", async () => {
    for (const who of [anonymous, outsider, member]) {
      const { data } = await call("get_capability", { tenant: "tooled-other", id: "mcp.open.free" }, who);
      expect(data.capability).toMatchObject({ id: "mcp.open.free", kind: "tool" });
    }
  });
});

describe("select_generator and preflight_generator", () => {
  const server = { tenant: "tooled", name: "s" };
  const path = `${capabilities("tooled", "s")}/generators`;

  it.each([
    [{ generation: { patterns: [{ type: "demonstration" }] } }],
    [{ elements: [{ example_output: "x" }] }],
    [{}],
  ])("select for %j as the route does", async (config) => {
    const http = await registry.send("POST", `${path}/select`, { token: mine, body: config });
    expect((await call("select_generator", { ...server, config })).data).toEqual(http.body.data);
  });

  it.each([[{ config: { spec: "s" }, credentials: ["KEY"] }], [{ credentials: ["OTHER"] }], [{}]])(
    "check %j as the route does",
    async (question) => {
      const http = await registry.send("POST", `${path}/code/preflight`, { token: mine, body: question });
      expect((await call("preflight_generator", { ...server, type: "code", ...question })).data).toEqual(
        http.body.data,
      );
    },
  );

  it("have nothing to say where there is no generator", async () => {
    const none = { tenant: "tooled", name: "open" };
    expect((await call("select_generator", { ...none, config: {} })).code).toBe("resource_not_found");
    expect((await call("preflight_generator", { ...none, type: "code" })).code).toBe("resource_not_found");
    expect((await call("preflight_generator", { ...server, type: "magic" })).error?.message).toContain('"magic"');
    const absent = await call("select_generator", { tenant: "tooled", name: "absent", config: {} });
    expect(absent.code).toBe("ErrorMCPServerNotFound");
  });

  it("never repeat the value of a credential", async () => {
    const { error } = await call("preflight_generator", { ...server, type: "code", credentials: ["KEY=sk-secret"] });
    expect(error).toMatchObject({ code: "ErrorToolArguments", details: { issues: [{ path: "/credentials/0" }] } });
    expect(JSON.stringify(error)).not.toContain("sk-secret");
  });
});

describe("diff_capabilities", () => {
  const server = { tenant: "tooled", name: "s" };

  it("answers as the route does", async () => {
    const [from, to] = digests;
    const http = await get(`${capabilities("tooled", "s")}/diff?from=${from}&to=${to}`);
    const generation = Number(http.headers.get("Rollcall-Generation"));
    const { data } = await call("diff_capabilities", { ...server, from, to });
    expect(data).toEqual({ ...http.body.data, generation });
    expect(data.counts).toMatchObject({ additive: 1 });
    expect(data.changes.length).toBeGreaterThan(1);
    expect((await call("diff_capabilities", { ...server, from })).data).toEqual(data);
  });

  it("does not find a revision that is another server's, or no one's", async () => {
    for (const from of [`sha256-${"0".repeat(64)}`, digests[0]]) {
      const input = { tenant: "tooled", name: "open", from };
      expect((await call("diff_capabilities", input)).code).toBe("ErrorRevisionNotFound");
    }
  });

  it("is the tenant's alone, though the server is public", async () => {
    const input = { tenant: "tooled", name: "open", from: digests[0] };
    expect((await call("diff_capabilities", input, outsider)).code).toBe("ErrorTenantPermissionError");
    expect((await call("diff_capabilities", input, anonymous)).code).toBe("ErrorUnauthorized");
  });
});

describe("whats_changed", () => {
  it("answers as the route does, page by page", async () => {
    // A model has no use for hashes; who wants to verify the log reads the route.
    // biome-ignore lint/suspicious/noExplicitAny: an answer of the route
    const plain = ({ head: _, items, ...page }: any) => ({
      ...page,
      items: items.map(({ previous: __, hash: ___, ...entry }: Record<string, unknown>) => entry),
    });
    const all = plain((await get("/api/changes/tooled")).body.data);
    expect((await call("whats_changed", { tenant: "tooled" })).data).toEqual(all);
    const page = (await call("whats_changed", { tenant: "tooled", since: 1, limit: 2 })).data;
    expect(page).toEqual(plain((await get("/api/changes/tooled?since=1&limit=2")).body.data));
    expect(page.items).toHaveLength(2);
    const end = (await call("whats_changed", { tenant: "tooled", since: 1e9 })).data;
    expect(end).toMatchObject({ items: [], nextSince: 1e9 });
  });
});

describe("who may call", () => {
  it("is the tenant, and an admin", async () => {
    for (const [name, input] of asked("tooled", "s")) {
      for (const who of [member, admin]) expect([name, (await call(name, input, who)).code]).toEqual([name, undefined]);
    }
  });

  it("is no one else, and what is private looks like what is not there", async () => {
    for (const [who, code] of [
      [anonymous, "ErrorUnauthorized"],
      [outsider, "ErrorTenantPermissionError"],
    ] as const) {
      const absent = [asked("tooled-other", "none"), asked("nobody", "hidden")];
      for (const [index, [name, input]] of asked("tooled-other", "hidden").entries()) {
        const { error } = await call(name, input, who);
        expect([name, error?.code]).toEqual([name, code]);
        for (const others of absent) {
          const [other, question] = others[index] ?? [];
          expect([other, (await call(other ?? "", question, who)).error]).toEqual([name, error]);
        }
      }
    }
  });

  it("is no one without the scope to read, whatever the arguments", async () => {
    const writer = principal({ tenants: [tenantKey("tooled")], scopes: ["registry:publish"] });
    for (const { name } of ownTools) expect((await call(name, null, writer)).code).toBe("ErrorInsufficientScope");
  });
});

describe("bad arguments", () => {
  const server = { tenant: "tooled", name: "s" };
  const from = `sha256-${"0".repeat(64)}`;

  it.each<[string, string, string, unknown]>([
    ["list_servers", "/limit", "too_small", { limit: 0 }],
    ["list_servers", "/limit", "too_big", { limit: 101 }],
    ["list_servers", "/limit", "invalid_type", { limit: 1.5 }],
    ["list_servers", "/limit", "invalid_type", { limit: Number.NaN }],
    ["list_servers", "/limit", "invalid_type", { limit: "3" }],
    ["list_servers", "/tenant", "invalid_format", { tenant: "n_o" }],
    ["list_servers", "/tenant", "invalid_format", { tenant: "" }],
    ["list_servers", "/tenant", "invalid_format", { tenant: "a/b" }],
    ["list_servers", "/tenant", "invalid_format", { tenant: "a".repeat(101) }],
    ["list_servers", "/tenant", "invalid_type", { tenant: null }],
    ["list_servers", "/cursor", "invalid_type", { cursor: 1 }],
    ["list_servers", "", "unrecognized_keys", { Limit: 1 }],
    ["list_servers", "", "unrecognized_keys", JSON.parse('{"__proto__": 1}')],
    ["list_servers", "", "unrecognized_keys", { constructor: 1 }],
    ["list_servers", "", "invalid_type", null],
    ["list_servers", "", "invalid_type", []],
    ["list_servers", "", "invalid_type", "{}"],
    ["get_capability", "/tenant", "invalid_type", { id: "x" }],
    ["get_capability", "/id", "invalid_type", { tenant: "tooled" }],
    ["get_capability", "/id", "too_big", { tenant: "tooled", id: "x".repeat(10_001) }],
    ["get_capability", "/format", "invalid_value", { tenant: "tooled", id: "x", format: "xml" }],
    ["select_generator", "/config", "invalid_type", server],
    ["select_generator", "/config", "invalid_type", { ...server, config: [] }],
    ["select_generator", "/name", "invalid_format", { ...server, name: "-", config: {} }],
    ["preflight_generator", "/type", "invalid_type", server],
    ["preflight_generator", "/type", "too_big", { ...server, type: "x".repeat(129) }],
    ["preflight_generator", "/credentials", "invalid_type", { ...server, type: "x", credentials: "KEY" }],
    ["preflight_generator", "/credentials", "too_big", { ...server, type: "x", credentials: Array(1_001).fill("K") }],
    ["diff_capabilities", "/from", "invalid_type", server],
    ["diff_capabilities", "/from", "invalid_format", { ...server, from: "latest" }],
    ["diff_capabilities", "/to", "invalid_format", { ...server, from, to: "" }],
    ["whats_changed", "/tenant", "invalid_type", undefined],
    ["whats_changed", "/since", "too_small", { tenant: "tooled", since: -1 }],
    ["whats_changed", "/since", "too_big", { tenant: "tooled", since: 2e15 }],
    ["whats_changed", "/limit", "too_big", { tenant: "tooled", limit: 1_001 }],
  ])("of %s are named by path and rule: %s %s", async (name, path, rule, input) => {
    const { error } = await call(name, input);
    expect(error?.code).toBe("ErrorToolArguments");
    expect(error?.details?.issues).toMatchObject([{ path, rule }]);
    expect(error?.message).toMatch(new RegExp(`^Invalid arguments for ${name}: ${path}`));
  });

  it("are named all at once, with the names that are known", async () => {
    const { error } = await call("whats_changed", { tenant: "_", limit: 0, page: 2 });
    expect(error?.details?.issues?.map(({ path }) => path)).toEqual(["/tenant", "/limit", ""]);
    expect(error?.details?.issues?.at(-1)?.message).toBe('Unrecognized key: "page"; known: tenant, since, limit');
  });

  it("are not repeated at length", async () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`${"k".repeat(50)}${index}`, 1]));
    expect(JSON.stringify((await call("list_servers", many)).error).length).toBeLessThan(2_000);
  });

  it.each(ownTools.map(({ name }) => name))("of any kind make %s fail, never throw", async (name) => {
    const anything = fc.anything({ withNullPrototype: true, withBigInt: true, withDate: true, withMap: true });
    await fc.assert(
      fc.asyncProperty(anything, async (input) => {
        const { code } = await call(name, input, anonymous);
        const fits = ownTools.find((tool) => tool.name === name)?.input.safeParse(input ?? {}).success;
        expect(code === "ErrorToolArguments").toBe(!(fits && input !== null));
      }),
      { numRuns: 200 },
    );
  });
});

describe("progress and cancellation", () => {
  const input = () => ({ tenant: "tooled", name: "s", from: digests[0] });

  it("tell how far a comparison is", async () => {
    const told: Progress[] = [];
    await call("diff_capabilities", input(), member, { report: (progress) => told.push(progress) });
    expect(told.map(({ progress, total }) => [progress, total])).toEqual([
      [0, 3],
      [1, 3],
      [2, 3],
    ]);
    expect(told.every(({ message }) => message.length > 0)).toBe(true);
  });

  it("stop a comparison where it is", async () => {
    for (const last of [0, 1]) {
      const controller = new AbortController();
      const told: number[] = [];
      const report = ({ progress }: Progress) => {
        told.push(progress);
        if (progress === last) controller.abort();
      };
      const { code } = await call("diff_capabilities", input(), member, { report, signal: controller.signal });
      expect([code, told.at(-1)]).toEqual(["ErrorToolCancelled", last]);
    }
  });

  it("stop every tool before it touches anything", async () => {
    const before = { ...services.usage };
    const signal = AbortSignal.abort();
    for (const { name } of ownTools) expect((await call(name, {}, member, { signal })).code).toBe("ErrorToolCancelled");
    expect(services.usage).toEqual(before);
  });

  it("stop the work on generators once the manifest is read", async () => {
    for (const [name, given] of asked("tooled", "s").filter(([tool]) => tool.endsWith("_generator"))) {
      let looks = 0;
      const signal = {
        get aborted() {
          looks += 1;
          return looks > 1;
        },
      } as AbortSignal;
      expect([name, (await call(name, given, member, { signal })).code]).toEqual([name, "ErrorToolCancelled"]);
    }
  });
});
