import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { serverJsonSchemaUri } from "../../../src/official/schema.ts";
import { hooked, registry as hookRegistry, published, sendEvent } from "../support/hooking.ts";
import { isKept, isolate } from "../support/kept-answers.ts";
import { capabilities, config, configs, drained, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();

// Subscribers and remotes are nobody's.
beforeAll(() => {
  vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response(null, { status: 503 }));
});

async function member(...tenants: string[]) {
  const mine = await token({ tenants });
  return (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    registry.send(method, path, { token: mine, headers, ...(body === undefined ? {} : { body }) });
}

const shownIn = async (send: Awaited<ReturnType<typeof member>>, tenant: string) =>
  (await send("GET", `/api/index/${tenant}/advertise`)).body.data.tenant;

describe("the spelling of a tenant", () => {
  const writes: Record<string, (tenant: string) => [method: string, path: string, body: unknown]> = {
    "a manifest": (tenant) => ["PUT", capabilities(tenant, "s"), tools("t")],
    "a config": (tenant) => ["POST", configs, { tenant, name: "s" }],
    "an import": (tenant) => ["POST", `/api/import/mcp?tenant=${tenant}&name=s`, tools("t")],
    "a server.json": (tenant) => [
      "POST",
      "/v0.1/publish",
      { $schema: serverJsonSchemaUri, name: `${tenant}/srv`, description: "D", version: "1.0.0" },
    ],
    "settings of the index": (tenant) => ["PUT", `/api/index/${tenant}/advertise`, { advertiseResources: true }],
    "a subscription": (tenant) => ["POST", "/api/subscriptions", { tenant, url: "https://receiver.example/in" }],
  };

  it.each(Object.keys(writes))("is that of its first write: %s", async (what) => {
    const key = `first-${what.replaceAll(/\W/g, "-")}`;
    const spelled = key.replace("first", "First");
    const send = await member(key);
    expect(await shownIn(send, key.toUpperCase())).toBe(key);
    const [method, path, body] = writes[what]?.(spelled) ?? ["", "", ""];
    expect((await send(method, path, body)).status).toBeLessThan(300);
    expect(await shownIn(send, key.toUpperCase())).toBe(spelled);
    await send("PUT", capabilities(key.toUpperCase(), "later"), tools("later"));
    await send("POST", configs, { tenant: key, name: "latest" });
    expect(await shownIn(send, key)).toBe(spelled);
    const { items } = (await send("GET", `${configs}?tenant=${key}`)).body.data;
    for (const { tenant } of items) expect(tenant).toBe(spelled);
  });

  it("is not that of a write that was refused", async () => {
    const send = await member("refused");
    for (const [method, path, body, status] of [
      ["DELETE", config("REFUSED", "none"), undefined, 404],
      ["PUT", configs, { tenant: "REFUSED", name: "none" }, 404],
      ["PATCH", capabilities("REFUSED", "none"), { items: [{ kind: "tool", name: "t", enabled: true }] }, 404],
      ["PUT", capabilities("REFUSED", "none"), "{", 400],
      ["POST", "/api/subscriptions", { tenant: "REFUSED", url: "https://127.0.0.1/" }, 422],
      ["PATCH", "/api/subscriptions/REFUSED/none", { description: "x" }, 404],
      ["POST", "/api/hooks", { tenant: "REFUSED", server: "none" }, 404],
      ["PATCH", "/v0.1/servers/REFUSED%2Fnone/status", { status: "deleted" }, 404],
    ] as const) {
      expect([path, (await send(method, path, body)).status]).toEqual([path, status]);
      expect(await shownIn(send, "refused")).toBe("refused");
    }
    const barred = await send("PUT", capabilities("REFUSED", "none"), tools("t"), { "If-Match": '"none"' });
    expect(barred.status).toBe(412);
    await send("PUT", capabilities("Refused", "s"), tools("t"));
    expect(await shownIn(send, "REFUSED")).toBe("Refused");
  });

  it("outlives its last server", async () => {
    const send = await member("left");
    await send("PUT", capabilities("Left", "s"), tools("t"));
    await send("DELETE", config("LEFT", "s"));
    await send("PUT", capabilities("left", "s"), tools("t"));
    expect((await send("GET", config("left", "s"))).body.data.tenant).toBe("Left");
  });

  it("is not a change of a server", async () => {
    const send = await member("steady");
    const settings = { name: "s", title: "Steady", sources: [] };
    await send("POST", configs, { tenant: "Steady", ...settings });
    const first = await send("PUT", capabilities("Steady", "s"), tools("t"));
    for (const tenant of ["steady", "STEADY"]) {
      const same = await send("PUT", configs, { tenant, ...settings });
      expect([same.status, same.body.data.generation]).toEqual([200, first.body.data.generation]);
      const again = await send("PUT", capabilities(tenant, "s"), tools("t"), {
        "If-Match": first.headers.get("ETag") ?? "",
      });
      expect(again.body.data).toMatchObject({ outcome: "unchanged", generation: first.body.data.generation });
    }
  });

  it("is the publisher's own in a server.json", async () => {
    const send = await member("io.github.devtools");
    const document = { $schema: serverJsonSchemaUri, description: "Debugs pages.", version: "1.0.0" };
    const names = ["io.github.DevTools/debugger", "io.github.devtools/Debugger", "IO.GitHub.DevTools/tracer"];
    for (const name of names) expect((await send("POST", "/v0.1/publish", { ...document, name })).status).toBe(200);
    await drained("io.github.devtools");
    const listed = await send("GET", "/v0.1/servers?search=io.github.DEVTOOLS");
    const shown = listed.body.servers.map(({ server }: { server: { name: string } }) => server.name);
    // In order of the key, so that a cursor is a place whatever the spelling.
    expect(shown).toEqual([names[1], names[0], names[2]]);
    for (const name of names) {
      const [namespace = "", server] = name.split("/");
      const path = encodeURIComponent(`${namespace.toUpperCase()}/${server}`);
      expect((await send("GET", `/v0.1/servers/${path}/versions/1.0.0`)).body.server.name).toBe(name);
    }
    const twice = await send("POST", "/v0.1/publish", { ...document, name: "IO.GITHUB.DEVTOOLS/debugger" });
    expect([twice.status, twice.body.code]).toEqual([400, "ErrorVersionExists"]);
    const entry = (await send("GET", "/api/catalog?tenant=IO.github.devtools")).body.data.items[0];
    expect(entry).toMatchObject({ tenant: "io.github.DevTools", name: "Debugger" });
  });

  it("holds the remote of a server in any spelling", async () => {
    const send = await member("remote-a", "remote-b");
    const remotes = [{ type: "sse", url: "https://remote-taken.example/sse" }];
    const document = { $schema: serverJsonSchemaUri, description: "D", remotes };
    const publish = (name: string, version: string) => send("POST", "/v0.1/publish", { ...document, name, version });
    expect((await publish("Remote-A/srv", "1.0.0")).status).toBe(200);
    expect((await publish("REMOTE-a/srv", "1.0.1")).status).toBe(200);
    await drained("remote-a");
    const taken = await publish("remote-b/srv", "1.0.0");
    expect([taken.status, taken.body.detail]).toEqual([
      400,
      expect.stringMatching(/already used by server REMOTE-a\/srv; /),
    ]);
  });
});

describe("two spellings", () => {
  it("are one object, one head and one body", async () => {
    const before = (await listDurableObjectIds(env.TENANTS)).map(String);
    const send = await member("Onetenant", "ONETENANT");
    for (const tenant of ["OneTenant", "onetenant", "ONETENANT"]) {
      expect((await send("PUT", capabilities(tenant, "s"), tools("t"))).status).toBeLessThan(300);
      expect((await send("GET", capabilities(tenant, "s"), undefined, { "Cache-Control": "no-cache" })).status).toBe(
        200,
      );
    }
    await drained("onetenant");
    const added = (await listDurableObjectIds(env.TENANTS)).map(String).filter((id) => !before.includes(id));
    expect(added).toEqual([String(env.TENANTS.idFromName("onetenant"))]);
    const keys = (await env.REGISTRY.list()).keys.map(({ name }) => name).filter((name) => /onetenant/i.test(name));
    expect(keys).toEqual(["head/onetenant/s", expect.stringMatching(/^manifest\/onetenant\/s\/sha256-/)]);
    expect(await env.REGISTRY.get("head/onetenant/s", "json")).toMatchObject({ tenant: "OneTenant", name: "s" });
    const cached = (tenant: string) => caches.default.match(`https://rollcall.invalid/1/head/${tenant}/s`);
    expect([await cached("OneTenant"), await cached("ONETENANT")]).toEqual([undefined, undefined]);
    expect(await cached("onetenant")).toBeDefined();
  });

  it("wake no object for someone outside the tenant", async () => {
    const before = (await listDurableObjectIds(env.TENANTS)).length;
    const stranger = await member("elsewhere");
    for (const tenant of ["Unheard", "UNHEARD", "unheard"]) {
      expect((await stranger("GET", capabilities(tenant, "s"))).status).toBe(403);
      expect((await registry.send("POST", `/hooks/${tenant}/${crypto.randomUUID()}`)).status).toBe(401);
    }
    expect(await listDurableObjectIds(env.TENANTS)).toHaveLength(before);
  });

  it("share what is in memory, and a write through one shows through the other", async () => {
    const here = isolate();
    const mine = await token({ sub: "warm", tenants: ["WARM"] });
    const read = (tenant: string) => here.send("GET", capabilities(tenant, "s"), { token: mine });
    await here.send("PUT", capabilities("Warm", "s"), { token: mine, body: tools("first") });
    await read("Warm");
    const before = { ...here.services.usage };
    const warm = await read("WARM");
    expect(warm.headers.get("Rollcall-Source")).toBe("memory");
    expect({ ...here.services.usage, memory: 0 }).toEqual({ ...before, memory: 0 });
    // Responses are cached for the spelling that is shown and for lower case, and end with the head that all share.
    for (const tenant of ["warm", "WARM", "Warm"]) for (const _ of [1, 2, 3]) await read(tenant);
    const cached = [];
    for (const tenant of ["warm", "WARM", "Warm"]) cached.push(isKept(await read(tenant)));
    expect(cached).toEqual([true, false, true]);
    await here.send("PUT", capabilities("wARM", "s"), { token: mine, body: tools("second") });
    for (const tenant of ["warm", "WARM", "Warm"]) {
      expect((await read(tenant)).body.data.tools).toMatchObject([{ name: "second" }]);
    }
  });

  it("never make one of two servers: names keep their case", async () => {
    const send = await member("cased");
    await send("PUT", capabilities("Cased", "Weather"), tools("upper"));
    expect((await send("GET", capabilities("cased", "weather"))).status).toBe(404);
    await send("PUT", capabilities("CASED", "weather"), { tools: [{ name: "lower" }] });
    const named = async (name: string) => (await send("GET", capabilities("cased", name))).body.data.tools[0].name;
    expect([await named("Weather"), await named("weather")]).toEqual(["upper", "lower"]);
    const { items } = (await send("GET", `${configs}?tenant=CASED`)).body.data;
    expect(items.map(({ name }: { name: string }) => name)).toEqual(["Weather", "weather"]);
  });

  it("take the same cursor", async () => {
    const send = await member("paged", "PAGED");
    for (const [at, tenant] of ["Paged", "PAGED", "paged"].entries()) {
      await send("POST", configs, { tenant, name: `s${at}`, visibility: "public" });
      await send("PUT", capabilities(tenant, `s${at}`), { tools: [{ name: `turn_page_${at}`, id: `p${at}` }] });
    }
    await drained("paged");
    for (const list of [`${configs}?tenant=`, "/api/catalog?tenant=", "/api/search?q=turn+page&tenant="]) {
      const seen: string[] = [];
      let cursor = "";
      for (const tenant of ["Paged", "PAGED", "paged"]) {
        const more = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
        const { status, body } = await send("GET", `${list}${tenant}&limit=1${more}`);
        expect([list, tenant, status]).toEqual([list, tenant, 200]);
        seen.push(...body.data.items.map((item: { server?: string; name: string }) => item.server ?? item.name));
        cursor = body.data.nextCursor ?? "";
      }
      expect([list, seen.sort(), cursor]).toEqual([list, ["s0", "s1", "s2"], ""]);
    }
    // A caller who holds the tenant under another spelling is the same caller to a cursor.
    const one = await member("Paged");
    const other = await member("PAGED");
    const { nextCursor } = (await one("GET", `${configs}?limit=1`)).body.data;
    expect((await other("GET", `${configs}?limit=1&cursor=${encodeURIComponent(nextCursor)}`)).status).toBe(200);
  });

  it("stand in order of the key in a list across tenants", async () => {
    const send = await member("zeta-b", "Zeta-a", "ZETA-C");
    for (const tenant of ["zeta-b", "Zeta-a", "ZETA-C"]) await send("POST", configs, { tenant, name: "s" });
    const seen: string[] = [];
    let cursor = "";
    do {
      const more = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const { data } = (await send("GET", `${configs}?limit=1${more}`)).body;
      seen.push(...data.items.map(({ tenant }: { tenant: string }) => tenant));
      cursor = data.nextCursor ?? "";
    } while (cursor !== "");
    expect(seen).toEqual(["Zeta-a", "zeta-b", "ZETA-C"]);
  });

  it("are one address for a hook", async () => {
    const hook = await hooked("Hooked-Case");
    expect(hook.path).toBe(`/hooks/Hooked-Case/${hook.id}`);
    for (const [at, tenant] of ["hooked-case", "HOOKED-CASE", "Hooked-Case"].entries()) {
      const path = `/hooks/${tenant}/${hook.id}`;
      const { status, body } = await sendEvent({ ...hook, path }, published(at + 1, tools(`t${at}`)));
      expect([status, body.outcome]).toEqual([202, "applied"]);
      const read = await hookRegistry.send("GET", capabilities("hooked-CASE", "s"), { token: hook.bearer });
      expect(read.body.data.tools).toMatchObject([{ name: `t${at}` }]);
    }
  });
});
