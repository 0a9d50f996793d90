import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { judgeAddress } from "../../../src/outbound/address.ts";
import { addressPolicyFor } from "../../../src/subscriptions/subscriptions.ts";
import { type Answer, capabilities, config, configs, drained, Registry, token, tools } from "../support/registry.ts";
import { isSignedWith, Receiver, standInForTheNetwork } from "./receiver.ts";

const registry = new Registry();
const receivers = standInForTheNetwork();
const list = "/api/subscriptions";
const url = "https://receiver.example/in?key=of-its-own";
let tenant: string;
let member: string;
let receiver: Receiver;
let round = 0;

beforeEach(async () => {
  tenant = `subscribed-${++round}`;
  member = await token({ tenants: [tenant] });
  receiver = new Receiver();
  receivers.set(tenant, receiver);
});

const send = (method: string, path: string, body?: unknown) =>
  registry.send(method, path, { token: member, ...(body === undefined ? {} : { body }) });
const subscribe = (more: Record<string, unknown> = {}) => send("POST", list, { tenant, url, ...more });
const one = (id: string) => `${list}/${tenant}/${id}`;
const show = async (id: string) => (await send("GET", one(id))).body.data;
const publish = (...names: string[]) => send("PUT", capabilities(tenant, "s"), tools(...names));
const failureOf = ({ status, body }: Answer) => [status, body.error.code];
const arrived = (count: number) => vi.waitFor(() => expect(receiver.received).toHaveLength(count));
const idle = (id: string) => vi.waitFor(async () => expect((await show(id)).pending).toBe(0));

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
    await arrived(2);
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

describe("permission", () => {
  const routes = (id: string) =>
    [
      ["POST", list, { tenant, url }],
      ["POST", list, { tenant, url: "http://10.0.0.1/", odd: true }],
      ["GET", `${list}?tenant=${tenant}`],
      ["GET", one(id)],
      ["PATCH", one(id), { enabled: false }],
      ["PATCH", one(id), { enabled: "?" }],
      ["POST", `${one(id)}/rotate`, {}],
      ["POST", `${one(id)}/test`],
      ["DELETE", one(id)],
    ] as const;

  it("is asked before existence, and for each route", async () => {
    const { id } = (await subscribe()).body.data;
    const before = await show(id);
    const stranger = await token({ sub: "stranger", tenants: ["elsewhere"] });
    const reader = await token({ sub: "reader", tenants: [tenant], scope: "registry:read" });
    for (const [method, path, body] of [...routes(id), ...routes("sub_none")]) {
      const ask = async (who?: string) => {
        const options = { ...(who === undefined ? {} : { token: who }), ...(body === undefined ? {} : { body }) };
        return failureOf(await registry.send(method, path, options));
      };
      expect([method, path, await ask()]).toEqual([method, path, [401, "ErrorUnauthorized"]]);
      expect([method, path, await ask(stranger)]).toEqual([method, path, [403, "ErrorTenantPermissionError"]]);
      expect([method, path, await ask(reader)]).toEqual([method, path, [403, "ErrorInsufficientScope"]]);
    }
    expect(await show(id)).toEqual(before);
    expect(receiver.received).toEqual([]);
  });

  it("to one tenant opens no subscription of another", async () => {
    const { id } = (await subscribe()).body.data;
    const both = await token({ tenants: [tenant, "elsewhere"] });
    for (const [method, , body] of routes(id).slice(3)) {
      const options = { token: both, ...(body === undefined ? {} : { body }) };
      const answer = await registry.send(method, `${list}/elsewhere/${id}`, options);
      expect([method, answer.status >= 400, JSON.stringify(answer.body).includes(url)]).toEqual([method, true, false]);
    }
    expect(await show(id)).toMatchObject({ state: "active" });
  });

  it.each(["GET", "DELETE", "PATCH", "rotate", "test"])("of a member finds no unknown id: %s", async (verb) => {
    const ask = async (id: string) => {
      if (verb === "rotate" || verb === "test") return failureOf(await send("POST", `${one(id)}/${verb}`));
      return failureOf(await send(verb, one(id), verb === "PATCH" ? { enabled: true } : undefined));
    };
    const unknown = ["x", "sub_", `sub_${"0".repeat(32)}`, "%00", "..%2f", "'%20OR%201=1", "x".repeat(1_000)];
    for (const id of unknown) expect([id, await ask(id)]).toEqual([id, [404, "ErrorSubscriptionNotFound"]]);
    // Nor any once there are tables to look in.
    await publish("add");
    for (const id of unknown) expect([id, await ask(id)]).toEqual([id, [404, "ErrorSubscriptionNotFound"]]);
  });
});

describe("what is wrong with a request is named", () => {
  const invalid = "ErrorSubscriptionInvalid";

  it.each<[string, Record<string, unknown>, string]>([
    ["no address", { url: undefined }, "/url"],
    ["an address that is no text", { url: 7 }, "/url"],
    ["an empty address", { url: "" }, "/url"],
    ["a long address", { url: `https://receiver.example/${"x".repeat(2_048)}` }, "/url"],
    ["an unknown key", { secret: "whsec_mine" }, ""],
    ["filters that are a list", { filters: [] }, "/filters"],
    ["an unknown filter", { filters: { server: ["s"] } }, "/filters"],
    ["a filter that is no list", { filters: { servers: "s" } }, "/filters/servers"],
    ["a filter without entries", { filters: { servers: [] } }, "/filters/servers"],
    ["too many servers", { filters: { servers: Array.from({ length: 101 }, () => "s") } }, "/filters/servers"],
    ["a bad server name", { filters: { servers: ["s", "a/b"] } }, "/filters/servers/1"],
    ["an unknown kind", { filters: { kinds: ["tools"] } }, "/filters/kinds/0"],
    ["an unknown classification", { filters: { classifications: ["major"] } }, "/filters/classifications/0"],
    ["a long description", { description: "x".repeat(1_025) }, "/description"],
    ["an invisible character", { description: "a\u200bb" }, "/description"],
    ["a null", { filters: null }, "/filters"],
  ])("%s", async (_, more, path) => {
    const answer = await subscribe(more);
    expect(failureOf(answer)).toEqual([422, invalid]);
    expect(answer.body.error.details.issues.map((issue: { path: string }) => issue.path)).toContain(path);
    expect((await send("GET", `${list}?tenant=${tenant}`)).body.data.items).toEqual([]);
  });

  it.each<[unknown, string]>([
    [{}, ""],
    [[], ""],
    [null, ""],
    [{ enabled: "yes" }, "/enabled"],
    [{ url: null }, "/url"],
    [{ tenant: "other" }, ""],
    [{ filters: { kinds: [] } }, "/filters/kinds"],
  ])("in a change: %j", async (change, path) => {
    const { id } = (await subscribe()).body.data;
    const before = await show(id);
    const answer = await send("PATCH", one(id), JSON.stringify(change));
    expect(failureOf(answer)).toEqual([422, invalid]);
    expect(answer.body.error.details.issues.map((issue: { path: string }) => issue.path)).toContain(path);
    expect(await show(id)).toEqual(before);
  });

  it("in a body that says a thing twice", async () => {
    const body = `{"tenant": "${tenant}", "url": "https://receiver.example/a", "url": "https://receiver.example/b"}`;
    expect(failureOf(await send("POST", list, body))).toEqual([400, "ErrorInvalidBody"]);
  });

  it.each([-1, 604_801, 1.5, "60", null])("in a rotation: overlapSeconds %j", async (overlapSeconds) => {
    const { id } = (await subscribe()).body.data;
    expect(failureOf(await send("POST", `${one(id)}/rotate`, { overlapSeconds }))).toEqual([422, invalid]);
  });

  it.each<[string, string, unknown, unknown[]]>([
    ["POST", list, "{", [400, "ErrorInvalidBody"]],
    ["POST", list, "null", [400, "ErrorTenantRequired"]],
    ["POST", list, "[]", [400, "ErrorTenantRequired"]],
    ["POST", list, { url: "https://receiver.example/" }, [400, "ErrorTenantRequired"]],
    ["POST", list, { tenant: "NOT valid" }, [400, "ErrorTenantInvalid"]],
    ["POST", list, `"${"x".repeat(300_000)}"`, [413, "ErrorTooLarge"]],
    ["POST", `${list}?dry=1`, {}, [400, "ErrorBadRequest"]],
    ["GET", list, undefined, [400, "ErrorTenantRequired"]],
    ["GET", `${list}?tenant=a&tenant=b`, undefined, [400, "ErrorBadRequest"]],
    ["GET", `${list}?owner=a`, undefined, [400, "ErrorBadRequest"]],
    ["GET", `${list}/NOT%20valid/x`, undefined, [400, "ErrorTenantInvalid"]],
    ["PUT", list, {}, [405, "ErrorMethodNotAllowed"]],
    ["PUT", `${list}/a/b`, {}, [405, "ErrorMethodNotAllowed"]],
    ["GET", `${list}/a/b/rotate`, undefined, [405, "ErrorMethodNotAllowed"]],
    ["DELETE", `${list}/a/b/test`, undefined, [405, "ErrorMethodNotAllowed"]],
    ["GET", `${list}/a`, undefined, [404, "ErrorNotFound"]],
    ["GET", `${list}/a/b/c`, undefined, [404, "ErrorNotFound"]],
  ])("%s %s with %j", async (method, path, body, expected) => {
    expect(failureOf(await send(method, path, body))).toEqual(expected);
  });
});

describe("an address", () => {
  const refusal = {
    success: false,
    error: { code: "ErrorAddressRefused", message: "The address is not one that the registry asks" },
  };

  it.each([
    "http://receiver.example/",
    "https://receiver.example:8443/",
    "https://user:pw@receiver.example/",
    "https://127.0.0.1/",
    "http://127.0.0.1:8787/",
    "https://localhost/",
    "https://[::1]/",
    "https://0x7f.1/",
    "https://2130706433/",
    "https://169.254.169.254/latest/meta-data/",
    "https://metadata.google.internal/",
    "https://10.0.0.1/",
    "https://intranet/",
    "https://printer.local/",
    "https://127.0.0.1.nip.io/",
    "https://ⓔxample.com/",
    "https://receiver.example\\@10.0.0.1/",
    "ftp://receiver.example/",
    "file:///etc/passwd",
    "data:text/plain,hello",
    "javascript:alert(1)",
    "//receiver.example/",
    "receiver.example",
    "https://",
    " https://receiver.example/",
  ])("%j is refused with one message, and nothing is asked", async (address) => {
    const { status, body } = await subscribe({ url: address });
    expect([status, body]).toEqual([422, refusal]);
    const { id } = (await subscribe()).body.data;
    const changed = await send("PATCH", one(id), { url: address });
    expect([changed.status, changed.body]).toEqual([422, refusal]);
    expect(await show(id)).toMatchObject({ url });
    expect(receiver.received).toEqual([]);
  });

  it("of the registry itself is refused, by its public name and by the one it was reached under", async () => {
    const policyFor = addressPolicyFor({ publicUrl: "https://registry.example/base", allowLoopbackFetch: false });
    const verdict = (address: string) => judgeAddress(address, policyFor("edge.registry.example")).ok;
    expect(verdict("https://receiver.example/")).toBe(true);
    expect(verdict("https://registry.example/hooks/a/b")).toBe(false);
    expect(verdict("https://edge.registry.example/hooks/a/b")).toBe(false);
    const stub = registry.services.tenant(tenant);
    const request = { url: "https://registry.example/", filters: {}, ownHost: "registry.example" };
    const refused = await stub.createSubscription({ tenant, subject: "tester" }, request);
    expect(refused).toMatchObject({ ok: false, error: { code: "ErrorAddressRefused" } });
  });
});
