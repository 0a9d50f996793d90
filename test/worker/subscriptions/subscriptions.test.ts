import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { capabilities, config, configs, drained, tools } from "../support/registry.ts";
import { isSignedWith, type Receiver } from "./receiver.ts";
import {
  arrived,
  failureOf,
  idle,
  list,
  newTenant,
  one,
  publish,
  receiver,
  send,
  show,
  subscribe,
  tenant,
  url,
} from "./subscriber.ts";

beforeEach(newTenant);

describe("a subscription", () => {
  it("is told of a publish, right after it", async () => {
    const { status, body, headers } = await subscribe({ description: "The build" });
    expect(status).toBe(201);
    expect(headers.get("Cache-Control")).toBe("no-store");
    expect(body.data).toEqual({
      tenant,
      id: expect.stringMatching(/^sub_[0-9a-f]{32}$/),
      url,
      filters: {},
      description: "The build",
      state: "active",
      since: body.data.createdAt,
      pending: 0,
      dropped: 0,
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      createdBy: "tester",
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const published = await publish("add");
    await arrived(1);
    expect(receiver.last.url).toBe(url);
    expect(receiver.last.body.data).toMatchObject({ tenant, generation: published.body.data.generation });
    expect(receiver.last.body.data.changes).toMatchObject([{ server: "s", kind: "tool", name: "add" }]);
    expect(await isSignedWith(body.data.secret, receiver.last, Date.now())).toBe(true);
    await idle(body.data.id);
    expect(await show(body.data.id)).toMatchObject({
      attempts: [{ message: receiver.last.id, attempt: 1, status: 200 }],
    });
  });

  it("is told once a generation, and nothing of a publish that changed nothing", async () => {
    const { id } = (await subscribe()).body.data;
    await publish("add");
    await publish("add");
    await publish("add", "sub");
    await publish("add", "sub");
    await arrived(2);
    await idle(id);
    await drained(tenant);
    expect(receiver.received.map(({ body }) => body.data.generation).sort()).toEqual([1, 2]);
  });

  it("is not told of what happened before it", async () => {
    await publish("add");
    const { id } = (await subscribe()).body.data;
    await publish("add");
    await drained(tenant);
    expect(await show(id)).toMatchObject({ pending: 0, attempts: [] });
    expect(receiver.received).toEqual([]);
  });

  it("does not keep a write waiting, nor the head that follows from it", async () => {
    const answered = Promise.withResolvers<Response>();
    receiver.answer = () => answered.promise;
    const { id } = (await subscribe()).body.data;
    for (const name of ["a", "b", "c"]) expect((await publish(name)).status).toBeLessThan(300);
    await arrived(1);
    await drained(tenant);
    expect(await env.REGISTRY.get(`head/${tenant}/s`, "json")).toMatchObject({ generation: 3 });
    expect(await show(id)).toMatchObject({ pending: 3 });
    answered.resolve(new Response(null));
    await idle(id);
  });

  it("shows its secret once, and never in a log", async () => {
    const lines: unknown[] = [];
    const spies = (["log", "error", "warn"] as const).map((level) =>
      vi.spyOn(console, level).mockImplementation((...line) => void lines.push(...line)),
    );
    receiver.answer = (_, count) => (count === 1 ? 500 : 410);
    const { id, secret } = (await subscribe()).body.data;
    const next = (await send("POST", `${one(id)}/rotate`)).body.data.secret;
    await send("POST", `${one(id)}/test`);
    await publish("add");
    await vi.waitFor(async () => expect(await show(id)).toMatchObject({ state: "disabled", reason: "gone" }));
    for (const spy of spies) spy.mockRestore();
    const said = [
      JSON.stringify(lines),
      (await send("GET", one(id))).text,
      (await send("GET", `${list}?tenant=${tenant}`)).text,
      (await send("PATCH", one(id), { enabled: true })).text,
    ].join();
    expect(lines.length).toBeGreaterThan(0);
    for (const hidden of [secret, next, secret.slice(6), next.slice(6)]) expect(said).not.toContain(hidden);
    expect(JSON.stringify(lines)).not.toContain("of-its-own");
  });

  it("is one of a list", async () => {
    expect((await send("GET", `${list}?tenant=${tenant}`)).body.data).toEqual({ items: [], generation: 0 });
    const first = (await subscribe()).body.data;
    const second = (await subscribe({ url: "https://receiver.example/other" })).body.data;
    await publish("add");
    const { status, body, headers } = await send("GET", `${list}?tenant=${tenant}`);
    expect([status, headers.get("Rollcall-Generation")]).toEqual([200, "1"]);
    expect(body.data.generation).toBe(1);
    expect(body.data.items.map((item: { id: string }) => item.id).sort()).toEqual([first.id, second.id].sort());
    for (const item of body.data.items) {
      expect(item).not.toHaveProperty("attempts");
      expect(item).not.toHaveProperty("secret");
    }
  });

  it("is one of a hundred at most", async () => {
    for (let count = 0; count < 100; count += 1) expect((await subscribe()).status).toBe(201);
    const refused = await subscribe();
    expect(failureOf(refused)).toEqual([409, "ErrorTooManySubscriptions"]);
    const { items } = (await send("GET", `${list}?tenant=${tenant}`)).body.data;
    await send("DELETE", one(items[0].id));
    expect((await subscribe()).status).toBe(201);
  });

  it("is gone when it is deleted, with all that waits for it", async () => {
    receiver.answer = () => 500;
    const { id } = (await subscribe()).body.data;
    await publish("add");
    await vi.waitFor(async () => expect((await show(id)).attempts).toHaveLength(1));
    const { status, body } = await send("DELETE", one(id));
    expect([status, body.data]).toEqual([200, { tenant, id }]);
    expect(failureOf(await send("GET", one(id)))).toEqual([404, "ErrorSubscriptionNotFound"]);
    await publish("add", "sub");
    const left = await runInDurableObject(env.TENANTS.get(env.TENANTS.idFromName(tenant)), (_, { storage }) =>
      ["subscription", "delivery", "delivery_attempt"].map(
        (table) => storage.sql.exec(`SELECT count(*) AS n FROM ${table}`).one().n,
      ),
    );
    expect(left).toEqual([0, 0, 0]);
    expect(receiver.received).toHaveLength(1);
  });
});

describe("filters", () => {
  const told = () => receiver.received.flatMap(({ body }) => body.data.changes.map((c: { name: string }) => c.name));

  it("choose servers", async () => {
    await subscribe({ filters: { servers: ["wanted"] } });
    await send("PUT", capabilities(tenant, "other"), tools("a"));
    await send("PUT", capabilities(tenant, "wanted"), tools("b"));
    await arrived(1);
    expect(told()).toEqual(["b"]);
  });

  it("choose kinds, the server's own changes among them", async () => {
    await subscribe({ filters: { kinds: ["server"] } });
    await send("POST", configs, { tenant, name: "s", visibility: "public" });
    await publish("add");
    await send("PUT", configs, { tenant, name: "s", visibility: "tenant" });
    await send("DELETE", config(tenant, "s"));
    await arrived(3);
    const changes = receiver.received
      .sort((a, b) => a.body.data.generation - b.body.data.generation)
      .flatMap(({ body }) => body.data.changes);
    expect(changes).toMatchObject([
      { kind: "server", name: "s", classification: "additive" },
      { kind: "server", name: "s", classification: "breaking", reasons: [{ path: "/visibility" }] },
      { kind: "server", name: "s", classification: "removed" },
    ]);
  });

  it.each([
    [["additive"], ["a", "b", "c"]],
    [["removed"], ["b"]],
    // A removal breaks whoever used it.
    [["breaking"], ["b"]],
    [
      ["cosmetic", "removed"],
      ["a", "b"],
    ],
  ])("choose classifications: %j", async (classifications, expected) => {
    const { id } = (await subscribe({ filters: { classifications } })).body.data;
    await publish("a", "b");
    const reworded = tools("a", "c");
    await send("PUT", capabilities(tenant, "s"), {
      tools: reworded.tools.map((tool) => (tool.name === "a" ? { ...tool, description: "Reworded." } : tool)),
    });
    await drained(tenant);
    await idle(id);
    expect(told().sort()).toEqual(expected);
  });

  it("choose advisory changes: those of a status, without those of other settings", async () => {
    await subscribe({ filters: { classifications: ["advisory"] } });
    await publish("a");
    await send("PATCH", config(tenant, "s"), { title: "T" });
    await send("PATCH", config(tenant, "s"), { title: "U", status: "deprecated", statusMessage: "Old." });
    await arrived(1);
    expect(receiver.received.flatMap(({ body }) => body.data.changes)).toMatchObject([
      { kind: "server", name: "s", classification: "advisory", breaking: false, reasons: [{ path: "/status" }] },
    ]);
  });

  it("may name every class there is", async () => {
    const classifications = ["breaking", "additive", "cosmetic", "removed", "advisory"];
    expect((await subscribe({ filters: { classifications } })).status).toBe(201);
    expect((await subscribe({ filters: { classifications: [...classifications, "removed"] } })).status).toBe(422);
  });

  it("must all agree", async () => {
    await subscribe({ filters: { servers: ["s"], kinds: ["tool"], classifications: ["removed"] } });
    await send("PUT", capabilities(tenant, "other"), tools("x"));
    await send("PUT", capabilities(tenant, "other"), tools("y"));
    await publish("a", "b");
    await publish("b");
    await arrived(1);
    expect(told()).toEqual(["a"]);
  });
});

describe("changing a subscription", () => {
  it("stops it and starts it again", async () => {
    const { id } = (await subscribe()).body.data;
    const stopped = await send("PATCH", one(id), { enabled: false });
    expect(stopped.body.data).toMatchObject({ tenant, id, state: "disabled", reason: "paused" });
    await publish("add");
    const started = await send("PATCH", one(id), { enabled: true });
    expect(started.body.data).toMatchObject({ state: "active", pending: 0 });
    expect(started.body.data).not.toHaveProperty("reason");
    // To start what runs, or to stop what stands, changes nothing.
    expect((await send("PATCH", one(id), { enabled: true })).body.data).toEqual(started.body.data);
    await publish("add", "sub");
    await arrived(1);
    expect(receiver.last.body.data.generation).toBe(2);
  });

  it("sends what waited to the new address at once", async () => {
    receiver.answer = (message) => (message.url.endsWith("/mended") ? 200 : 410);
    const { id } = (await subscribe()).body.data;
    await publish("add");
    await vi.waitFor(async () => expect(await show(id)).toMatchObject({ state: "disabled", reason: "gone" }));
    const mended = "https://receiver.example/mended";
    expect((await send("PATCH", one(id), { url: mended })).body.data).toMatchObject({ url: mended, state: "disabled" });
    expect((await send("PATCH", one(id), { enabled: true })).body.data).toMatchObject({ state: "active" });
    await idle(id);
    expect(receiver.received.map((message) => [message.url, message.id])).toEqual([
      [url, `msg_1_${id}`],
      [mended, `msg_1_${id}`],
    ]);
  });

  it("replaces filters whole, and forgets what waited and is no longer asked for", async () => {
    receiver.answer = () => 500;
    const { id } = (await subscribe()).body.data;
    await publish("add");
    await send("DELETE", config(tenant, "s"));
    await vi.waitFor(async () => expect(await show(id)).toMatchObject({ pending: 2, attempts: [{}, {}] }));
    const { body } = await send("PATCH", one(id), { filters: { kinds: ["server"] }, description: "Only servers" });
    expect(body.data).toMatchObject({ filters: { kinds: ["server"] }, description: "Only servers", pending: 1 });
    expect((await send("PATCH", one(id), { filters: {} })).body.data).toMatchObject({ filters: {}, dropped: 0 });
  });
});

describe("rotating a secret", () => {
  const rotate = async (id: string, body?: unknown) => (await send("POST", `${one(id)}/rotate`, body)).body.data;
  /** Which of these sign now. */
  const signing = async (...secrets: string[]) => {
    const before = receiver.received.length;
    const { items } = (await send("GET", `${list}?tenant=${tenant}`)).body.data;
    await send("POST", `${one(items[0].id)}/test`);
    await arrived(before + 1);
    return Promise.all(secrets.map((secret) => isSignedWith(secret, receiver.last, Date.now())));
  };

  it("signs with both for a day", async () => {
    const { id, secret } = (await subscribe()).body.data;
    const { secret: next, overlapUntil, ...rest } = await rotate(id);
    expect(rest).toEqual({ tenant, id });
    expect(Math.abs(Date.parse(overlapUntil) - Date.now() - 86_400_000)).toBeLessThan(5_000);
    expect(next).not.toBe(secret);
    expect(await signing(secret, next)).toEqual([true, true]);
    expect(receiver.last.signature.split(" ")).toHaveLength(2);
  });

  it("ends the earlier ones at once where there is no overlap", async () => {
    const { id, secret } = (await subscribe()).body.data;
    const { secret: second } = await rotate(id);
    const { secret: third } = await rotate(id, { overlapSeconds: 0 });
    expect(await signing(secret, second, third)).toEqual([false, false, true]);
  });

  it("ends the earlier one with its overlap", async () => {
    const { id, secret } = (await subscribe()).body.data;
    const { secret: next } = await rotate(id, { overlapSeconds: 1 });
    await vi.waitFor(async () => expect(await signing(secret, next)).toEqual([false, true]), { timeout: 5_000 });
  });

  it("keeps as many signatures as a receiver will look at", async () => {
    const { id, secret } = (await subscribe()).body.data;
    const made = [secret];
    for (let count = 0; count < 6; count += 1) made.push((await rotate(id, { overlapSeconds: 604_800 })).secret);
    expect(await signing(...made)).toEqual([false, false, false, true, true, true, true]);
  });
});

describe("testing a subscription", () => {
  it("sends one message for one Idempotency-Key", async () => {
    const { id } = (await subscribe()).body.data;
    const test = (key: string) => send("POST", `${one(id)}/test`, undefined, { "Idempotency-Key": key });
    const first = await test("k1");
    expect((await test("k1")).body.data).toEqual(first.body.data);
    expect((await show(id)).attempts).toHaveLength(1);
    await test("k2");
    expect((await show(id)).attempts).toHaveLength(2);
  });

  it("sends one message now and says what came of it", async () => {
    const { id, secret } = (await subscribe()).body.data;
    const { status, body } = await send("POST", `${one(id)}/test`);
    expect([status, body.data]).toEqual([
      200,
      { delivered: true, message: receiver.last.id, at: expect.any(String), attempt: 1, status: 200 },
    ]);
    expect(receiver.last.id).toMatch(/^msg_test_/);
    expect(receiver.last.body).toEqual({
      type: "subscription.test",
      timestamp: body.data.at,
      data: { tenant, subscription: id },
    });
    expect(await isSignedWith(secret, receiver.last, Date.now())).toBe(true);
    expect((await show(id)).attempts).toMatchObject([{ message: receiver.last.id, status: 200 }]);
  });

  it.each<[string, Receiver["answer"], Record<string, unknown>]>([
    ["an answer that is none of success", () => 503, { delivered: false, status: 503 }],
    ["a redirect", () => 302, { delivered: false, status: 302 }],
    ["nobody there", () => Promise.reject(new Error("refused")), { delivered: false, failure: "unreachable" }],
  ])("tells of %s, and leaves it at that", async (_, answer, expected) => {
    receiver.answer = answer;
    const { id } = (await subscribe()).body.data;
    expect((await send("POST", `${one(id)}/test`)).body.data).toMatchObject(expected);
    expect(await show(id)).toMatchObject({ state: "active", pending: 0 });
    expect(receiver.received).toHaveLength(1);
  });

  it("works on one that is stopped, and does not start or stop it", async () => {
    const { id } = (await subscribe()).body.data;
    receiver.answer = () => 410;
    await send("POST", `${one(id)}/test`);
    expect(await show(id)).toMatchObject({ state: "active" });
    await send("PATCH", one(id), { enabled: false });
    receiver.answer = () => 200;
    expect((await send("POST", `${one(id)}/test`)).body.data).toMatchObject({ delivered: true });
    expect(await show(id)).toMatchObject({ state: "disabled", reason: "paused" });
  });

  it("is done one at a time", async () => {
    const answered = Promise.withResolvers<Response>();
    receiver.answer = () => answered.promise;
    const { id } = (await subscribe()).body.data;
    const first = send("POST", `${one(id)}/test`);
    await arrived(1);
    const second = await send("POST", `${one(id)}/test`);
    expect(failureOf(second)).toEqual([429, "ErrorTooManyRequests"]);
    expect(second.headers.get("Retry-After")).toBe("15");
    answered.resolve(new Response(null));
    expect((await first).body.data).toMatchObject({ delivered: true });
  });
});
