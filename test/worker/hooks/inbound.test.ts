import { listDurableObjectIds, runInDurableObject } from "cloudflare:test";
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
    const key = await crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`msg.k.${at}.${body}`));
    const rightly = `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`;
    const send = (path: string, signed: string) =>
      registry.send("POST", path, {
        headers: { "webhook-id": "msg.k", "webhook-timestamp": String(at), "webhook-signature": signed },
        body,
      });
    const answer = await send(hook.path, rightly);
    expect([answer.status, answer.body.error]).toEqual([
      401,
      {
        code: "ErrorWebhookUnverified",
        message: expect.stringContaining("Webhook rejected"),
        details: expect.objectContaining({ message: expect.stringMatching(/^webhook-id must be 1 to 128 of/) }),
      },
    ]);
    expect((await send(hook.path, "v1,x")).text).toBe(answer.text);
    expect((await send(`/hooks/nobody/${hook.id}`, rightly)).text).toBe(answer.text);
  });

  it("for another tenant's hook is refused", async () => {
    const [mine, theirs] = [await hooked("mine"), await hooked("theirs")];
    expect((await sendEvent({ ...theirs, secret: mine.secret }, published(1, tools("a")))).status).toBe(401);
    expect((await sendEvent({ ...mine, path: `/hooks/theirs/${mine.id}` }, published(1, tools("a")))).status).toBe(401);
  });

  it("to a made-up path wakes no tenant", async () => {
    const hook = await hooked("woken");
    const before = (await listDurableObjectIds(env.TENANTS)).length;
    for (const path of [`/hooks/nobody/${hook.id}`, "/hooks/nobody/x", "/hooks/BAD/x", `/hooks/woken-not/${hook.id}`]) {
      expect((await sendEvent({ ...hook, path }, published(1, tools("a")))).status).toBe(401);
    }
    expect(await listDurableObjectIds(env.TENANTS)).toHaveLength(before);
  });

  it("to a made-up hook wakes no object of a tenant that exists", async () => {
    const hook = await hooked("asleep");
    const uuid = () => crypto.randomUUID();
    const forged = () => [hook.id.slice(0, 32), ...uuid().split("-")].join("").slice(0, 64);
    const send = (id: string) => sendEvent({ ...hook, path: `/hooks/asleep/${id}` }, published(1, tools("a")));
    // The first of an hour finds out which ids an earlier release gave out.
    expect((await send(uuid())).status).toBe(401);
    const before = registry.services.usage.objectCalls;
    for (const id of [uuid(), forged(), "0".repeat(64), uuid()]) expect((await send(id)).status).toBe(401);
    expect(registry.services.usage.objectCalls).toBe(before);
    expect((await send(hook.id)).status).toBe(202);
    // Another isolate reads the list from KV.
    const other = new Registry();
    const { services } = other;
    await sendEvent(hook, published(2, tools("b")), { registry: other });
    const calls = services.usage.objectCalls;
    const path = `/hooks/asleep/${uuid()}`;
    expect((await sendEvent({ ...hook, path }, published(3, tools("c")), { registry: other })).status).toBe(401);
    expect(services.usage.objectCalls).toBe(calls);
  });

  it("to a hook that an earlier release registered is taken", async () => {
    const hook = await hooked("earlier");
    const id = crypto.randomUUID();
    const stub = env.TENANTS.get(env.TENANTS.idFromName("earlier"));
    await runInDurableObject(stub, (_, state) => {
      state.storage.sql.exec("UPDATE hook SET id = ? WHERE id = ?", id, hook.id);
    });
    const older = { ...hook, path: `/hooks/earlier/${id}` };
    for (const isolate of [new Registry(), new Registry()]) {
      expect((await sendEvent(older, published(1, tools("a")), { registry: isolate })).status).toBe(202);
    }
  });

  it("without a signature is refused, and asked for one", async () => {
    const hook = await hooked("unsigned");
    const answer = await registry.send("POST", hook.path, { body: published(1, tools("a")) });
    const wanted = 'Webhook-Signature headers="webhook-id webhook-timestamp webhook-signature"';
    expect([answer.status, answer.headers.get("WWW-Authenticate")]).toEqual([401, wanted]);
  });

  it.each([
    ["no JSON", "{", 400, "Invalid JSON"],
    ["a list", "[]", 422, "must be an object"],
    ["no type", { data: { sequence: 1 } }, 422, "/type"],
    ["an unknown type", { type: "x", data: { sequence: 1 } }, 422, "/type"],
    ["no data", { type: "server.removed" }, 422, "/data"],
    ["no sequence", { type: "server.removed", data: {} }, 422, "/data/sequence"],
    ["a negative sequence", removed(-1), 422, "/data/sequence"],
    ["a broken sequence", removed(1.5), 422, "/data/sequence"],
    ["no manifest", { type: "manifest.published", data: { sequence: 1 } }, 422, "/data/manifest is needed"],
    ["no status", { type: "server.status", data: { sequence: 1 } }, 422, "/data/status is needed"],
    ["an unknown status", status(1, "sleepy"), 422, "/data/status"],
    ["a message with active", status(1, "active", "why"), 422, "/data/statusMessage goes with the status deprecated"],
    ["too long a message", removed(1, "x".repeat(1_025)), 422, "/data/statusMessage"],
    ["an invisible message", removed(1, "a\u200bb"), 422, "/data/statusMessage U+200B"],
    ["half a character as a message", status(1, "withdrawn", "\ud800"), 422, "/data/statusMessage"],
    ["a removal as a dry run", dry(removed(1)), 422, "/data/dryRun is for manifest.published"],
    ["a status as a dry run", dry(status(1, "deprecated")), 422, "/data/dryRun is for manifest.published"],
    [
      "a dry run misspelt",
      dry(published(1, tools("z")), "dry_run"),
      422,
      "/data/dry_run is not known; did you mean dryRun",
    ],
    ["a dry run beside data", { ...published(1, tools("z")), dryRun: true }, 422, "/dryRun belongs in data"],
    ["nothing to read again", { type: "manifest.changed", data: { sequence: 1 } }, 409, "no MCP sources"],
    ["a manifest that is a list", published(1, []), 422, "/data/manifest"],
  ])("that is proven but holds %s is told what is wrong", async (_, event, expected, message) => {
    const hook = await hooked("odd");
    const answer = await sendEvent(hook, event);
    expect(answer.status).toBe(expected);
    expect(answer.body.error.message).toContain(message);
  });

  it("larger than a manifest may be is refused", async () => {
    const hook = await hooked("large");
    const answer = await sendEvent(hook, `"${"x".repeat(9 * 1024 * 1024)}"`);
    expect(answer.status).toBe(413);
  });

  it("of a type that the hook may not send is refused", async () => {
    const hook = await hooked("narrow", { events: ["server.status"] });
    const answer = await sendEvent(hook, published(1, tools("a")));
    expect([answer.status, answer.body.error.message]).toEqual([
      403,
      "This hook may not send manifest.published; allowed: server.status. Register a hook that includes it",
    ]);
  });
});

describe("a publisher's events", () => {
  it("end in the same state in whatever order they come: the last manifest and the last status", async () => {
    const event = fc.oneof(
      fc.constantFrom("a", "b", "c").map((name) => (sequence: number) => published(sequence, tools(name))),
      fc.constantFrom(undefined, "gone").map((message) => (sequence: number) => removed(sequence, message)),
      fc.constantFrom<[string, string?]>(["active"], ["deprecated", "old"], ["deprecated"], ["withdrawn", "use t"]).map(
        ([value, message]) =>
          (sequence: number) =>
            status(sequence, value, message),
      ),
    );
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(event, { minLength: 1, maxLength: 5 }).chain((made) => {
          const events = made.map((make, index) => make(index + 1));
          return fc.tuple(fc.constant(events), fc.shuffledSubarray(events, { minLength: events.length }));
        }),
        async ([inOrder, shuffled]) => {
          run += 1;
          const hook = await hooked(`shuffled-${run}`, {}, tools("first"));
          for (const one of shuffled) expect((await sendEvent(hook, one)).status).toBe(202);
          // What must be there follows from the events alone, not from another run of the same code.
          const about = (isWanted: (type: string) => boolean) => inOrder.findLast(({ type }) => isWanted(type));
          const manifest = about((type) => type === "manifest.published");
          const last = about((type) => type.startsWith("server."));
          const data = (last?.data ?? {}) as { status?: string; statusMessage?: string };
          const shown = await read(hook);
          const wanted = manifest === undefined ? { manifest: tools("first") } : manifest.data;
          expect(names(shown)).toEqual(
            (wanted as { manifest: ReturnType<typeof tools> }).manifest.tools.map(({ name }) => name),
          );
          const state = last?.type === "server.removed" ? "withdrawn" : (data.status ?? "active");
          expect(shown.body.data.registry.status).toBe(state);
          const settings = await registry.send("GET", config(hook.tenant, "s"), { token: hook.bearer });
          expect(settings.body.data.statusMessage).toBe(data.statusMessage);
        },
      ),
      { numRuns: 25 },
    );
  }, 60_000);
});

describe("other signatures", () => {
  it("by a key of the publisher's own (v1a) are good", async () => {
    const pair = (await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"])) as CryptoKeyPair;
    const raw = new Uint8Array((await crypto.subtle.exportKey("raw", pair.publicKey)) as ArrayBuffer);
    const jwk = (await crypto.subtle.exportKey("jwk", pair.privateKey)) as JsonWebKey;
    const seed = Uint8Array.from(atob((jwk.d ?? "").replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));
    const secret = `whsk_${base64(new Uint8Array([...seed, ...raw]))}`;
    const hook = await hooked("asymmetric", { publicKey: `whpk_${base64(raw)}` });
    expect(hook.secret).toBeUndefined();
    expect((await sendEvent(hook, published(1, tools("a")), { secret })).body.outcome).toBe("applied");
  });

  it("by GitHub are good for one thing: to read the sources again", async () => {
    const hook = await hooked("octo", { format: "github" });
    const body = '{"ref":"refs/heads/main"}';
    const key = await crypto.subtle.importKey(
      "raw",
      new TextEncoder().encode(hook.secret),
      { name: "HMAC", hash: "SHA-256" },
      false,
      ["sign"],
    );
    const signature = new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(body)));
    const hex = Array.from(signature, (byte) => byte.toString(16).padStart(2, "0")).join("");
    const send = (value: string) =>
      registry.send("POST", hook.path, { body, headers: { "X-Hub-Signature-256": `sha256=${value}` } });
    expect((await send(hex.replace(/^./, (digit) => (digit === "0" ? "1" : "0")))).status).toBe(401);
    // Proven, and there is nothing to read again here.
    expect([(await send(hex)).status, (await send(hex)).body.error.code]).toEqual([409, "ErrorNoSources"]);
  });
});

describe("a signed envelope that two parsers may read differently", () => {
  it.each([
    ["a type twice", '{"type": "manifest.changed", "type": "server.removed", "data": {"sequence": 9}}'],
    ["a sequence twice", '{"type": "server.removed", "data": {"sequence": 1, "sequence": 9}}'],
    ["__proto__", '{"type": "server.removed", "__proto__": {"x": 1}, "data": {"sequence": 9}}'],
    ["__proto__ inside", '{"type": "server.removed", "data": {"__proto__": {"sequence": 1}, "sequence": 9}}'],
    ["an escaped key twice", '{"type": "server.removed", "t\\u0079pe": "x", "data": {"sequence": 9}}'],
  ])("is refused, and has no effect: %s", async (name, text) => {
    const hook = await hooked(`damaged-${name.replaceAll(/[^a-z]+/g, "-")}1`, {}, tools("kept"));
    const answer = await sendEvent(hook, text);
    expect([answer.status, answer.body.error.code]).toEqual([400, "ErrorInvalidBody"]);
    expect(answer.body.error.details.issues[0].path).not.toBe("");
    const shown = await read(hook);
    expect([names(shown), shown.headers.get("Rollcall-Generation")]).toEqual([["kept"], "1"]);
  });

  it("is refused from GitHub as well", async () => {
    const hook = await hooked("damaged-github", { format: "github" }, tools("kept"));
    const text = '{"ref": "refs/heads/main", "ref": "refs/heads/other"}';
    const bytes = new TextEncoder().encode(hook.secret);
    const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text)));
    const headers = {
      ...{ "X-GitHub-Event": "push", "X-GitHub-Delivery": crypto.randomUUID(), "Content-Type": "application/json" },
      "X-Hub-Signature-256": `sha256=${[...mac].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`,
    };
    const answer = await registry.send("POST", hook.path, { headers, body: text });
    expect([answer.status, answer.body.error.code]).toEqual([400, "ErrorInvalidBody"]);
  });
});
