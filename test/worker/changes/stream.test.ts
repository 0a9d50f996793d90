import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { LiveStream } from "../../../src/changes/live-stream.ts";
import type { StreamObject } from "../../../src/objects/stream-object.ts";
import { askForClients, EventReader } from "../support/event-reader.ts";
import { client, inSession, negotiate } from "../support/negotiating.ts";
import { capabilities, config, configs, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();
const path = "/mcp/subscription/stream";

/** A tenant with one server of one tool, and a session that has chosen it. */
async function following(tenant: string, parameters: Record<string, unknown> = {}) {
  const bearer = await token({ sub: tenant, tenants: [tenant] });
  const publish = async (manifest: unknown) => {
    const answer = await registry.send("PUT", capabilities(tenant, "s"), { token: bearer, body: manifest });
    expect(answer.status).toBeLessThan(300);
    return answer;
  };
  await publish(tools("one"));
  const detail = { name: "notifications", version: "1.0.0", description: "", parameters };
  const request = {
    ...client("notifications", "dev.rollcall/context"),
    capability_details: { notifications: detail },
    extensions: { "dev.rollcall/context": { budget: 10_000, tenants: [tenant] } },
  };
  const { id } = await negotiate(registry, request, bearer);
  const open = async (lastEventId?: string) => {
    const headers = { ...inSession(id).headers, ...(lastEventId ? { "Last-Event-ID": lastEventId } : {}) };
    return registry.fetch("GET", path, { token: bearer, headers });
  };
  return { id, bearer, publish, open, subject: tenant };
}

const changed = (description: string) => ({ tools: [{ ...tools("one").tools[0], description }] });

function streamObject(subject: string) {
  return env.STREAMS.get(env.STREAMS.idFromName(`subject ${subject}`));
}

const openStreams = (subject: string) =>
  runInDurableObject(streamObject(subject), (object) => (object as unknown as StreamObject).count());

const watchersOf = (tenant: string) =>
  runInDurableObject(
    env.TENANTS.get(env.TENANTS.idFromName(tenant)),
    (_, state) => state.storage.sql.exec("SELECT id FROM watcher").toArray().length,
  );

describe("a stream", () => {
  it("tells of a change to the subset when it happens, and of nothing else", async () => {
    const { publish, open } = await following("live");
    const response = await open();
    expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
    const reader = new EventReader(response);
    expect(await reader.next()).toEqual({ id: "live:1", retry: 2_000 });
    await publish({ tools: [...tools("one").tools, ...tools("two").tools] });
    await publish(changed("Other words."));
    expect(await reader.named("change")).toMatchObject({
      id: "live:3",
      data: { tenant: "live", server: "s", kind: "tool", name: "one", classification: "cosmetic", generation: 3 },
    });
    await reader.leave();
  });

  it("starts with what changed between the negotiation and now", async () => {
    const { publish, open } = await following("late");
    await publish(changed("Other words."));
    const reader = new EventReader(await open());
    expect((await reader.named("change")).data).toMatchObject({ name: "one", classification: "cosmetic" });
    await reader.leave();
  });

  it("goes on from the last event that was seen", async () => {
    const { publish, open } = await following("again");
    const first = new EventReader(await open());
    await publish(changed("Second."));
    const { id } = await first.named("change");
    await first.leave();
    await publish(changed("Third."));
    const reader = new EventReader(await open(id));
    expect((await reader.named("change")).data).toMatchObject({ generation: 3 });
    await publish(changed("Fourth."));
    expect((await reader.named("change")).data).toMatchObject({ generation: 4 });
    await reader.leave();
  });

  it("beats while nothing happens", async () => {
    const followed = { tenants: [], position: "7", next: async () => ({ events: [], more: false }) };
    const closed = vi.fn();
    const stream = new LiveStream(followed, { lifetimeMs: 60_000, heartbeatMs: 20, onClosed: closed });
    const reader = new EventReader(new Response(stream.readable));
    const beat = { comment: "" };
    expect([await reader.next(), await reader.next(), await reader.next()]).toEqual([
      { id: "7", retry: 2_000 },
      beat,
      beat,
    ]);
    await reader.leave();
    await vi.waitFor(() => expect(closed).toHaveBeenCalledOnce());
  });

  it("is let go, and its tenant stops telling, when the client leaves", async () => {
    const { open, subject } = await following("leaver");
    const reader = new EventReader(await open());
    await reader.next();
    expect([await openStreams(subject), await watchersOf(subject)]).toEqual([1, 1]);
    await reader.leave();
    await askForClients(streamObject(subject));
    await vi.waitFor(
      async () => expect([await openStreams(subject), await watchersOf(subject)]).toEqual([0, 0]),
      2_000,
    );
  });

  it("is one of as many as were settled", async () => {
    const { open, subject } = await following("many", { max_streams: 2 });
    const readers = [new EventReader(await open()), new EventReader(await open())];
    const refused = await open();
    expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual([
      429,
      "You have 2 streams open already; close one first",
    ]);
    await readers[0]?.leave();
    await askForClients(streamObject(subject));
    await vi.waitFor(async () => expect(await openStreams(subject)).toBe(1), 2_000);
    const next = await open();
    expect(next.status).toBe(200);
    await next.body?.cancel();
    await readers[1]?.leave();
  });

  it("ends with its session", async () => {
    const { id, bearer, open } = await following("ended");
    const reader = new EventReader(await open());
    expect(await reader.next()).toEqual({ id: "ended:1", retry: 2_000 });
    await registry.send("DELETE", "/mcp/session", { token: bearer, ...inSession(id) });
    expect(await reader.next()).toEqual({ retry: 2_000 });
    expect(await reader.next()).toBeUndefined();
  });

  it("ends when its session goes on under another id", async () => {
    const bearer = await token({ sub: "renewed", tenants: ["renewed"] });
    await registry.send("PUT", capabilities("renewed", "s"), { token: bearer, body: tools("one") });
    const request = {
      ...client("notifications", "session_resume", "dev.rollcall/context"),
      extensions: { "dev.rollcall/context": { budget: 10_000, tenants: ["renewed"] } },
    };
    const { id, answer } = await negotiate(registry, request, bearer);
    const reader = new EventReader(await registry.fetch("GET", path, { token: bearer, ...inSession(id) }));
    await reader.next();
    const body = { resume_token: answer.body.session.resume_token };
    const resumed = await registry.send("POST", "/mcp/session/resume", { token: bearer, body });
    expect(resumed.body.extensions["dev.rollcall/context"].items).toMatchObject([
      { name: "one", tokens: expect.any(Number) },
    ]);
    for (let event = await reader.next(); event !== undefined; event = await reader.next())
      expect(event.name).toBeUndefined();
    const next = resumed.headers.get("X-MCP-Session-ID") ?? "";
    const again = await registry.fetch("GET", path, { token: bearer, ...inSession(next) });
    expect(again.status).toBe(200);
    await again.body?.cancel();
  });

  it("ends when its time is up, with word of when to come back", async () => {
    const { open, subject } = await following("brief");
    const reader = new EventReader(await open());
    expect(await reader.next()).toEqual({ id: "brief:1", retry: 2_000 });
    // The object ends it by its alarm, also where the Worker that holds it is late.
    await runInDurableObject(streamObject(subject), async (object, state) => {
      for (const socket of state.getWebSockets()) {
        socket.serializeAttachment({ ...socket.deserializeAttachment(), endsAt: Date.now() });
      }
      await (object as unknown as StreamObject).alarm();
    });
    expect([await reader.next(), await reader.next()]).toEqual([{ retry: 2_000 }, undefined]);
    expect([await openStreams(subject), await watchersOf(subject)]).toEqual([0, 0]);
  });

  it("tells of a server that goes", async () => {
    const { bearer, open } = await following("gone");
    const reader = new EventReader(await open());
    await registry.send("DELETE", config("gone", "s"), { token: bearer });
    expect((await reader.named("change")).data).toMatchObject({ kind: "server", classification: "removed" });
    await reader.leave();
  });

  it("for someone outside ends its news with the loss of the server", async () => {
    const owner = await token({ sub: "market", tenants: ["market"] });
    const put = (body: unknown) => registry.send("PUT", capabilities("market", "s"), { token: owner, body });
    const show = (visibility: string) =>
      registry.send("PUT", configs, { token: owner, body: { tenant: "market", name: "s", visibility } });
    await put(tools("one"));
    await show("public");
    const request = {
      ...client("notifications", "dev.rollcall/context"),
      extensions: { "dev.rollcall/context": { budget: 10_000, tenants: ["market"] } },
    };
    const { id } = await negotiate(registry, request);
    const reader = new EventReader(await registry.fetch("GET", path, inSession(id)));
    await put(changed("In public."));
    expect((await reader.named("change")).data).toMatchObject({ name: "one", reasons: [] });
    await show("tenant");
    expect((await reader.named("change")).data).toMatchObject({ kind: "server", classification: "breaking" });
    await put(changed("In private."));
    await show("public");
    await put(changed("In public again."));
    const { data } = await reader.named("change");
    expect(data).toMatchObject({ name: "one" });
    await reader.leave();
  });

  it.each(["nonsense", "live:x", "live:-1", ",", "live:1,,"])("refuses the Last-Event-ID %j", async (lastEventId) => {
    const { open } = await following("bad-id");
    const answer = await open(lastEventId);
    expect([answer.status, ((await answer.json()) as { error: string }).error]).toEqual([
      400,
      "`Last-Event-ID` is not valid. Use `position` of an earlier answer",
    ]);
  });

  it("is not opened by HEAD", async () => {
    const { id, bearer, subject } = await following("head");
    const answer = await registry.send("HEAD", path, { token: bearer, ...inSession(id) });
    expect(answer.status).toBe(405);
    expect(await openStreams(subject)).toBe(0);
  });
});
