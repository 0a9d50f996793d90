import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { hooked, published, registry, sendEvent } from "../support/hooking.ts";
import { Registry, token, tools } from "../support/registry.ts";

const item = (tenant: string, id: string) => `/api/hooks/${tenant}/${id}`;

describe("a hook", () => {
  it("is registered with a URL and a secret that is shown once", async () => {
    const { id, bearer, secret, path } = await hooked("shown", { description: "From CI." });
    expect(secret).toMatch(/^whsec_/);
    expect(path).toBe(`/hooks/shown/${id}`);
    const shown = await registry.send("GET", item("shown", id), { token: bearer });
    expect(shown.body.data).toMatchObject({
      tenant: "shown",
      id,
      server: "s",
      format: "standard",
      signature: "secret",
      enabled: true,
      description: "From CI.",
      createdBy: "shown",
      events: ["manifest.published", "manifest.changed", "server.removed", "server.status"],
      deliveries: [],
    });
    const listed = await registry.send("GET", "/api/hooks?tenant=shown", { token: bearer });
    const { deliveries: _, ...hook } = shown.body.data;
    expect(listed.body.data).toEqual({ items: [hook], generation: 1 });
    expect(listed.headers.get("Rollcall-Generation")).toBe("1");
    expect(shown.text + listed.text).not.toContain(secret.slice(6));
  });

  it("is rotated with both secrets good in the overlap, and only the new one after", async () => {
    const hook = await hooked("rotated");
    const rotate = async (body: unknown) =>
      (await registry.send("POST", `${item("rotated", hook.id)}/rotate`, { token: hook.bearer, body })).body.data;
    const second = (await rotate({ overlapSeconds: 60 })).secret;
    expect((await sendEvent(hook, published(1, tools("a")))).status).toBe(202);
    expect((await sendEvent(hook, published(2, tools("b")), { secret: second })).status).toBe(202);
    const third = await rotate({ overlapSeconds: 0 });
    expect(third.keys).toHaveLength(1);
    expect((await sendEvent(hook, published(3, tools("c")), { secret: second })).status).toBe(401);
    expect((await sendEvent(hook, published(3, tools("c")), { secret: third.secret })).status).toBe(202);
  });

  it("that is switched off takes nothing and says so to who can prove themselves", async () => {
    const hook = await hooked("off");
    const change = (enabled: boolean) =>
      registry.send("PATCH", item("off", hook.id), { token: hook.bearer, body: { enabled } });
    expect((await change(false)).body.data.enabled).toBe(false);
    expect((await sendEvent(hook, published(1, tools("a")))).status).toBe(410);
    expect((await sendEvent(hook, published(1, tools("a")), { secret: `whsec_${btoa("x".repeat(32))}` })).status).toBe(
      401,
    );
    await change(true);
    expect((await sendEvent(hook, published(1, tools("a")))).status).toBe(202);
  });

  it("that is deleted is unknown at once, wherever it is used", async () => {
    const hook = await hooked("deleted");
    const elsewhere = new Registry();
    expect((await sendEvent(hook, published(1, tools("a")), { registry: elsewhere })).status).toBe(202);
    const deleted = await registry.send("DELETE", item("deleted", hook.id), { token: hook.bearer });
    expect([deleted.status, deleted.body.data]).toEqual([200, { tenant: "deleted", id: hook.id }]);
    expect((await sendEvent(hook, published(2, tools("b")), { registry: elsewhere })).status).toBe(401);
    expect((await registry.send("GET", item("deleted", hook.id), { token: hook.bearer })).status).toBe(404);
  });

  it("outlives its object", async () => {
    const hook = await hooked("kept");
    await sendEvent(hook, published(5, tools("a")), { message: "one" });
    await evictDurableObject(env.TENANTS.get(env.TENANTS.idFromName("kept")));
    expect((await sendEvent(hook, published(5, tools("a")), { message: "one" })).body.outcome).toBe("duplicate");
    expect((await sendEvent(hook, published(4, tools("b")))).body.outcome).toBe("stale");
  });

  it("shows its last deliveries and what became of them", async () => {
    const hook = await hooked("seen");
    await sendEvent(hook, published(1, tools("a")), { message: "good" });
    await sendEvent(hook, published(1, tools("b")), { message: "late" });
    await sendEvent(hook, published(2, { tools: [{ name: "not a name" }] }), { message: "bad" });
    await sendEvent(hook, { type: "manifest.changed", data: { sequence: 9 } }, { message: "sourceless" });
    const { deliveries } = (await registry.send("GET", item("seen", hook.id), { token: hook.bearer })).body.data;
    const outcomes = deliveries.map(({ message, outcome }: Record<string, string>) => [message, outcome]);
    expect(Object.fromEntries(outcomes)).toEqual({
      good: "applied",
      late: "stale",
      bad: "refused",
      sourceless: "refused",
    });
    expect(deliveries.find(({ message }: { message: string }) => message === "bad").reason).toContain("/tools/0/name");
  });
});

describe("permission for hooks", () => {
  it.each([
    ["GET", "/api/hooks?tenant=guarded"],
    ["POST", "/api/hooks"],
    ["GET", "/api/hooks/guarded/x"],
    ["PATCH", "/api/hooks/guarded/x"],
    ["POST", "/api/hooks/guarded/x/rotate"],
    ["DELETE", "/api/hooks/guarded/x"],
  ])("%s %s needs a token with the tenant and the scope", async (method, path) => {
    const body = method === "GET" || method === "DELETE" ? {} : { body: { tenant: "guarded", server: "s" } };
    const status = async (bearer?: string) =>
      (await registry.send(method, path, { ...body, ...(bearer ? { token: bearer } : {}) })).status;
    expect(await status()).toBe(401);
    expect(await status(await token({ tenants: ["other"] }))).toBe(403);
    expect(await status(await token({ tenants: ["guarded"], scope: "registry:read" }))).toBe(403);
  });

  it("comes before whether the hook exists", async () => {
    const { id } = await hooked("private");
    const outsider = await token({ tenants: ["other"] });
    const [there, absent] = await Promise.all(
      [id, crypto.randomUUID()].map((hook) => registry.send("GET", item("private", hook), { token: outsider })),
    );
    expect([there?.status, there?.text]).toEqual([403, absent?.text]);
  });
});

describe("a bad request for a hook", () => {
  it.each([
    ["no server", { server: undefined }, 422, "/server"],
    ["a bad server", { server: "a/b" }, 422, "/server"],
    ["an unknown server", { server: "nowhere" }, 404, "MCP server not found"],
    ["an unknown event", { events: ["manifest.deleted"] }, 422, "/events/0"],
    ["no events", { events: [] }, 422, "/events"],
    ["an unknown format", { format: "gitlab" }, 422, "/format"],
    ["an unknown key", { secret: "mine" }, 422, "secret"],
    ["a public key under which anything verifies", { publicKey: `whpk_${"A".repeat(43)}=` }, 422, "small order"],
    ["a public key that is none", { publicKey: "whpk_x" }, 422, "/publicKey is not a usable Ed25519 key"],
    [
      "a public key for GitHub",
      { format: "github", publicKey: "whpk_x" },
      422,
      "/publicKey is not for the format github",
    ],
    ["an invisible character", { description: "a\u200bb" }, 422, "/description"],
  ])("with %s is refused by name", async (_, request, expected, message) => {
    const { bearer } = await hooked("picky");
    const body = { tenant: "picky", server: "s", ...request };
    const answer = await registry.send("POST", "/api/hooks", { token: bearer, body });
    expect(answer.status).toBe(expected);
    expect(answer.body.error.message).toContain(message);
  });

  it("to change nothing is refused", async () => {
    const { id, bearer } = await hooked("still");
    const answer = await registry.send("PATCH", item("still", id), { token: bearer, body: {} });
    expect([answer.status, answer.body.error.message]).toEqual([
      422,
      expect.stringContaining("Set at least one of: enabled, description"),
    ]);
  });

  it("to rotate may come without a body", async () => {
    const { id, bearer } = await hooked("bare");
    const answer = await registry.send("POST", `${item("bare", id)}/rotate`, { token: bearer, body: "" });
    expect([answer.status, answer.body.data.keys.length]).toEqual([200, 2]);
  });

  it.each([
    [{ overlapSeconds: -1 }, "/overlapSeconds"],
    [{ overlapSeconds: 1e9 }, "/overlapSeconds"],
    [{ publicKey: "whpk_AAAA" }, "/publicKey"],
    [{ overlap: 1 }, "overlap"],
  ])("to rotate with %j is refused", async (body, message) => {
    const { id, bearer } = await hooked("stiff");
    const answer = await registry.send("POST", `${item("stiff", id)}/rotate`, { token: bearer, body });
    expect(answer.status).toBe(422);
    expect(answer.body.error.message).toContain(message);
  });
});
