import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, resolve } from "node:path";
import { Miniflare } from "miniflare";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ask, type Question, type Reply } from "./guarded-client.ts";
import { bombBytes, type HostileServer, startHostileServer } from "./hostile-server.ts";

/** A Worker of its own for the client: no bundler, just its modules without their types. */
function startWorker(): Miniflare {
  const root = resolve(import.meta.dirname, "../../..");
  const sources = new Map<string, string>();
  const collect = (path: string) => {
    if (sources.has(path)) return;
    const code = stripTypeScriptTypes(readFileSync(path, "utf8"));
    sources.set(path, code);
    for (const [, target = ""] of code.matchAll(/from "(\.[^"]+)"/g)) collect(join(dirname(path), target));
  };
  collect(join(import.meta.dirname, "guarded-client.ts"));
  return new Miniflare({
    modulesRoot: root,
    modules: Array.from(sources, ([path, contents]) => ({ type: "ESModule" as const, path, contents })),
    compatibilityDate: "2026-07-30",
    compatibilityFlags: ["global_fetch_strictly_public"],
    cf: false,
  });
}

let server: HostileServer;
let elsewhere: HostileServer;
let worker: Miniflare;

beforeAll(async () => {
  [server, elsewhere] = await Promise.all([startHostileServer(), startHostileServer()]);
  worker = startWorker();
  await worker.ready;
});

beforeEach(() => {
  server.received.length = 0;
  elsewhere.received.length = 0;
});

afterAll(async () => {
  await worker.dispose();
  await Promise.all([server.stop(), elsewhere.stop()]);
});

const runtimes: Record<string, (question: Question) => Promise<Reply>> = {
  Node: ask,
  workerd: async (question) => {
    const init = { method: "POST", body: JSON.stringify(question) };
    return (await (await worker.dispatchFetch("http://worker/", init)).json()) as Reply;
  },
};

describe.each(Object.entries(runtimes))("guarded fetch in %s", (_, run) => {
  const get = (path: string, request: Question["request"] = {}) => run({ address: `${server.origin}${path}`, request });
  /** Asks for what will fail, and whether its connection was let go while the asker lived on. */
  const fail = (path: string, request: Question["request"] = {}) =>
    run({
      address: `${server.origin}${path}`,
      request,
      freed: `${server.origin}/freed?path=${path.replace(/\?.*/, "")}`,
    });
  const redirect = (to: string, status = 302) => `/redirect?${new URLSearchParams({ to, status: String(status) })}`;

  describe("answers", () => {
    it("come through with status, address and decoded body", async () => {
      const reply = await get("/compressed");
      expect(reply).toMatchObject({ outcome: "ok", status: 200, url: `${server.origin}/compressed`, text: "hello" });
      expect(reply.headers).not.toHaveProperty("content-encoding");
      expect(reply.headers).not.toHaveProperty("content-length");
    });

    it("may be empty", async () => {
      expect(await get("/empty")).toMatchObject({ outcome: "ok", status: 204, text: "" });
      expect(await get("/hello", { method: "HEAD" })).toMatchObject({ outcome: "ok", status: 200, text: "" });
    });

    it("are given to a request that says only what it was told to", async () => {
      await get("/hello", {
        method: "POST",
        body: "{}",
        headers: {
          accept: "application/json",
          Connection: "close",
          Host: "metadata.internal",
          "X-Forwarded-For": "10.0.0.1",
        },
      });
      const [request] = server.received;
      expect(request).toMatchObject({ method: "POST", body: "{}", headers: { accept: "application/json" } });
      expect(request?.headers.host).toBe(new URL(server.origin).host);
      expect(request?.headers).not.toHaveProperty("x-forwarded-for");
      expect(request?.headers).not.toHaveProperty("authorization");
      expect(request?.headers).not.toHaveProperty("cookie");
    });
  });

  describe("redirects", () => {
    it("are followed three times", async () => {
      const reply = await get(redirect(redirect(redirect("/hello"))));
      expect(reply).toMatchObject({ outcome: "ok", text: "hello", url: `${server.origin}/hello`, sent: 4 });
    });

    it("are not followed a fourth time, nor for ever", async () => {
      expect(await get(redirect(redirect(redirect(redirect("/hello")))))).toMatchObject({
        outcome: "too-many-redirects",
        sent: 4,
      });
      expect(await get("/loop")).toMatchObject({ outcome: "too-many-redirects", sent: 4 });
    });

    it.each([
      "http://169.254.169.254/latest/meta-data/",
      "http://10.0.0.1/",
      "http://0xa9fea9fe/",
      "https://[::ffff:7f00:1]/",
      "http://example.com/",
      "https://example.com:8443/",
      "https://user:pw@example.com/",
      "https://metadata.google.internal/",
      "file:///etc/passwd",
      "data:text/plain,hello",
      "http://",
    ])("to %s are refused and not asked", async (to) => {
      expect(await get(redirect(to))).toEqual({
        outcome: "refused",
        message: "The registry will not send requests to this address. Use a public https URL on the default port",
        sent: 1,
      });
    });

    it("are judged after the first, too", async () => {
      expect(await get(redirect(redirect("http://10.0.0.1/")))).toMatchObject({ outcome: "refused", sent: 2 });
    });

    it("let go of a body that drips", async () => {
      expect(await fail(`/redirect-drip?to=${encodeURIComponent("http://10.0.0.1/")}`)).toMatchObject({
        outcome: "refused",
        freed: "freed",
      });
    });

    it("are the answer where they are not to be followed", async () => {
      const reply = await get(redirect("http://10.0.0.1/", 307), { redirect: "manual" });
      expect(reply).toMatchObject({ outcome: "ok", status: 307, headers: { location: "http://10.0.0.1/" }, sent: 1 });
    });
  });

  describe("redirects of what writes", () => {
    const post = { method: "POST", body: '{"secret":"canary"}' };

    it.each([307, 308])("keep method and body within their origin: %i", async (status) => {
      expect(await get(redirect("/hello", status), post)).toMatchObject({ outcome: "ok", sent: 2 });
      expect(server.received.at(-1)).toMatchObject({ path: "/hello", method: "POST", body: post.body });
    });

    it.each([307, 308])("take nothing to another origin: %i", async (status) => {
      expect(await get(redirect(`${elsewhere.origin}/hello`, status), post)).toMatchObject({ outcome: "refused" });
      expect(elsewhere.received).toEqual([]);
    });

    it.each([301, 302, 303])("do not turn into something else: %i", async (status) => {
      expect(await get(redirect("/hello", status), post)).toMatchObject({ outcome: "refused", sent: 1 });
    });
  });

  describe("credentials", () => {
    const canary = "canary-5f1d";
    const headers = {
      Authorization: `Bearer ${canary}`,
      Cookie: `session=${canary}`,
      "X-API-Key": canary,
      "Mcp-Session-Id": canary,
      Accept: "application/json",
    };

    it("stay through redirects within their origin", async () => {
      await get(redirect("/hello"), { headers });
      expect(server.received.at(-1)?.headers).toMatchObject({ authorization: `Bearer ${canary}`, "x-api-key": canary });
    });

    it("are dropped when the origin changes, and do not return", async () => {
      const back = `${elsewhere.origin}${redirect(`${server.origin}/hello`)}`;
      expect(await get(redirect(back), { headers })).toMatchObject({ outcome: "ok", text: "hello", sent: 3 });
      const [first, last] = server.received;
      expect(JSON.stringify(first)).toContain(canary);
      expect(elsewhere.received).toHaveLength(1);
      expect(JSON.stringify([elsewhere.received, last])).not.toContain(canary);
      expect(elsewhere.received[0]?.headers.accept).toBe("application/json");
    });

    it("are in no failure", async () => {
      for (const path of ["/reset", "/garbage", "/loop", redirect(`https://user:${canary}@example.com/`)]) {
        expect(JSON.stringify(await get(path, { headers }))).not.toContain(canary);
      }
      const malformed = await get("/hello", { headers: { Authorization: `Bearer ${canary}\r\nHost: inside` } });
      expect(malformed).toMatchObject({ outcome: "refused", sent: 0 });
      expect(JSON.stringify(malformed)).not.toContain(canary);
    });
  });

  describe("bytes", () => {
    it("are counted after decompression", async () => {
      expect(await get("/bomb")).toMatchObject({ outcome: "too-large" });
      expect(await fail("/bomb-without-end")).toMatchObject({ outcome: "too-large", freed: "freed" });
    });

    it("are as many as they are, where that is allowed", async () => {
      expect(await get("/bomb", { maxBytes: bombBytes })).toMatchObject({ outcome: "ok", bytes: bombBytes });
      expect(await get("/bomb", { maxBytes: bombBytes - 1 })).toMatchObject({ outcome: "too-large" });
    });

    it("end a flood", async () => {
      expect(await fail("/flood", { maxBytes: 1_000_000 })).toMatchObject({ outcome: "too-large", freed: "freed" });
    });

    it("are not waited for where too many are announced", async () => {
      expect(await fail("/announced")).toMatchObject({ outcome: "too-large", freed: "freed" });
    });

    it("that were announced and do not come are no answer", async () => {
      expect(await get("/longer-announced")).toMatchObject({ outcome: "unreachable" });
    });

    it("that were not announced are not read", async () => {
      // On a server of its own: what is left over spoils the connection for whoever gets it next.
      const liar = await startHostileServer();
      const reply = await run({ address: `${liar.origin}/shorter-announced` });
      expect(reply).toMatchObject({ outcome: "ok", text: "hello" });
      await liar.stop();
    });
  });

  describe("time", () => {
    const patience = { deadlineMs: 400 };

    it.each(["/no-headers", "/hang", "/drip"])("is up for %s, and its connection is free", async (path) => {
      const started = performance.now();
      expect(await fail(path, { patience })).toMatchObject({ outcome: "timeout", freed: "freed" });
      expect(performance.now() - started).toBeLessThan(2_500);
    });

    it("covers all redirects together", async () => {
      expect(await get(redirect(redirect("/no-headers")), { patience })).toMatchObject({ outcome: "timeout", sent: 3 });
    });

    it("is up for a body that nobody reads", async () => {
      const reply = await run({
        address: `${server.origin}/drip`,
        request: { patience },
        ignoreBody: true,
        freed: `${server.origin}/freed?path=/drip`,
      });
      expect(reply).toMatchObject({ outcome: "ok", freed: "freed" });
    });

    it("may be counted by silences, for a stream that stays open", async () => {
      const started = performance.now();
      expect(await fail("/events", { patience: { idleMs: 400 } })).toMatchObject({
        outcome: "timeout",
        freed: "freed",
      });
      expect(performance.now() - started).toBeGreaterThan(1_000);
    });

    it("may be counted by both", async () => {
      const both = { idleMs: 400, deadlineMs: 700 };
      const started = performance.now();
      expect(await fail("/drip", { patience: both })).toMatchObject({ outcome: "timeout", freed: "freed" });
      expect(performance.now() - started).toBeGreaterThan(650);
    });

    it("does not end a stream that drips without silence, but its bytes do", async () => {
      const reply = await fail("/drip", { patience: { idleMs: 400 }, maxBytes: 60 });
      expect(reply).toMatchObject({ outcome: "too-large", freed: "freed" });
    });
  });

  it.each(["/reset", "/garbage"])("%s is unreachable", async (path) => {
    expect(await get(path)).toMatchObject({
      outcome: "unreachable",
      message: "Could not connect, or the connection closed early",
    });
  });

  it("is unreachable where nobody listens", async () => {
    const gone = await startHostileServer();
    await gone.stop();
    expect(await run({ address: `${gone.origin}/` })).toMatchObject({ outcome: "unreachable" });
  });
});
