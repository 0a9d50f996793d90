import { describe, expect, it } from "vitest";
import { connect, type Fetch } from "../../../packages/rollcall/src/client/connection.ts";
import { definitions } from "../../../packages/rollcall/src/client/definitions.ts";
import { readPath } from "../../../packages/rollcall/src/client/read.ts";
import { search } from "../../../packages/rollcall/src/client/search.ts";
import { factsOf, itemsIn } from "../../../packages/rollcall/src/client/shapes.ts";
import { readEvents } from "../../../packages/rollcall/src/client/sse.ts";
import { publish } from "../../../packages/rollcall/src/client/write.ts";

type Reply = Response | Error;
const data = (value: unknown, init?: ResponseInit) => Response.json({ success: true, data: value }, init);
const refusal = (status: number, code: string, headers?: Record<string, string>) =>
  Response.json({ success: false, error: { code, message: code } }, { status, headers });

/** A registry that answers what a test lists, in order, and keeps what it was asked. */
function scripted(...replies: Reply[]) {
  const requests: { method: string; url: string; headers: Headers }[] = [];
  const fetch: Fetch = async (url, { method = "GET", headers }) => {
    requests.push({ method, url, headers: new Headers(headers) });
    const reply = replies.shift();
    if (reply === undefined || reply instanceof Error) throw reply ?? new Error("unexpected request");
    return reply;
  };
  return { requests, connection: connect({ url: "https://registry.test", token: "a.e30.b", fetch }) };
}

describe("tries", () => {
  const busy = () => refusal(429, "ErrorTooManyRequests", { "Retry-After": "0" });

  it("are repeated as often as is safe", async () => {
    const read = scripted(busy(), new TypeError("reset"), data({ items: [] }));
    expect((await search(read.connection, "x")).items).toEqual([]);
    expect(read.requests).toHaveLength(3);
    const post = scripted(new TypeError("reset"), data({}));
    await expect(post.connection.send("POST", "/api/hooks")).rejects.toMatchObject({
      code: "ErrorUnreachable",
      retryable: true,
    });
    const put = scripted(new TypeError("reset"), data({ digest: "d" }));
    expect(await publish(put.connection, "a/b", {})).toEqual({ digest: "d" });
  });

  it("end after three, and at once if the registry asks for a long wait", async () => {
    const never = scripted(busy(), busy(), busy(), data({}));
    await expect(never.connection.send("POST", "/x")).rejects.toMatchObject({ status: 429 });
    expect(never.requests).toHaveLength(3);
    const later = scripted(refusal(503, "ErrorUnavailable", { "Retry-After": "3600" }), data({}));
    await expect(later.connection.send("GET", "/x")).rejects.toMatchObject({ status: 503, retryable: true });
    expect(later.requests).toHaveLength(1);
  });
});

describe("a search", () => {
  it("starts anew once if its cursor expires, and yields nothing twice", async () => {
    const item = (id: string) => ({ id, tenant: "t" });
    const { connection, requests } = scripted(
      data({ items: [item("a")], nextCursor: "1" }),
      refusal(410, "ErrorCursorExpired"),
      data({ items: [item("a"), item("b")] }),
    );
    const page = await search(connection, "x", { kinds: ["tool", "prompt"] });
    const ids: string[] = [];
    for await (const { id } of page.all()) ids.push(id);
    expect(ids).toEqual(["a", "b"]);
    expect(requests.map(({ url }) => new URL(url).searchParams.get("cursor"))).toEqual([null, "1", null]);
    expect(new URL(requests[0]?.url ?? "").searchParams.getAll("kind")).toEqual(["tool", "prompt"]);
  });
});

describe("kept answers", () => {
  it("are revalidated, and dropped when there are too many bytes", async () => {
    const replies = [
      data({ text: "x" }, { headers: { ETag: '"1"' } }),
      new Response(null, { status: 304 }),
      data({ text: "y" }),
    ];
    const { connection, requests } = scripted(...replies);
    const first = await readPath<{ text: string }>(connection, "t", "/api/x");
    expect(await readPath(connection, "t", "/api/x")).toBe(first);
    expect(requests[1]?.headers.get("If-None-Match")).toBe('"1"');
    expect((await readPath<{ text: string }>(connection, "t", "/api/y")).text).toBe("y");
    expect(requests[2]?.headers.get("If-None-Match")).toBeNull();
  });

  it("ask for what this connection has seen of the tenant", async () => {
    const { connection, requests } = scripted(data({}, { headers: { "Rollcall-Generation": "7" } }), data({}));
    await publish(connection, "Acme/s", {});
    await readPath(connection, "acme", "/api/x");
    expect(requests[1]?.headers.get("Rollcall-Min-Generation")).toBe("7");
  });
});

describe("definitions", () => {
  const item = (server: string, digest = "d1") => ({ tenant: "acme", server, name: "get", digest, flags: [] });
  const answer = (sent: string, server: string, digest?: string) => ({
    definitions: [{ name: sent, input_schema: {} }],
    tokens: 5,
    names: { [sent]: item(server, digest) },
    leftOut: [],
  });

  it("resolve the names that were sent, and no others", async () => {
    const { connection, requests } = scripted(data(answer("weather_get", "weather")));
    const found = await definitions(connection, "rain", { for: "anthropic", budget: 100 });
    expect(found.resolve("weather_get")).toEqual(item("weather"));
    expect(found.resolve("constructor")).toBeUndefined();
    expect(new URL(requests[0]?.url ?? "").search).toBe("?task=rain&definitions=anthropic&budget=100");
  });

  it("stay unique when several capabilities are named, in every form", async () => {
    const chat = (server: string) => ({
      ...answer("get", server),
      definitions: [{ type: "function", function: { name: "get", parameters: {} } }],
    });
    const ids = [
      { tenant: "acme", id: "a" },
      { tenant: "acme", id: "b" },
    ];
    const { connection } = scripted(data(chat("one")), data(chat("two")));
    const found = await definitions(connection, ids, { for: "openai-chat" });
    expect(found.definitions.map(({ function: { name } }) => name)).toEqual(["get", "get_2"]);
    expect(["get", "get_2"].map((name) => found.resolve(name)?.server)).toEqual(["one", "two"]);
    expect(found.tokens).toBe(10);
  });

  it("leave out what is not as pinned", async () => {
    const { connection } = scripted(data(answer("weather_get", "weather", "d2")));
    const found = await definitions(connection, "rain", { for: "openai", pins: [item("weather", "d1")] });
    expect(found.definitions).toEqual([]);
    expect(found.leftOut).toMatchObject([{ reason: "changed-since-pin" }]);
  });
});

describe("what the registry knows of an answer", () => {
  it("is found beside the declared members and in `registry`", () => {
    const flags = [{ rule: "r", path: "", message: "m" }];
    expect(factsOf({ digest: "d", tokens: 3, flags, status: "deprecated" })).toMatchObject({
      digest: "d",
      tokens: 3,
      status: "deprecated",
    });
    expect(
      factsOf({ registry: { digest: "d", tokens: 3, flags, status: "withdrawn", pending: "review" } }),
    ).toMatchObject({
      status: "withdrawn",
      isPending: true,
      flags,
    });
    // A source that was not read yet is no review.
    expect(factsOf({ registry: { pending: "source" } }).isPending).toBeUndefined();
    const [shown] = itemsIn({
      tools: [{ name: "a", id: "declared", tokens: "mine", registry: { id: "known", digest: "d", tokens: 2 } }],
    });
    expect(shown?.facts).toMatchObject({ id: "known", digest: "d", tokens: 2 });
  });
});

describe("an event stream", () => {
  it("is read however it is cut", async () => {
    const text = ':\n\nid: 1\nevent: change\ndata: {"a":\ndata: 1}\n\nretry: 500\r\n\r\ndata:x\n\n';
    for (const size of [1, 3, 1_000]) {
      const chunks = text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
          controller.close();
        },
      });
      const events = [];
      for await (const event of readEvents(body)) if (event !== undefined) events.push(event);
      expect(events).toEqual([
        { id: "1", event: "change", data: '{"a":\n1}' },
        { event: "message", data: "", retry: 500 },
        { event: "message", data: "x" },
      ]);
    }
  });
});
