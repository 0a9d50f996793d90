import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failure } from "../../../src/kernel/failure.ts";
import { type Hooked, hooked, published, registry, removed, sendEvent, status } from "../support/hooking.ts";
import { capabilities, config, configs, Registry, tools } from "../support/registry.ts";
import { staleKv } from "../support/stale-kv.ts";

const read = (hook: Hooked, at = registry) => at.send("GET", capabilities(hook.tenant, "s"), { token: hook.bearer });
// biome-ignore lint/suspicious/noExplicitAny: names of an answer's tools
const names = (answer: any) => answer.body.data.tools.map(({ name }: { name: string }) => name);

/** The event as its sender would write it who wants to see what it would do. */
const dry = (event: { data: object }, member = "dryRun") => ({ ...event, data: { ...event.data, [member]: true } });

describe("an event", () => {
  it("with a manifest is applied, and the next read shows it", async () => {
    const hook = await hooked("fresh");
    await read(hook);
    const answer = await sendEvent(hook, published(1, tools("a", "b")));
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({ outcome: "applied", generation: 2, digest: expect.stringMatching(/^sha256-/) });
    expect(answer.headers.get("Rollcall-Generation")).toBe("2");
    const shown = await read(hook);
    expect(names(shown)).toEqual(["a", "b"]);
    expect(shown.body.data.registry.digest).toBe(answer.body.digest);
  });

  it("is never followed by a stale read, whatever KV shows", async () => {
    const kv = staleKv(env.REGISTRY, Date.now);
    const worker = new Registry({ kv });
    const hook = await hooked("behind");
    for (let sequence = 1; sequence <= 5; sequence += 1) {
      await sendEvent(hook, published(sequence, tools(`t${sequence}`)), { registry: worker });
      expect(names(await read(hook, worker))).toEqual([`t${sequence}`]);
    }
  });

  it("that changes nothing says so", async () => {
    const hook = await hooked("same");
    await sendEvent(hook, published(1, tools("a")));
    const again = await sendEvent(hook, published(2, tools("a")));
    expect(again.body).toMatchObject({ outcome: "unchanged", generation: 2 });
  });

  it("sets the status with its message, and never changes the content", async () => {
    const hook = await hooked("states", {}, tools("a"));
    const { digest } = (await read(hook)).body.data.registry;
    const settings = async () => (await registry.send("GET", config("states", "s"), { token: hook.bearer })).body.data;
    const steps: [object, string, string | undefined, string | undefined][] = [
      [status(1, "deprecated", "old"), "applied", "deprecated", "old"],
      [status(2, "deprecated", "old"), "unchanged", "deprecated", "old"],
      [status(3, "withdrawn", "use t"), "applied", "withdrawn", "use t"],
      [status(4, "active"), "applied", undefined, undefined],
      [removed(5, "gone"), "applied", "withdrawn", "gone"],
      [removed(6), "applied", "withdrawn", undefined],
    ];
    for (const [event, outcome, expected, message] of steps) {
      const before = Number((await read(hook)).headers.get("Rollcall-Generation"));
      const answer = await sendEvent(hook, event);
      expect(answer.body).toEqual({ outcome, digest, generation: before + (outcome === "applied" ? 1 : 0) });
      const shown = await settings();
      expect([shown.status, shown.statusMessage, shown.registry.digest]).toEqual([expected, message, digest]);
    }
    const log = (await registry.send("GET", "/api/changes/states", { token: hook.bearer })).body.data.items;
    const advisory = log.filter((one: { classification: string }) => one.classification === "advisory");
    expect(advisory.map(({ reasons: [reason] }: { reasons: { message: string }[] }) => reason?.message)).toEqual([
      "status set to deprecated: old",
      "status set to withdrawn: use t",
      "status set to active",
      "status set to withdrawn: gone",
      "status set to withdrawn",
    ]);
  });
});

describe("a server that its publisher withdrew", () => {
  /** Withdrawn while it was public. */
  async function withdrawn(tenant: string) {
    const hook = await hooked(tenant, {}, tools("a", "b"));
    const settings = { tenant, name: "s", visibility: "public" };
    await registry.send("PUT", configs, { token: hook.bearer, body: settings });
    expect((await sendEvent(hook, removed(1))).body.outcome).toBe("applied");
    return hook;
  }

  it("is still read by everyone, and by its hooks' owner", async () => {
    const hook = await withdrawn("stays");
    expect(names(await read(hook))).toEqual(["a", "b"]);
    expect((await registry.send("GET", "/api/capabilities/stays/mcp.s.a")).status).toBe(200);
    const another = { tenant: "stays", server: "s" };
    expect((await registry.send("POST", "/api/hooks", { token: hook.bearer, body: another })).status).toBe(201);
  });

  it("takes a manifest and stays withdrawn until an event says otherwise", async () => {
    const hook = await withdrawn("stored");
    const answer = await sendEvent(hook, published(2, tools("a", "c")));
    const warnings = [
      'stored/s is withdrawn and stays withdrawn; the event server.status with "status": "active" offers it again',
    ];
    expect([answer.status, answer.body]).toEqual([202, expect.objectContaining({ outcome: "applied", warnings })]);
    expect(names(await read(hook))).toEqual(["a", "c"]);
    expect((await read(hook)).body.data.registry.status).toBe("withdrawn");
    expect((await sendEvent(hook, published(3, tools("a", "c")))).body).toMatchObject({
      outcome: "unchanged",
      warnings,
    });
    expect((await sendEvent(hook, status(4, "active"))).body.outcome).toBe("applied");
    expect((await read(hook)).body.data.registry.status).toBe("active");
    expect((await sendEvent(hook, published(5, tools("a", "d")))).body).not.toHaveProperty("warnings");
  });

  it("is not read from its sources when they change, and the answer says so", async () => {
    const hook = await withdrawn("unread");
    const sources = [{ type: "streamable-http", url: "https://unread.example/mcp" }];
    await registry.send("PUT", configs, { token: hook.bearer, body: { tenant: "unread", name: "s", sources } });
    const answer = await sendEvent(hook, { type: "manifest.changed", data: { sequence: 2 } });
    expect([answer.status, answer.body.outcome]).toEqual([202, "unchanged"]);
    expect(answer.body.warnings).toEqual([expect.stringContaining("unread/s is withdrawn: its sources are read when")]);
  });

  it("can be deleted by its owner for good: its hooks go with it", async () => {
    const hook = await withdrawn("for-good");
    expect((await registry.send("DELETE", config("for-good", "s"), { token: hook.bearer })).status).toBe(200);
    expect((await sendEvent(hook, published(2, tools("a")))).status).toBe(401);
    expect((await read(hook)).status).toBe(404);
    const put = await registry.send("PUT", capabilities("for-good", "s"), { token: hook.bearer, body: tools("a") });
    expect(put.status).toBe(201);
    const settings = await registry.send("GET", config("for-good", "s"), { token: hook.bearer });
    expect(settings.body.data.visibility).toBe("tenant");
  });
});

describe("a message", () => {
  it("sent fifty times at once has one effect, and every answer is a success", async () => {
    const hook = await hooked("replay");
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => sendEvent(hook, published(1, tools("a")), { message: "same" })),
    );
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202]));
    const outcomes = answers.map((answer) => answer.body.outcome);
    expect(outcomes.filter((outcome) => outcome === "applied")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "duplicate")).toHaveLength(49);
    expect((await read(hook)).headers.get("Rollcall-Generation")).toBe("2");
  });

  it("that was refused may be sent again, mended", async () => {
    const hook = await hooked("mended");
    const bad = await sendEvent(hook, published(1, { tools: [{ name: "not a name" }] }), { message: "retry" });
    expect([bad.status, bad.body.error.code]).toEqual([422, "ErrorMCPServerValidation"]);
    expect((await sendEvent(hook, published(1, tools("a")), { message: "retry" })).body.outcome).toBe("applied");
  });

  it.each([
    ["a body that was changed", { tampered: JSON.stringify(published(1, tools("evil"))) }],
    ["another's secret", { secret: `whsec_${btoa("another secret of 32 bytes length")}` }],
    ["a timestamp 301 s old", { at: Date.now() - 301_000 }],
    ["a timestamp too far ahead", { at: Date.now() + 400_000 }],
  ])("with %s is refused without a word and has no effect", async (_, sending) => {
    const hook = await hooked("forged");
    const before = await read(hook);
    const answer = await sendEvent(hook, published(1, tools("a")), sending);
    expect(answer.status).toBe(401);
    expect(answer.body).toEqual({
      success: false,
      error: failure("ErrorWebhookUnverified"),
    });
    expect((await read(hook)).text).toBe(before.text);
  });

  it("whose id has a dot is told the rule for ids, whoever sends it and wherever to", async () => {
    const hook = await hooked("dotted");
    const body = JSON.stringify(published(1, tools("a")));
    const at = Math.floor(Date.now() / 1_000);
    const raw = Uint8Array.from(atob(hook.secret.replace("whsec_", "")), (character) => character.charCodeAt(0));
    const bytes = new TextEncoder().encode(hook.secret);
    const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text)));
    const signature = `sha256=${[...mac].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
    const headers = {
      ...{ "X-GitHub-Event": "push", "X-GitHub-Delivery": crypto.randomUUID(), "X-Hub-Signature-256": signature },
      "Content-Type": "application/json",
    };
    const answer = await registry.send("POST", hook.path, { headers, body: text });
    expect([answer.status, answer.body.error.code]).toEqual([400, "ErrorInvalidBody"]);
  });
});
