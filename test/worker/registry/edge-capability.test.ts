import { beforeAll, describe, expect, it, vi } from "vitest";
import { type Answer, capabilities, config, configs, drained, Registry, token, tools } from "../support/registry.ts";

/** A clock that stands still: what is in memory stays good. */
const clock = Date.now();
const registry = new Registry({ now: () => clock });
const tenant = "edges";
const id = "mcp.open.alpha";
const secretId = "mcp.closed.hidden_tool";
let member: string;
let outsider: string;

const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}, who = member) =>
  registry.send(method, path, { token: who, body, headers });
const read = (path: string, options: { token?: string; headers?: Record<string, string> } = {}) =>
  registry.send("GET", path, options);
const capability = (of = id) => `/api/capabilities/${tenant}/${of}`;
const server = `/api/catalog/${tenant}/open`;
const sourceOf = ({ headers }: Answer) => headers.get("Rollcall-Source");

beforeAll(async () => {
  member = await token({ tenants: [tenant] });
  outsider = await token({ sub: "other", tenants: ["elsewhere"] });
  await send("POST", configs, { tenant, name: "open", visibility: "public" });
  await send("PUT", capabilities(tenant, "open"), tools("alpha", "beta"));
  await send("PUT", capabilities(tenant, "closed"), tools("hidden_tool"));
  await drained(tenant);
});

describe("one capability", () => {
  it("is asked of the object once, and then comes from memory to everyone who may read it", async () => {
    const elsewhere = new Registry({ now: () => clock });
    expect(sourceOf(await elsewhere.send("GET", capability()))).toBe("object");
    for (const sibling of [id, "mcp.open.beta"]) await elsewhere.send("GET", capability(sibling));
    for (const who of [undefined, member, outsider]) {
      for (const _ of [1, 2, 3]) await elsewhere.send("GET", capability(), { token: who });
      const again = await elsewhere.send("GET", capability(), { token: who });
      expect([who === undefined, again.status, sourceOf(again)]).toEqual([who === undefined, 200, "memory"]);
    }
    const { objectCalls } = elsewhere.services.usage;
    await elsewhere.send("GET", capability("mcp.open.beta"));
    const tool = { name: "get_capability", arguments: { tenant, id } };
    const asked = { jsonrpc: "2.0", id: 1, method: "tools/call", params: tool };
    const headers = { Accept: "application/json, text/event-stream", "Content-Type": "application/json" };
    expect((await elsewhere.send("POST", "/mcp", { body: asked, headers })).text).toContain(id);
    expect(elsewhere.services.usage.objectCalls).toBe(objectCalls);
  });

  it("that does not exist is asked of the object once in two seconds, and found as soon as it is written here", async () => {
    let now = clock;
    const here = new Registry({ now: () => now });
    const unknown = capability("mcp.open.unknown");
    const asked = vi.spyOn(here.services, "tenant");
    const ask = async (who?: string, headers: Record<string, string> = {}) => {
      asked.mockClear();
      const { status } = await here.send("GET", unknown, { token: who, headers });
      return [status, asked.mock.calls.length];
    };
    expect(await ask(member)).toEqual([404, 1]);
    expect(await ask(member)).toEqual([404, 0]);
    // Whoever is no member learns nothing.
    expect(await ask(outsider)).toEqual([403, 0]);
    expect(await ask(member, { "Cache-Control": "no-cache" })).toEqual([404, 1]);
    now += 2_001;
    expect(await ask(member)).toEqual([404, 1]);
    const body = tools("unknown");
    await here.send("PUT", capabilities(tenant, "late"), { token: member, body });
    expect((await here.send("GET", capability("mcp.late.unknown"), { token: member })).status).toBe(200);
  });

  it("is sent in the format that is asked for, whoever asked before", async () => {
    for (const _ of [1, 2, 3]) expect((await read(capability())).headers.get("Content-Type")).toContain("json");
    const yaml = await read(capability(), { headers: { Accept: "application/yaml" } });
    expect(yaml.headers.get("Content-Type")).toContain("yaml");
    expect((await read(capability(), { headers: { Accept: "*/*" } })).headers.get("Content-Type")).toContain("json");
  });

  it("is found where it went, and not where it was", async () => {
    await send("PUT", capabilities(tenant, "from"), { tools: [{ name: "moving", id: "moving.id" }] });
    for (const _ of [1, 2]) expect((await send("GET", capability("moving.id"))).body.data.registry.name).toBe("from");
    await send("PUT", capabilities(tenant, "from"), tools("other"));
    expect((await send("GET", capability("moving.id"))).status).toBe(404);
    await send("PUT", capabilities(tenant, "to"), { tools: [{ name: "moving", id: "moving.id" }] });
    expect((await send("GET", capability("moving.id"))).body.data.registry.name).toBe("to");
  });

  it("is gone for others once it is private, and for everyone once it is switched off", async () => {
    await send("POST", configs, { tenant, name: "narrowed", visibility: "public" });
    await send("PUT", capabilities(tenant, "narrowed"), tools("gamma"));
    const gamma = capability("mcp.narrowed.gamma");
    for (const _ of [1, 2, 3]) expect((await read(gamma)).status).toBe(200);
    const off = { items: [{ kind: "tool", name: "gamma", enabled: false }] };
    expect((await send("PATCH", capabilities(tenant, "narrowed"), off)).status).toBe(200);
    expect([(await read(gamma)).status, (await send("GET", gamma)).status]).toEqual([404, 404]);
    await send("PATCH", capabilities(tenant, "narrowed"), { items: [{ ...off.items[0], enabled: true }] });
    for (const _ of [1, 2, 3]) expect((await read(gamma)).status).toBe(200);
    await send("PATCH", config(tenant, "narrowed"), { visibility: "tenant" });
    expect([(await read(gamma)).status, (await send("GET", gamma)).status]).toEqual([401, 200]);
  });

  it("of a private server is refused alike, whether its id is known here or not", async () => {
    for (const _ of [1, 2, 3]) expect((await send("GET", capability(secretId))).status).toBe(200);
    for (const who of [undefined, outsider]) {
      const [known, unknown] = [secretId, "mcp.closed.none"].map((of) => read(capability(of), { token: who }));
      expect(await known).toMatchObject({ status: (await unknown)?.status, body: (await unknown)?.body });
    }
  });

  it("is as new as asked for", async () => {
    const strong = await read(capability(), { headers: { "Cache-Control": "no-cache" } });
    expect(sourceOf(strong)).toBe("object");
    const ahead = await send("GET", capability(), undefined, { "Rollcall-Min-Generation": "100000" });
    expect(ahead.status).toBe(412);
  });
});

describe("content by its digest", () => {
  const digests = async () => ({
    item: (await read(capability())).body.data.registry.digest as string,
    manifest: (await read(server)).body.data.registry.digest as string,
  });
  const other = `sha256-${"0".repeat(64)}`;

  it("is public and current, with flags and status of now and a tag of both, without a token", async () => {
    const { item, manifest } = await digests();
    for (const path of [`${capability()}?digest=${item}`, `${server}?digest=${manifest}`]) {
      const plain = await read(path);
      expect([plain.status, plain.headers.get("Cache-Control")]).toEqual([200, expect.stringContaining("no-cache")]);
      const etag = plain.headers.get("ETag") ?? "";
      expect(etag).toContain(path.split("digest=")[1] ?? "?");
      for (const _ of [1, 2]) expect((await read(path, { headers: { "If-None-Match": etag } })).status).toBe(304);
      await send("PATCH", config(tenant, "open"), { status: "deprecated", statusMessage: `For ${path.length}.` });
      const changed = await read(path, { headers: { "If-None-Match": etag } });
      expect([changed.status, changed.body.data.registry.status]).toEqual([200, "deprecated"]);
      await send("PATCH", config(tenant, "open"), { status: "active", statusMessage: null });
    }
  });

  it("is not found under another digest, and no more once another is current", async () => {
    const { item, manifest } = await digests();
    for (const path of [`${capability()}?digest=${other}`, `${server}?digest=${other}`]) {
      expect([(await read(path)).status, (await send("GET", path)).status]).toEqual([404, 404]);
    }
    const paths = [`${capability()}?digest=${item}`, `${server}?digest=${manifest}`];
    for (const path of paths) for (const _ of [1, 2, 3]) expect((await read(path)).status).toBe(200);
    await send("PUT", capabilities(tenant, "open"), {
      tools: [{ name: "alpha", description: "Another." }, { name: "beta" }],
    });
    for (const path of paths) expect((await read(path)).status).toBe(404);
    const now = await digests();
    expect((await read(`${server}?digest=${now.manifest}`)).status).toBe(200);
    for (const path of [`${capability()}?digest=short`, `${server}?digest=`])
      expect((await read(path)).status).toBe(400);
  });

  it("is found as soon as it is current, also where an older head is remembered", async () => {
    const behind = new Registry({ now: () => clock });
    for (const _ of [1, 2]) await behind.send("GET", server);
    await send("PUT", capabilities(tenant, "open"), { tools: [{ name: "alpha", description: "Newest." }] });
    const { item, manifest } = await digests();
    for (const path of [`${server}?digest=${manifest}`, `${capability()}?digest=${item}`]) {
      expect((await behind.send("GET", path)).status).toBe(200);
    }
  });

  it("is never private content, not for members either", async () => {
    const { digest } = (await send("GET", capability(secretId))).body.data.registry;
    const manifest = (await send("GET", capabilities(tenant, "closed"))).body.data.registry.digest;
    for (const path of [
      `${capability(secretId)}?digest=${digest}`,
      `/api/catalog/${tenant}/closed?digest=${manifest}`,
      `/api/catalog/${tenant}/none?digest=${manifest}`,
      `/api/catalog/nobody/none?digest=${manifest}`,
    ]) {
      const answers = [await read(path), await send("GET", path), await read(path, { token: outsider })];
      expect([path, answers.map(({ status }) => status)]).toEqual([path, [404, 404, 404]]);
    }
  });
});
