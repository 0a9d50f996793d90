import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { digestOf } from "../../../src/kernel/digest.ts";
import type { Era } from "../../../src/registry/contract.ts";
import { sourceManifest } from "../../../src/sources/source-manifest.ts";
import { expectPublishable } from "../../support/importing.ts";
import { declared, instructions, serverInfo } from "../support/peers/declared.ts";
import { type Introspecting, type Peer, startIntrospecting, startPeer } from "../support/peers/introspecting.ts";
import { stopAll } from "../support/process.ts";

let introspecting: Introspecting;
const peers: Record<string, Peer> = {};

beforeAll(async () => {
  [introspecting, peers.modern, peers.lasting, peers.streamable, peers.json, peers.sse] = await Promise.all([
    startIntrospecting(),
    startPeer("modern-peer.ts"),
    startPeer("modern-peer.ts", "60000"),
    startPeer("streamable-peer.ts"),
    startPeer("streamable-peer.ts", "json"),
    startPeer("sse-peer.ts"),
  ]);
});

afterAll(async () => {
  await introspecting?.stop();
  await stopAll();
});

function peer(name: string, path: string): Peer {
  const found = peers[name];
  if (found === undefined) throw new Error(`no peer ${name}`);
  return { ...found, url: `${found.url}${path}` };
}

async function read(...args: Parameters<Introspecting["read"]>) {
  const result = await introspecting.read(...args);
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  return result.value;
}

/** Connections end a moment after the reader has let them go. */
async function restOf({ seen }: Peer) {
  const requests = [];
  for (let tries = 0; ; tries += 1) {
    const now = await seen();
    requests.push(...now.requests);
    if ((now.open === 0 && now.sessions === 0) || tries === 40) return { ...now, requests };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

interface Case {
  name: string;
  path: string;
  type?: "sse";
  era: Era;
  version: string;
  session: boolean;
  /** Before the lists. */
  handshake: string[];
}

const initialize = ["POST initialize", "POST notifications/initialized"];
const cases: Case[] = [
  {
    name: "modern",
    path: "/mcp",
    era: "2026-07-28",
    version: "2026-07-28",
    session: false,
    handshake: ["POST server/discover"],
  },
  {
    name: "streamable",
    path: "/mcp",
    era: "2025-streamable",
    version: "2025-11-25",
    session: true,
    handshake: ["POST server/discover", ...initialize],
  },
  {
    name: "json",
    path: "/mcp",
    era: "2025-streamable",
    version: "2025-11-25",
    session: true,
    handshake: ["POST server/discover", ...initialize],
  },
  {
    name: "sse",
    path: "/sse",
    era: "sse",
    version: "2025-11-25",
    session: true,
    handshake: ["POST server/discover", "POST initialize", "GET", ...initialize],
  },
];
const lists = [
  ...Array.from({ length: 5 }, () => "POST tools/list"),
  ...["POST prompts/list", "POST resources/list", "POST resources/templates/list"],
];

describe.each(cases)("a source that speaks as $name", ({ name, path, era, version, session, handshake }) => {
  it("is read whole, each item as it was declared", async () => {
    const { url, seen } = peer(name, path);
    await seen();
    const reading = await read({ url, headers: { authorization: "Bearer a-canary-token" } });

    expect(reading.tools).toEqual(declared.tools);
    expect(reading.prompts).toEqual(declared.prompts);
    expect(reading.resources).toEqual(declared.resources);
    expect(reading.resourceTemplates).toEqual(declared.resourceTemplates);
    expect(reading).toMatchObject({ era, session, protocolVersion: version, serverInfo, instructions });
    expect(reading).toMatchObject({ listChanged: true, incomplete: [], warnings: [] });
    expect(reading.remembered).toMatchObject({ era, at: expect.any(Number) });
  });

  it("is asked no more than it takes, and let go of", async () => {
    const { requests, ...rest } = await restOf(peer(name, path));
    const asked = requests.map(({ http, method }) => (method === undefined ? http : `${http} ${method}`));
    const goodbye = era === "2025-streamable" ? ["DELETE"] : [];
    expect(asked.slice(0, handshake.length)).toEqual(handshake);
    expect(asked.toSorted()).toEqual([...handshake, ...lists, ...goodbye].toSorted());
    expect(requests.filter(({ authorization }) => authorization !== "Bearer a-canary-token")).toEqual([]);
    expect(rest).toMatchObject({ open: 0, sessions: 0 });
    expect(rest.mostOpen).toBeLessThanOrEqual(5);
  });
});

describe("the way a source speaks", () => {
  it.each([
    ["streamable", "/mcp", [...initialize]],
    ["sse", "/sse", ["GET", ...initialize]],
    ["lasting", "/mcp", []],
    ["modern", "/mcp", ["POST server/discover"]],
  ] as const)("is remembered (%s)", async (name, path, handshake) => {
    const { url, seen } = peer(name, path);
    const first = await read({ url });
    await seen();
    const second = await read({ url, remembered: first.remembered });
    const asked = (await seen()).requests.map(({ http, method }) =>
      method === undefined ? http : `${http} ${method}`,
    );
    expect(asked.filter((request) => !lists.includes(request) && request !== "DELETE")).toEqual(handshake);
    expect({ ...second, remembered: undefined }).toEqual({ ...first, remembered: undefined });
  });

  it("is not looked up anew by each reading, but once a day", async () => {
    const { url, seen } = peer("streamable", "/mcp");
    const first = await read({ url }, { now: 1_000 });
    expect(first.remembered).toEqual({ era: "2025-streamable", at: 1_000 });
    const later = await read({ url, remembered: first.remembered }, { now: 1_000 + 86_399_999 });
    expect(later.remembered).toEqual(first.remembered);
    await seen();
    const nextDay = await read({ url, remembered: first.remembered }, { now: 1_000 + 86_400_000 });
    expect(nextDay.remembered.at).toBe(86_401_000);
    expect((await seen()).requests[0]?.method).toBe("server/discover");
  });

  it("is asked for again when the server's own description has expired", async () => {
    const { url, seen } = peer("lasting", "/mcp");
    const { remembered } = await read({ url }, { now: 1_000 });
    await read({ url, remembered }, { now: 60_999 });
    expect((await seen()).requests.filter(({ method }) => method === "server/discover")).toHaveLength(1);
    await read({ url, remembered }, { now: 61_000 });
    expect((await seen()).requests.filter(({ method }) => method === "server/discover")).toHaveLength(1);
  });

  it("goes before what the publisher says of it", async () => {
    const { url, seen } = peer("sse", "/sse");
    await seen();
    expect((await read({ url, type: "sse" })).era).toBe("sse");
    expect((await seen()).requests.map(({ http }) => http).slice(0, 2)).toEqual(["GET", "POST"]);
    expect((await read({ url: peer("modern", "/mcp").url, type: "sse" })).era).toBe("2026-07-28");
    expect((await read({ url: peer("streamable", "/mcp").url, type: "sse" })).era).toBe("2025-streamable");
  });

  it("is found again when memory is wrong", async () => {
    const modern = (await read({ url: peer("lasting", "/mcp").url })).remembered;
    const { url } = peer("streamable", "/mcp");
    const now = Date.now();
    expect((await read({ url, remembered: modern })).era).toBe("2025-streamable");
    expect((await read({ url, remembered: { era: "sse", at: now } })).era).toBe("2025-streamable");
    expect((await read({ url, remembered: { era: "2026-07-28", at: now, discover: { ttlMs: 9e9 } } })).era).toBe(
      "2025-streamable",
    );
    expect((await read({ url: peer("sse", "/sse").url, remembered: modern })).era).toBe("sse");
    const legacy = { era: "2025-streamable", at: now } as const;
    const again = await read({ url: peer("modern", "/mcp").url, remembered: legacy });
    expect(again).toMatchObject({ era: "2026-07-28", remembered: { era: "2026-07-28" } });
  });
});

describe("what was read", () => {
  it("can be published, and read again it is the same manifest", async () => {
    const sources = [
      { id: "new", url: peer("modern", "/mcp").url },
      { id: "old", url: peer("sse", "/sse").url },
    ];
    const manifests = [];
    for (const _ of [1, 2]) {
      const readings = await Promise.all(sources.map(async (source) => ({ ...source, offer: await read(source) })));
      manifests.push(sourceManifest("toolbox", readings).manifest);
    }
    const [first, second] = manifests;
    expect(await digestOf(first)).toBe(await digestOf(second));
    expect(first?.tools).toHaveLength(600);
    await expectPublishable(first ?? {});
  });
});

describe("the cache hints of a source", () => {
  it("are the least of all its lists, and only the newest revision has any", async () => {
    expect(await read({ url: peer("lasting", "/mcp").url })).toMatchObject({ ttlMs: 60_500, cacheScope: "public" });
    const older = await read({ url: peer("streamable", "/mcp").url });
    expect([older.ttlMs, older.cacheScope]).toEqual([undefined, undefined]);
  });
});
