import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Json } from "../../../packages/rollcall/src/publisher/manifest.ts";
import { type Publisher, publisherFor } from "../../../packages/rollcall/src/publisher/publisher.ts";
import { accepted, createHook, refused, secret } from "./publisher-support.ts";

const manifest = (...names: string[]): Json => ({ tools: names.map((name) => ({ name })), prompts: [] });

/** Signatures are made by threads of their own, which no clock of a test reaches. */
let signing = 0;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  for (const name of ["importKey", "sign"] as const) {
    const original = crypto.subtle[name].bind(crypto.subtle) as (...given: unknown[]) => Promise<never>;
    vi.spyOn(crypto.subtle, name).mockImplementation(async (...given: unknown[]) => {
      signing += 1;
      return original(...given).finally(() => {
        signing -= 1;
      });
    });
  }
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Lets what has no timer come to its end. */
async function settle(ms = 0): Promise<void> {
  await vi.advanceTimersByTimeAsync(ms);
  for (let idle = 0; idle < 5; idle = signing > 0 ? 0 : idle + 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Advances the clock in steps, so that every retry has its turn. */
async function pass(totalMs: number, stepMs = 10_000): Promise<void> {
  for (let at = 0; at < totalMs; at += stepMs) await settle(stepMs);
}

function start(hook: ReturnType<typeof createHook>, given: object = {}): Publisher {
  const publisher = publisherFor({ ...hook.options, ...given });
  if (publisher === undefined) throw new Error("no publisher");
  return publisher;
}

describe("a hook that refuses", () => {
  it.each([
    [
      401,
      "does not accept the signature. Check ROLLCALL_HOOK_SECRET and this machine's clock; if the hook is gone, make one with: rollcall hooks add",
    ],
    [410, "the hook is switched off. Switch it on with: rollcall hooks on"],
    [403, "the hook does not take this: No (HTTP 403)"],
    [302, "Check ROLLCALL_HOOK_URL"],
  ])("%i stops, with one line that says what to do", async (status, text) => {
    const hook = createHook(() => refused(status));
    const publisher = start(hook);
    publisher.start(async () => manifest("a"));
    await settle();
    publisher.changed(async () => manifest("a", "b"));
    await pass(3_600_000, 600_000);
    expect(hook.events).toHaveLength(1);
    expect(hook.lines).toEqual([expect.stringMatching(/^rollcall: stopped: /)]);
    expect(hook.lines[0]).toContain(text);
  });

  it("422: the issues on one line, and the next change is tried", async () => {
    const issues = ["a", "b", "c", "d"].map((name) => ({
      path: `/data/manifest/tools/${name}`,
      message: "is wrong\u001b[31m",
    }));
    const hook = createHook((_event, count) =>
      count === 1 ? refused(422, { message: "Invalid manifest", details: { issues } }) : accepted(),
    );
    const publisher = start(hook);
    publisher.start(async () => manifest("a"));
    await settle();
    const place = (name: string) => `/data/manifest/tools/${name} is wrong [31m`;
    expect(hook.lines).toEqual([
      `rollcall: the registry refused what this server offers (HTTP 422): Invalid manifest: ${["a", "b", "c"].map(place).join("; ")}; and 1 more`,
    ]);
    publisher.changed(async () => manifest("b"));
    await settle(500);
    expect(hook.names()).toEqual([["a"], ["b"]]);
  });

  it("a secret that is none", async () => {
    const hook = createHook();
    start(hook, { secret: "hunter2" }).start(async () => manifest("a"));
    await settle();
    expect(hook.lines).toEqual(["rollcall: ROLLCALL_HOOK_SECRET is not a secret: it looks like whsec_ and base64"]);
    expect(hook.lines.join()).not.toContain("hunter2");
  });
});

describe("a registry that is down", () => {
  it("an hour of 500: one line, few requests, and the newest content once it is back", async () => {
    let isDown = true;
    const hook = createHook(() => (isDown ? refused(500) : accepted()));
    const publisher = start(hook);
    publisher.start(async () => manifest("a"));
    await settle();
    publisher.changed(async () => manifest("a", "b"));
    await pass(3_600_000);
    expect(hook.lines).toEqual(["rollcall: cannot publish, trying again later: No (HTTP 500)"]);
    // Every five minutes at most, half of that at least, once it is that long.
    expect(hook.events.length).toBeGreaterThan(12);
    expect(hook.events.length).toBeLessThan(36);
    isDown = false;
    await pass(310_000);
    expect(hook.names().at(-1)).toEqual(["a", "b"]);
    expect(hook.lines.slice(1)).toEqual(["rollcall: published after all"]);
    const count = hook.events.length;
    await pass(600_000);
    expect(hook.events).toHaveLength(count);
  });

  it("waits as long as Retry-After says", async () => {
    const hook = createHook((_event, count) => (count === 1 ? refused(429, {}, { "retry-after": "60" }) : accepted()));
    start(hook).start(async () => manifest("a"));
    await settle();
    await pass(50_000);
    expect(hook.events).toHaveLength(1);
    await pass(20_000);
    expect(hook.events).toHaveLength(2);
  });

  it("in a Worker gives up after a few tries, until the next request", async () => {
    const hook = createHook((_event, count) => (count <= 2 ? refused(503) : accepted()));
    const waiting: Promise<unknown>[] = [];
    const publisher = start(hook, { waitUntil: (work: Promise<unknown>) => void waiting.push(work) });
    publisher.start(async () => manifest("a"));
    await pass(30_000, 1_000);
    await Promise.all(waiting);
    expect(hook.events).toHaveLength(2);
    publisher.start(async () => manifest("a"));
    await settle();
    expect(hook.events).toHaveLength(3);
  });
});

describe("order", () => {
  it("a change during a slow read is read afterwards", async () => {
    const hook = createHook(() => accepted());
    const publisher = start(hook);
    const slow = Promise.withResolvers<ReturnType<typeof manifest>>();
    publisher.start(() => slow.promise);
    publisher.changed(async () => manifest("a", "b"));
    await pass(1_000, 100);
    slow.resolve(manifest("a"));
    await pass(1_000, 100);
    expect(hook.events.at(-1)).toMatchObject({ manifest: manifest("a", "b") });
  });

  it("the same content is sent once", async () => {
    const hook = createHook();
    const publisher = start(hook);
    publisher.start(async () => manifest("a"));
    await settle();
    publisher.changed(async () => manifest("a"));
    await settle(600);
    expect(hook.events).toHaveLength(1);
  });

  it("releases are above every clock, and within one a later change is above an earlier one", async () => {
    const hook = createHook();
    const publisher = start(hook, { release: "128" });
    publisher.start(async () => manifest("a"));
    await settle();
    publisher.changed(async () => manifest("b"));
    await settle(600);
    const base = (2 ** 22 + 128) * 2 ** 20;
    expect(hook.events.map(({ sequence }) => sequence)).toEqual([base + 1, base + 2]);
    expect(base).toBeGreaterThan(Date.UTC(2100, 0));
    expect(Number.isSafeInteger((2 ** 22 + 999_999_999) * 2 ** 20)).toBe(true);
  });

  it("another replica of the release was faster: takes a higher number", async () => {
    let taken = (2 ** 22 + 7) * 2 ** 20 + 5;
    const hook = createHook(({ sequence, dryRun }) => {
      if (sequence <= taken) return accepted("stale");
      if (dryRun !== true) taken = sequence;
      return accepted();
    });
    start(hook, { release: 7 }).start(async () => manifest("a"));
    await settle();
    expect(hook.events.filter(({ dryRun }) => dryRun)).toHaveLength(1);
    expect(taken).toBe((2 ** 22 + 7) * 2 ** 20 + 8);
    expect(hook.lines).toEqual([]);
  });

  it("a newer release was there: stops, and changes nothing", async () => {
    const hook = createHook(() => accepted("stale"));
    const publisher = start(hook, { release: "7" });
    publisher.start(async () => manifest("old"));
    await settle();
    publisher.changed(async () => manifest("older"));
    await pass(10_000);
    expect(hook.events.map(({ dryRun }) => dryRun === true)).toEqual([false, true]);
    expect(hook.lines).toEqual(["rollcall: release 7 does not publish: a newer release has"]);
  });

  it("without releases, says that another replica was later", async () => {
    const hook = createHook(() => accepted("stale"));
    start(hook).start(async () => manifest("a"));
    await settle();
    expect(hook.lines[0]).toContain("another replica with a later clock");
  });

  it("says when a review holds it back", async () => {
    const hook = createHook(() => accepted("pending"));
    start(hook).start(async () => manifest("a"));
    await settle();
    expect(hook.lines[0]).toContain("held for review");
  });
});

it("makes nothing that a Worker refuses while its module loads", () => {
  const made = vi.spyOn(globalThis, "AbortController");
  start(createHook()).leave();
  expect(made).not.toHaveBeenCalled();
});

it("no line has the secret", async () => {
  const hook = createHook(() => {
    throw new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } });
  });
  start(hook).start(async () => manifest("a"));
  await settle();
  expect(hook.lines).toEqual(["rollcall: cannot publish, trying again later: ECONNREFUSED"]);
  expect(hook.lines.join()).not.toContain(secret);
});
