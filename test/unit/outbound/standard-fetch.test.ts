import { describe, expect, it } from "vitest";
import { FetchError } from "../../../src/outbound/fetch-failure.ts";
import { createGuardedFetch, type GuardedFetchOptions } from "../../../src/outbound/guarded-fetch.ts";
import { toStandardFetch } from "../../../src/outbound/standard-fetch.ts";

const policy = { ownHosts: ["registry.example"] };
const address = "https://example.com/mcp";

/** The guard in the shape of fetch, over a network made up by the test. */
const over = (fetch: GuardedFetchOptions["fetch"], bounds = {}) =>
  toStandardFetch(createGuardedFetch({ policy, fetch }), bounds);

/** A body that never ends by itself, and tells when it was cancelled. */
function endless() {
  const cancelled = Promise.withResolvers<string>();
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1_000)),
    cancel: () => cancelled.resolve("cancelled"),
  });
  return { body, cancelled: cancelled.promise };
}

const failureOf = async (work: Promise<unknown>) => {
  const error = await work.catch((thrown: unknown) => thrown);
  return error instanceof FetchError ? error.failure.kind : error;
};

describe("a guarded fetch in the standard shape", () => {
  it("sends what a Request says, and answers with a Response", async () => {
    const sent: Request[] = [];
    const fetch = over(async (request) => {
      sent.push(request.clone());
      return Response.json({ hello: "world" }, { status: 201, headers: { "Set-Cookie": "a=b", ETag: '"1"' } });
    });
    const request = new Request(address, { method: "POST", body: "{}", headers: { Authorization: "Bearer theirs" } });
    const response = await fetch(request);
    expect(response).toMatchObject({ status: 201, url: address });
    expect(Object.fromEntries(response.headers)).toEqual({ "content-type": "application/json", etag: '"1"' });
    expect(await response.json()).toEqual({ hello: "world" });
    expect(sent[0]).toMatchObject({ method: "POST", url: address, redirect: "manual" });
    expect(sent[0]?.headers.get("authorization")).toBe("Bearer theirs");
    expect(await sent[0]?.text()).toBe("{}");
  });

  it("takes an address and what fetch takes beside it", async () => {
    const sent: string[] = [];
    const fetch = over(async (request) => {
      sent.push(`${request.method} ${request.url} ${await request.text()}`);
      return new Response(null, { status: 204 });
    });
    expect((await fetch(new URL(address), { method: "PUT", body: "text" })).status).toBe(204);
    expect((await fetch(address)).body).toBeNull();
    expect(sent).toEqual([`PUT ${address} text`, `GET ${address} `]);
  });

  it("leaves redirects alone where it is told to", async () => {
    const sent: string[] = [];
    const fetch = over(async (request) => {
      sent.push(request.url);
      return new Response(null, { status: 302, headers: { location: "https://example.org/" } });
    });
    const response = await fetch(address, { redirect: "manual" });
    expect([response.status, response.headers.get("location"), sent]).toEqual([302, "https://example.org/", [address]]);
  });

  it.each([
    "https://user:canary@example.com/",
    "/relative",
    " https://example.com/",
    "https:example.com",
    "https://10.0.0.1/",
    "https://registry.example/",
  ])("rejects for %s without a word of it", async (refused) => {
    const fetch = over(async () => new Response("asked"));
    const error = await fetch(refused).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(FetchError);
    expect(String((error as FetchError).stack)).not.toContain("canary");
    expect((error as FetchError).cause).toBeUndefined();
    expect((error as FetchError).failure.kind).toBe("refused");
  });

  it("fails while the body is read, and lets go of it", async () => {
    const { body, cancelled } = endless();
    const response = await over(async () => new Response(body), { maxBytes: 10_000 })(address);
    expect(await failureOf(response.text())).toBe("too-large");
    expect(await cancelled).toBe("cancelled");
  });

  it("lets go of a body that its reader cancels", async () => {
    const { body, cancelled } = endless();
    const response = await over(async () => new Response(body))(address);
    await response.body?.cancel();
    expect(await cancelled).toBe("cancelled");
  });

  it("is out of patience when it is told to be", async () => {
    const silent = () => new Promise<never>(() => {});
    for (const patience of [{ deadlineMs: 20 }, { idleMs: 20 }]) {
      expect(await failureOf(over(silent, { patience })(address))).toBe("timeout");
    }
  });

  it("frees an answer that comes when nobody waits any more", async () => {
    const { body, cancelled } = endless();
    const late = Promise.withResolvers<Response>();
    const fetch = over(() => late.promise, { patience: { deadlineMs: 20 } });
    expect(await failureOf(fetch(address))).toBe("timeout");
    late.resolve(new Response(body));
    expect(await cancelled).toBe("cancelled");
  });

  it("gives up when its caller does, before or during the answer, and says so in the caller's words", async () => {
    const reason = new Error("no longer needed");
    let sent = 0;
    const counting = over(async () => {
      sent += 1;
      return new Response("asked");
    });
    expect(await failureOf(counting(address, { signal: AbortSignal.abort(reason) }))).toBe(reason);
    expect(sent).toBe(0);

    const caller = new AbortController();
    const waiting = over(() => new Promise(() => {}))(address, { signal: caller.signal });
    caller.abort(reason);
    expect(await failureOf(waiting)).toBe(reason);

    const reader = new AbortController();
    const { body, cancelled } = endless();
    const response = await over(async () => new Response(body))(address, { signal: reader.signal });
    reader.abort(reason);
    expect(await failureOf(response.text())).toBe("cancelled");
    expect(await cancelled).toBe("cancelled");
  });

  it("tells nothing of what the network said", async () => {
    const fetch = over(async () => {
      throw new TypeError("connect ECONNREFUSED 10.0.0.1:443 canary", { cause: new Error("canary") });
    });
    const error = (await fetch(address).catch((thrown: unknown) => thrown)) as FetchError;
    expect(error.failure.kind).toBe("unreachable");
    expect(`${error.stack}${JSON.stringify(error)}${error.cause}`).not.toContain("canary");

    const broken = new ReadableStream({ pull: () => Promise.reject(new Error("canary")) });
    const response = await over(async () => new Response(broken))(address);
    expect(await failureOf(response.text())).toBe("unreachable");
  });

  it("is unreachable for a status that no Response can have", async () => {
    const { body, cancelled } = endless();
    const odd = Object.defineProperty(new Response(body), "status", { value: 999 });
    expect(await failureOf(over(async () => odd)(address))).toBe("unreachable");
    expect(await cancelled).toBe("cancelled");
  });
});
