import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RememberedEra } from "../../../src/registry/contract.ts";
import type { SourceBounds, SourceRequest } from "../../../src/sources/contract.ts";
import { type Introspecting, type Peer, startIntrospecting, startPeer } from "../support/peers/introspecting.ts";
import { stopAll } from "../support/process.ts";

let introspecting: Introspecting;
let peer: Peer;

beforeAll(async () => {
  [introspecting, peer] = await Promise.all([startIntrospecting(), startPeer("hostile-peer.ts")]);
});

afterAll(async () => {
  await introspecting?.stop();
  await stopAll();
});

const secret = "s3cr3t-t0ken-never-to-be-shown";
const patient: Partial<SourceBounds> = { deadlineMs: 15_000, requestMs: 10_000 };
/** Enough for an answer on a busy machine. */
const hasty: Partial<SourceBounds> = { deadlineMs: 3_000, requestMs: 1_000 };

interface Options {
  bounds?: Partial<SourceBounds>;
  type?: SourceRequest["type"];
  remembered?: RememberedEra;
}

/** What came of it, never with the credential inside, and what the peer saw. */
async function read(path: string, { bounds = patient, ...more }: Options = {}) {
  await peer.seen();
  const source = { url: `${peer.url}${path}`, headers: { authorization: `Bearer ${secret}` }, ...more };
  const start = performance.now();
  const result = await introspecting.read(source, { bounds });
  const took = performance.now() - start;
  expect(JSON.stringify(result)).not.toContain(secret);
  return { result, took, ...(await seenAtRest()) };
}

async function seenAtRest() {
  const asked: string[] = [];
  for (let tries = 0; ; tries += 1) {
    const { requests, open } = await peer.seen();
    asked.push(...requests.map(({ http, method }) => method ?? http));
    if (open === 0 || tries === 40) return { asked, open };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function reading(path: string, options?: Options) {
  const { result, ...rest } = await read(path, options);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  expect(rest.open).toBe(0);
  return { ...rest, ...result.value };
}

async function failure(path: string, options?: Options) {
  const { result, ...rest } = await read(path, options);
  if (result.ok) throw new Error(`it was read: ${JSON.stringify(result.value).slice(0, 500)}`);
  expect(rest.open).toBe(0);
  return { ...rest, ...result.error };
}

const names = (items: Record<string, unknown>[]) => items.map(({ name }) => name);
/** The three ways of asking, each to its first answer. */
const everyWay = ["server/discover", "initialize", "GET"];

describe("a source that cannot be read says why:", () => {
  it.each<[string, string, object]>([
    ["it wants a credential", "/401", { reason: "gated", httpStatus: 401, asked: ["server/discover"] }],
    ["it forbids", "/403", { reason: "gated", httpStatus: 403, asked: ["server/discover"] }],
    ["it wants more scope", "/scope", { reason: "gated", httpStatus: 403, asked: ["server/discover"] }],
    ["it gates what it describes", "/gated-lists", { reason: "gated", httpStatus: 401 }],
    ["there is nothing", "/404", { reason: "not-mcp", httpStatus: 404, asked: everyWay }],
    ["it is a page", "/html", { reason: "not-mcp", message: expect.stringContaining("text/html"), asked: everyWay }],
    [
      "it calls JSON text",
      "/wrong-type",
      { reason: "not-mcp", message: expect.stringContaining("text/plain"), asked: everyWay },
    ],
    ["it is too busy", "/429", { reason: "unavailable", httpStatus: 429, asked: ["server/discover"] }],
    ["it is down", "/503", { reason: "unavailable", httpStatus: 503, asked: ["server/discover"] }],
    ["it is broken", "/500", { reason: "unavailable", httpStatus: 500, asked: everyWay }],
    ["it breaks off", "/breaks-off", { reason: "unreachable", asked: ["server/discover"] }],
    [
      "it speaks what nobody here does",
      "/newer",
      { reason: "unsupported-version", message: expect.stringContaining("2027-01-01") },
    ],
    ["it sends elsewhere", "/elsewhere", { reason: "not-mcp", httpStatus: 307 }],
    [
      "it has no list where one should be",
      "/untyped-only",
      { reason: "not-mcp", message: expect.stringContaining("no array of tools") },
    ],
  ])("%s", async (_, path, expected) => {
    expect(await failure(path)).toMatchObject(expected);
  });

  it("it has none of the lists that it announces", async () => {
    expect(await failure("/no-methods")).toMatchObject({ reason: "error", message: expect.stringContaining("-32601") });
  });

  it("it says no, in one short line without what it was sent", async () => {
    const { reason, message } = await failure("/says-no");
    expect(reason).toBe("error");
    expect(message).toMatch(/^initialize returned error -32603 and says "No room for \[credential\] x+\\u\{2026\}"?$/);
    expect(message.length).toBeLessThan(270);
  });

  it("it goes back on its own handshake, and its session is ended all the same", async () => {
    const { asked, ...rest } = await failure("/changes-its-mind");
    expect(rest).toMatchObject({ reason: "unavailable", httpStatus: 500 });
    expect(asked).toEqual(["server/discover", "initialize", "notifications/initialized", "DELETE", "GET"]);
  });

  it("nobody is there", async () => {
    const result = await introspecting.read({ url: "http://127.0.0.1:9/mcp" });
    expect(result).toEqual({
      ok: false,
      error: { reason: "unreachable", message: "Could not connect, or the connection closed early" },
    });
    expect(await introspecting.read({ url: "nowhere" })).toMatchObject({ ok: false, error: { reason: "refused" } });
  });
});

describe("a source that takes its time is left in good time, and its connections with it:", () => {
  it.each<[string, string, SourceRequest["type"]]>([
    ["it says nothing", "/silent", "streamable-http"],
    ["it drips JSON", "/drip", "streamable-http"],
    ["it drips events", "/drip-events", "streamable-http"],
    ["its event stream says nothing", "/silent", "sse"],
    ["its event stream names no endpoint", "/events/silent", "sse"],
    ["its event stream only drips", "/drip-events", "sse"],
  ])("%s", async (_, path, type) => {
    const { reason, took, asked } = await failure(path, { type, bounds: hasty });
    expect(reason).toBe("timeout");
    expect(took).toBeLessThan(2_500);
    expect(asked).toHaveLength(1);
  });

  it("its session is ended even then", async () => {
    const bounds = { deadlineMs: 1_500, requestMs: 60_000 };
    const { tools, incomplete, asked } = await reading("/session-hangs", { bounds });
    expect([names(tools), incomplete]).toEqual([["kept"], ["resources"]]);
    expect(asked).toContain("DELETE");
  });

  it("the whole of it is bounded, not only each answer", async () => {
    const { reason, took } = await failure("/silent", { bounds: { deadlineMs: 300, requestMs: 60_000 } });
    expect(reason).toBe("timeout");
    expect(took).toBeLessThan(2_000);
  });
});

describe("a source that sends too much", () => {
  it("is read no further than its bytes, decompressed", async () => {
    const { reason, took } = await failure("/bomb", { bounds: { bytes: 1024 * 1024 } });
    expect(reason).toBe("too-large");
    expect(took).toBeLessThan(5_000);
  });

  it("keeps what came before", async () => {
    const { tools, prompts, incomplete, warnings, asked } = await reading("/huge", { bounds: { bytes: 1024 * 1024 } });
    expect(tools.length).toBeGreaterThan(5);
    expect(tools.length).toBeLessThan(11);
    expect(names(prompts)).toEqual(["asked"]);
    expect(incomplete).toEqual(["tools"]);
    expect(warnings).toEqual([
      { list: "tools", message: expect.stringMatching(/first \d+ pages.*more than the registry reads/) },
    ]);
    expect(asked.filter((method) => method === "tools/list").length).toBeLessThan(12);
  });

  it("is read no further than its pages", async () => {
    const { tools, incomplete, warnings, asked } = await reading("/endless");
    expect(tools).toHaveLength(100);
    expect(asked.filter((method) => method === "tools/list")).toHaveLength(100);
    expect(incomplete).toEqual(["tools"]);
    expect(warnings).toEqual([{ list: "tools", message: expect.stringContaining("more than 100 pages") }]);
  });

  it("is read no further than its items, list by list and then in all", async () => {
    const few = await reading("/many", { bounds: { items: 20 } });
    expect([few.tools.length, few.prompts.length, few.resources.length]).toEqual([20, 0, 0]);
    expect(few.incomplete).toEqual(["tools", "prompts", "resources", "resourceTemplates"]);
    const more = await reading("/many", { bounds: { items: 61 } });
    expect([more.tools.length, more.prompts.length, more.resources.length]).toEqual([30, 30, 1]);
    const endless = await reading("/endless", { bounds: { items: 10 } });
    expect(endless.asked.filter((method) => method === "tools/list")).toHaveLength(11);
    expect(more.incomplete).toEqual(["resourceTemplates"]);
    expect(more.warnings).toEqual([{ list: "resourceTemplates", message: expect.stringContaining("61 items") }]);
  });

  it("is told when it goes in circles", async () => {
    const { tools, incomplete, warnings } = await reading("/repeats");
    expect(names(tools)).toEqual(["after_nothing", "after_one", "after_two"]);
    expect(incomplete).toEqual(["tools"]);
    expect(warnings).toEqual([{ list: "tools", message: expect.stringMatching(/Page 3 repeats the cursor "one"/) }]);
  });

  it("is not answered without end when it asks", async () => {
    const { reason, asked } = await failure("/events/asks", { type: "sse", bounds: { ...patient, pages: 5 } });
    expect(reason).toBe("too-large");
    expect(asked.length).toBeLessThan(60);
  });
});

describe("one list that goes wrong does not take the others with it:", () => {
  const others = { tools: [{ name: "kept" }], resourceTemplates: [{ name: "a" }] };

  it.each<[string, string, string, RegExp]>([
    ["it fails", "/one-fails", "prompts", /error -32603 and says "Database \[credential\] is down"/],
    ["it is gated", "/gated-prompts", "prompts", /HTTP 403/],
    ["it hangs", "/one-hangs", "resources", /No response in time/],
    ["it hangs in an older server", "/old-one-hangs", "resources", /No response in time/],
    ["it asks its reader", "/one-asks", "prompts", /not valid MCP/],
  ])("%s", async (_, path, list, message) => {
    const found = await reading(path, { bounds: hasty });
    expect(found).toMatchObject({ ...others, [list]: [], incomplete: [list] });
    expect(found.warnings).toEqual([{ list, message: expect.stringMatching(message) }]);
  });

  it("it is no list", async () => {
    const found = await reading("/untyped");
    expect(found).toMatchObject({ tools: [], prompts: [{ name: "asked" }], incomplete: ["tools"] });
    expect(found.warnings).toEqual([{ list: "tools", message: "Page 1 has no array of tools" }]);
  });

  it("it hangs after its first page", async () => {
    const { tools, incomplete, warnings } = await reading("/one-hangs-later", { bounds: hasty });
    expect(names(tools)).toEqual(["a"]);
    expect(incomplete).toEqual(["tools"]);
    expect(warnings).toEqual([{ list: "tools", message: expect.stringMatching(/first 1 pages.*No response in time/) }]);
  });

  it("a list that the server does not offer is not asked for, and one that it lacks is empty", async () => {
    const nothing = await reading("/nothing");
    expect(nothing).toMatchObject({ tools: [], prompts: [], resources: [], warnings: [], incomplete: [] });
    expect(nothing.asked).toEqual(["server/discover"]);
    const { resources, resourceTemplates, warnings, incomplete } = await reading("/no-templates");
    expect({ resources, resourceTemplates, warnings, incomplete }).toMatchObject({
      ...{ resources: [{ name: "a" }], resourceTemplates: [], warnings: [], incomplete: [] },
    });
  });
});

describe("one item that goes wrong does not take its list with it:", () => {
  it("it has no shape", async () => {
    const { tools, warnings, incomplete } = await reading("/malformed");
    expect(tools).toEqual([{ name: "good", annotations: { readOnlyHint: "yes" }, inputSchema: 1 }, { name: "bare" }]);
    expect(warnings.map(({ message }) => message)).toEqual([
      ...["item 1", "item 2", "item 3", "item 4"].map((item) => `${item} was left out: it is not an object`),
      "item 5 was left out: it has no name",
      "and 2 more items were left out",
    ]);
    expect(incomplete).toEqual([]);
    const older = await reading("/old-malformed");
    expect(older.tools).toEqual([{ name: "good", inputSchema: { type: "object" }, annotations: 1 }]);
    expect(older.warnings).toHaveLength(2);
  });

  it("it is deeper than anything", async () => {
    const { tools, warnings } = await reading("/deep");
    expect(names(tools)).toEqual(["flat"]);
    expect(warnings).toEqual([{ list: "tools", message: expect.stringContaining("deeper than 64") }]);
    const { serverInfo, remembered, ...rest } = await reading("/deep-information");
    expect([serverInfo, remembered.discover, names(rest.tools)]).toEqual([
      ...[{ name: "deep", version: "1" }, undefined, ["kept"]],
    ]);
    expect(await failure("/deep-capabilities")).toMatchObject({ reason: "error" });
  });

  it("it has a number that nothing can hold", async () => {
    const { tools, warnings } = await reading("/infinite");
    expect(tools).toEqual([{ name: "finite", n: 1e300 }]);
    expect(warnings).toEqual([{ list: "tools", message: expect.stringContaining("out of range") }]);
  });

  it("it asks for a header that cannot be sent, where the revision has such headers", async () => {
    const { tools, warnings } = await reading("/headers");
    expect(names(tools)).toEqual(["fine"]);
    expect(warnings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/item 2 .*spaced: x-mcp-header is not the name of a header/),
      expect.stringMatching(/item 3 .*listed \[credential\]: x-mcp-header is on a property/),
    ]);
    expect(names((await reading("/old-headers")).tools)).toEqual(["spaced"]);
  });

  it("it comes without cache hints", async () => {
    const { tools, ttlMs, cacheScope, warnings } = await reading("/no-hints");
    expect({ names: names(tools), ttlMs, cacheScope, warnings }).toEqual({
      ...{ names: ["a"], ttlMs: 1_000, cacheScope: "private", warnings: [] },
    });
  });
});

describe("how a source speaks is found out", () => {
  it.each([
    ["an older server that breaks on what it does not know", "/older-500"],
    ["an older server that shows a page for what it does not know", "/older-html"],
    ["an older server that names what it knows", "/older-named"],
  ])("of %s", async (_, path) => {
    const { era, protocolVersion, tools } = await reading(path);
    expect({ era, protocolVersion, tools: names(tools) }).toEqual({
      ...{ era: "2025-streamable", protocolVersion: "2025-06-18", tools: ["kept"] },
    });
  });

  it("where it moved to within its origin", async () => {
    expect(await reading("/moved")).toMatchObject({ era: "2026-07-28", tools: [{ name: "kept" }] });
  });

  it("anew when it changed since the last time", async () => {
    const first = await reading("/changes");
    expect(first.era).toBe("2026-07-28");
    await fetch(`${peer.url}/changes/now`);
    const second = await reading("/changes", { remembered: first.remembered });
    expect(second).toMatchObject({ era: "2025-streamable", tools: first.tools, warnings: [] });
    expect(second.remembered.era).toBe("2025-streamable");
  });

  it("without ever posting to another origin", async () => {
    const { reason, asked } = await failure("/events/elsewhere", { type: "sse" });
    expect(reason).toBe("not-mcp");
    expect(asked[0]).toBe("GET");
  });

  it("and at once when its event stream ends", async () => {
    const { reason, took } = await failure("/events/ends", { type: "sse" });
    expect(reason).toBe("unreachable");
    expect(took).toBeLessThan(5_000);
  });
});
