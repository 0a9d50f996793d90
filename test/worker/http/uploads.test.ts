import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { uploadMs } from "../../../src/kernel/pace/uploads.ts";
import { capabilities, Registry, token } from "../support/registry.ts";

/** How costly requests are received: none has a place before its body is here, or after its client has left. */

const path = "/api/import/openapi?tenant=upload&name=api&dryRun=true";
const headers = { "Content-Type": "application/json" };
const openApi = (operations = 1) => ({
  ...{ openapi: "3.1.0", info: { title: "T", version: "1" } },
  paths: Object.fromEntries(
    Array.from({ length: operations }, (_, index) => [`/t${index}`, { get: { summary: "Reads it", responses: {} } }]),
  ),
});
const sharedBytes = 32 * 1024 * 1024;

let publisher: string;
beforeAll(async () => {
  publisher = await token({ sub: "publisher", tenants: ["upload"] });
});

/** A client that sends its body when the test says so. */
function slowSender() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const send = (text: string) => writer.write(new TextEncoder().encode(text));
  return { body: readable, send, end: () => writer.close() };
}

/** Whether there is a place for the caller at once. Gives it back. */
async function hasPlace({ services: { admission } }: Registry, caller = "publisher"): Promise<boolean> {
  const before = admission.counts.waited;
  const leave = await admission.enter(caller, () => scheduler.wait(1));
  leave?.();
  return leave !== undefined && admission.counts.waited === before;
}

describe("a slow sender", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ["an import", "POST", path, JSON.stringify(openApi())],
    ["a large manifest", "PUT", `${capabilities("upload", "a")}?dryRun=true`, `{"tools":[]${" ".repeat(300_000)}}`],
  ])("takes a place only once the body is here: %s", async (_, method, address, text) => {
    const registry = new Registry();
    const { body, send, end } = slowSender();
    const slow = registry.send(method, address, { token: publisher, headers, body });
    await send(text.slice(0, -1));
    expect(await hasPlace(registry)).toBe(true);
    // Another of the same caller, who may have one place.
    expect((await registry.send(method, address, { token: publisher, headers, body: text })).status).toBe(200);
    expect(registry.services.admission.counts).toEqual({ admitted: 2, waited: 0, refused: 0 });
    await send(text.slice(-1));
    await end();
    expect((await slow).status).toBe(200);
    expect(registry.services.admission.counts.admitted).toBe(3);
  });

  it("has a minute for the whole body", async () => {
    const registry = new Registry();
    const { body, send } = slowSender();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    let isAnswered = false;
    const slow = registry.send("POST", path, { token: publisher, headers, body }).finally(() => {
      isAnswered = true;
    });
    await send("{");
    vi.advanceTimersByTime(uploadMs - 1);
    await send(" ");
    expect(isAnswered).toBe(false);
    vi.advanceTimersByTime(1);
    const { status, body: answer } = await slow;
    expect([status, answer.error.code]).toEqual([400, "ErrorInvalidBody"]);
    expect(answer.error.message).toContain("not sent within 60 seconds");
    expect(registry.services.uploads.start("other").hold(sharedBytes)).toBe(true);
  });
});

describe("a client who leaves", () => {
  it("while sending, gives back the memory for the body", async () => {
    const registry = new Registry();
    const { body, send } = slowSender();
    const client = new AbortController();
    const signal = client.signal;
    void registry.send("POST", path, { token: publisher, headers, body, signal }).catch(() => {});
    await send("{");
    // Received after the bytes before it were counted.
    await send(" ");
    const rest = registry.services.uploads.start("other");
    expect(rest.hold(sharedBytes)).toBe(false);
    client.abort();
    expect(rest.hold(0)).toBe(true);
  });

  it("while the document is read, gives back the place", async () => {
    const registry = new Registry();
    const client = new AbortController();
    let isDone = false;
    const importing = registry
      .send("POST", path, { token: publisher, headers, body: openApi(1_000), signal: client.signal })
      .finally(() => {
        isDone = true;
      });
    while (registry.services.admission.counts.admitted === 0) await scheduler.wait(0);
    expect(registry.services.admission.counts).toEqual({ admitted: 1, waited: 0, refused: 0 });
    client.abort();
    const hasOne = await hasPlace(registry);
    expect([isDone, hasOne]).toEqual([false, true]);
    await importing.catch(() => {});
  });
});

describe("while as many wait as may", () => {
  it("refuses what must be costly before reading it, and nothing else", async () => {
    const registry = new Registry();
    const { admission } = registry.services;
    const { promise, resolve } = Promise.withResolvers<void>();
    const wait = () => promise;
    const leave = [await admission.enter("a", wait), await admission.enter("b", wait)];
    const waiting = Array.from({ length: 8 }, (_, index) => admission.enter(`w${index}`, wait).then((one) => one?.()));
    let pulled = 0;
    const unread = new ReadableStream<Uint8Array>(
      { pull: (controller) => controller.enqueue(new Uint8Array(++pulled)) },
      { highWaterMark: 0 },
    );
    const put = capabilities("upload", "full");
    const send = (method: string, address: string, body: unknown, length: number) => {
      const announced = { ...headers, "Content-Length": String(length) };
      return registry.send(method, address, { token: publisher, headers: announced, body });
    };
    const refused = await send("PUT", put, unread, 256 * 1024 + 1);
    expect([refused.status, refused.headers.get("Retry-After"), pulled]).toEqual([503, "5", 0]);
    expect((await send("POST", path, JSON.stringify(openApi()), 10)).status).toBe(503);
    expect((await send("PUT", put, `{"tools":[]}`, 12)).status).toBe(201);
    for (const one of leave) one?.();
    resolve();
    await Promise.all(waiting);
  });
});
