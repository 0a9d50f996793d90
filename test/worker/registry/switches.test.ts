import { beforeAll, describe, expect, it } from "vitest";
import { capabilities, config, configs, Registry, token, tools } from "../support/registry.ts";

const clock = Date.now();
const registry = new Registry({ now: () => clock });

interface Item {
  kind: string;
  name: string;
  enabled?: boolean;
}

/** Publishes to one tenant and turns its items on and off. */
async function operator(tenant: string) {
  const mine = await token({ tenants: [tenant] });
  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    registry.send(method, path, { token: mine, headers, ...(body === undefined ? {} : { body }) });
  const view = (name: string) => send("GET", capabilities(tenant, name));
  return {
    send,
    view,
    publish: (name: string, manifest: unknown) => send("PUT", capabilities(tenant, name), manifest),
    flip: (name: string, items: Item[], headers?: Record<string, string>) =>
      send("PATCH", capabilities(tenant, name), { items }, headers),
    shown: async (name: string) => (await view(name)).body.data.tools.map((tool: Item) => tool.name) as string[],
    disabled: async (name: string) => (await send("GET", config(tenant, name))).body.data.registry.disabled as Item[],
  };
}
type Operator = Awaited<ReturnType<typeof operator>>;

const off = (name: string, kind = "tool") => [{ kind, name, enabled: false }];
const on = (name: string, kind = "tool") => [{ kind, name, enabled: true }];

describe("switching an item off", () => {
  let flip: Operator;
  beforeAll(async () => {
    flip = await operator("flip");
  });

  it("takes it out of the view, and says so where the server is described", async () => {
    const published = (await flip.publish("s", tools("flip_a", "flip_b"))).body.data;
    const before = await flip.view("s");
    const { status, body, headers } = await flip.flip("s", off("flip_a"));
    expect(status).toBe(200);
    expect(body.data).toEqual({
      generation: published.generation + 1,
      changed: true,
      effectiveBy: new Date(clock + 80_000).toISOString(),
    });
    expect(headers.get("Rollcall-Generation")).toBe(String(published.generation + 1));

    const after = await flip.view("s");
    expect(after.body.data.tools).toEqual([before.body.data.tools[1]]);
    expect(after.body.data.registry.digest).toBe(published.digest);
    expect(after.body.data.registry.tokens).toBeLessThan(before.body.data.registry.tokens);
    expect(headers.get("ETag")).toBe(after.headers.get("ETag"));
    expect(after.headers.get("ETag")).not.toBe(before.headers.get("ETag"));
    expect(await flip.disabled("s")).toEqual([{ kind: "tool", name: "flip_a" }]);
    const { capabilities: index } = (
      await flip.send("GET", `${capabilities("flip", "s")}/revisions/${published.digest}`)
    ).body.data;
    expect(index.map(({ name, enabled }: Item) => [name, enabled])).toEqual([
      ["flip_a", false],
      ["flip_b", true],
    ]);
  });

  it("and on again brings it back as it was", async () => {
    await flip.publish("back", tools("flip_c", "flip_d"));
    const before = await flip.view("back");
    await flip.flip("back", off("flip_c"));
    const { body } = await flip.flip("back", on("flip_c"));
    // Nothing is taken away, so there is nothing to wait for.
    expect(body.data).toEqual({ generation: expect.any(Number), changed: true });
    const after = await flip.view("back");
    expect(after.body).toEqual(before.body);
    expect(after.headers.get("ETag")).not.toBe(before.headers.get("ETag"));
    expect(await flip.disabled("back")).toEqual([]);
  });

  it("is known to whoever holds a tag of the revision", async () => {
    const { digest } = (await flip.publish("pinned", tools("flip_pinned"))).body.data;
    const path = `${capabilities("flip", "pinned")}/revisions/${digest}`;
    const etag = (await flip.send("GET", path)).headers.get("ETag") ?? "";
    await flip.flip("pinned", off("flip_pinned"));
    const again = await flip.send("GET", path, undefined, { "If-None-Match": etag });
    expect([again.status, again.body?.data.capabilities[0].enabled]).toEqual([200, false]);
  });

  it("that is off already changes nothing", async () => {
    await flip.publish("twice", tools("flip_e"));
    const first = await flip.flip("twice", off("flip_e"));
    const etag = (await flip.view("twice")).headers.get("ETag");
    const second = await flip.flip("twice", off("flip_e"));
    expect(second.body.data).toEqual({ generation: first.body.data.generation, changed: false });
    expect((await flip.view("twice")).headers.get("ETag")).toBe(etag);
  });

  it("is logged as breaking, and on again as additive", async () => {
    await flip.publish("logged", tools("flip_logged"));
    const start = (await flip.send("GET", "/api/changes/flip?limit=1000")).body.data.nextSince;
    await flip.flip("logged", off("flip_logged"));
    await flip.flip("logged", on("flip_logged"));
    const { items } = (await flip.send("GET", `/api/changes/flip?since=${start}`)).body.data;
    expect(items).toMatchObject([
      {
        server: "logged",
        kind: "tool",
        name: "flip_logged",
        classification: "breaking",
        breaking: true,
        reasons: [{ message: "switched off" }],
      },
      {
        server: "logged",
        kind: "tool",
        name: "flip_logged",
        classification: "additive",
        breaking: false,
        reasons: [{ message: "switched on" }],
      },
    ]);
  });

  it.each([
    ["prompt", "flip_p", "prompts"],
    ["resource", "flip://r", "resources"],
    ["resourceTemplate", "flip://{t}", "resourceTemplates"],
    ["generator", "flip-g", "generators"],
    ["operation", "flip_o", "operations"],
  ])("works for a %s", async (kind, name, section) => {
    const manifest = {
      prompts: [{ name: "flip_p" }],
      resources: [{ uri: "flip://r" }],
      resourceTemplates: [{ uriTemplate: "flip://{t}" }],
      generators: [{ type: "flip-g" }],
      operations: [{ name: "flip_o" }],
    };
    const server = `kind-${kind}`;
    await flip.publish(server, { ...manifest, operations: kind === "operation" ? manifest.operations : [] });
    expect((await flip.view(server)).body.data[section]).toHaveLength(1);
    expect((await flip.flip(server, off(name, kind))).status).toBe(200);
    expect((await flip.view(server)).body.data[section] ?? []).toEqual([]);
  });

  it("does not touch an item of another kind or server with the same name", async () => {
    await flip.publish("same", { ...tools("flip_same"), prompts: [{ name: "flip_same" }] });
    await flip.publish("same-too", tools("flip_same"));
    await flip.flip("same", off("flip_same", "prompt"));
    expect(await flip.shown("same")).toEqual(["flip_same"]);
    await flip.flip("same", off("flip_same"));
    expect(await flip.shown("same-too")).toEqual(["flip_same"]);
  });
});

describe("a request to switch", () => {
  let strict: Operator;
  beforeAll(async () => {
    strict = await operator("strict");
    await strict.publish("s", tools("strict_a", "strict_b"));
  });

  it("takes several at once, all or none", async () => {
    const both = [...off("strict_a"), ...off("strict_b")];
    const { body } = await strict.flip("s", both);
    expect(await strict.shown("s")).toEqual([]);
    await strict.flip(
      "s",
      both.map((item) => ({ ...item, enabled: true })),
    );
    const generation = (await strict.view("s")).headers.get("Rollcall-Generation");
    expect(Number(generation)).toBe(body.data.generation + 1);

    for (const stray of [off("strict_none"), off("strict_a", "prompt"), off("STRICT_A"), off("constructor")]) {
      const refused = await strict.flip("s", [...off("strict_a"), ...stray]);
      expect([refused.status, refused.body.error.code]).toEqual([404, "ErrorCapabilityNotFound"]);
      expect(refused.body.error.message).toContain(JSON.stringify(stray[0]?.name));
    }
    expect(await strict.shown("s")).toEqual(["strict_a", "strict_b"]);
    expect((await strict.view("s")).headers.get("Rollcall-Generation")).toBe(generation);
  });

  it("is 404 for a server that is not there or has nothing", async () => {
    expect((await strict.flip("none", off("strict_a"))).body.error.code).toBe("ErrorMCPServerNotFound");
    await strict.send("POST", configs, { tenant: "strict", name: "empty" });
    expect((await strict.flip("empty", off("strict_a"))).body.error.code).toBe("ErrorCapabilityNotFound");
  });

  it("takes If-Match", async () => {
    await strict.publish("tagged", tools("strict_tagged"));
    const etag = (await strict.view("tagged")).headers.get("ETag") ?? "";
    expect((await strict.flip("tagged", off("strict_tagged"), { "If-Match": etag })).status).toBe(200);
    const late = await strict.flip("tagged", on("strict_tagged"), { "If-Match": etag });
    expect([late.status, late.body.error.code]).toEqual([412, "ErrorPreconditionFailed"]);
    expect(await strict.shown("tagged")).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["no items", {}, "/items"],
    ["an empty list", { items: [] }, "/items"],
    ["more than 1,000", { items: Array(1_001).fill({ kind: "tool", name: "strict_a", enabled: true }) }, "/items"],
    ["an unknown kind", { items: [{ kind: "widget", name: "strict_a", enabled: false }] }, "/items/0/kind"],
    ["no name", { items: [{ kind: "tool", enabled: false }] }, "/items/0/name"],
    ["enabled as text", { items: [{ kind: "tool", name: "strict_a", enabled: "false" }] }, "/items/0/enabled"],
    ["an unknown key", { items: [{ kind: "tool", name: "strict_a", enabled: false, until: "noon" }] }, "/items/0"],
    ["an unknown key beside items", { items: off("strict_a"), all: true }, ""],
  ])("is 422 with a pointer for %s", async (_, body, path) => {
    const { status, body: answer } = await strict.send("PATCH", capabilities("strict", "s"), body);
    expect([status, answer.error.details.issues[0].path]).toEqual([422, path]);
    expect(await strict.shown("s")).toEqual(["strict_a", "strict_b"]);
  });

  it("takes no query", async () => {
    const { status } = await strict.send("PATCH", `${capabilities("strict", "s")}?partial=true`, {
      items: off("strict_a"),
    });
    expect(status).toBe(400);
  });
});

describe("an item that is off", () => {
  let stay: Operator;
  beforeAll(async () => {
    stay = await operator("stay");
  });

  it("stays off when its server is published again, changed or not", async () => {
    await stay.publish("s", tools("stay_a", "stay_b"));
    await stay.flip("s", off("stay_a"));
    await stay.publish("s", tools("stay_a", "stay_b"));
    expect(await stay.shown("s")).toEqual(["stay_b"]);
    await stay.publish("s", { tools: [{ name: "stay_a", description: "Another text." }, { name: "stay_b" }] });
    expect(await stay.shown("s")).toEqual(["stay_b"]);
  });

  it("stays off when it leaves and comes back", async () => {
    await stay.publish("gone", tools("stay_c", "stay_d"));
    await stay.flip("gone", off("stay_c"));
    await stay.publish("gone", tools("stay_d"));
    await stay.publish("gone", tools("stay_c", "stay_d"));
    expect(await stay.shown("gone")).toEqual(["stay_d"]);
    await stay.flip("gone", on("stay_c"));
    expect(await stay.shown("gone")).toEqual(["stay_c", "stay_d"]);
  });

  it("stays off when the server's settings change, and not when the server is deleted", async () => {
    await stay.publish("settings", tools("stay_e"));
    await stay.flip("settings", off("stay_e"));
    await stay.send("PUT", configs, { tenant: "stay", name: "settings", title: "T" });
    expect(await stay.shown("settings")).toEqual([]);
    await stay.send("DELETE", config("stay", "settings"));
    await stay.publish("settings", tools("stay_e"));
    expect(await stay.shown("settings")).toEqual(["stay_e"]);
  });
});

describe("publishing with enabled", () => {
  let push: Operator;
  beforeAll(async () => {
    push = await operator("push");
  });
  const item = (name: string, enabled?: boolean) => ({
    ...tools(name).tools[0],
    ...(enabled === undefined ? {} : { enabled }),
  });

  it("false switches the item off from the start", async () => {
    const { status, body } = await push.publish("new", { tools: [item("push_a", false), item("push_b", true)] });
    expect(status).toBe(201);
    expect(await push.shown("new")).toEqual(["push_b"]);
    expect(await push.disabled("new")).toEqual([{ kind: "tool", name: "push_a" }]);
    const plain = await push.publish("plain", tools("push_a", "push_b"));
    expect(plain.body.data.digest).toBe(body.data.digest);
  });

  it("false moves the overlay alone, and true does not undo it: every answer says true", async () => {
    const first = (await push.publish("overlay", tools("push_c"))).body.data;
    const before = await push.view("overlay");
    const second = (await push.publish("overlay", { tools: [item("push_c", false)] })).body.data;
    expect(second).toMatchObject({
      outcome: "changed",
      digest: first.digest,
      generation: first.generation + 1,
      changes: { breaking: 1 },
    });
    const after = await push.view("overlay");
    expect([after.body.data.tools, after.headers.get("ETag") === before.headers.get("ETag")]).toEqual([[], false]);
    expect((await push.send("GET", `${capabilities("push", "overlay")}/revisions`)).body.data.items).toHaveLength(1);
    await push.publish("overlay", { tools: [item("push_c", true)] });
    expect(await push.shown("overlay")).toEqual([]);
  });

  it("false says by when the item is gone everywhere, as any switching off does", async () => {
    await push.publish("until", tools("push_d", "push_e"));
    const same = await push.publish("until", { tools: [item("push_d", false), item("push_e")] });
    expect(same.body.data.effectiveBy).toBe(new Date(clock + 80_000).toISOString());
    const changed = await push.publish("until", { tools: [item("push_e", false), item("push_f")] });
    expect(changed.body.data.effectiveBy).toBe(new Date(clock + 80_000).toISOString());
    const nothing = await push.publish("until", { tools: [item("push_e"), item("push_f"), item("push_g")] });
    expect(nothing.body.data.effectiveBy).toBeUndefined();
  });

  it("absent leaves the item as it is", async () => {
    await push.publish("absent", { tools: [item("push_h", false), item("push_i")] });
    await push.publish("absent", { tools: [item("push_h"), item("push_i"), item("push_j")] });
    expect(await push.shown("absent")).toEqual(["push_i", "push_j"]);
  });

  it("as anything but true or false is refused", async () => {
    for (const enabled of ["false", 0, null]) {
      const { status, body } = await push.publish("odd", { tools: [{ name: "push_k", enabled }] });
      expect([enabled, status, body.error.details.issues[0].path]).toEqual([enabled, 422, "/tools/0/enabled"]);
    }
  });
});
