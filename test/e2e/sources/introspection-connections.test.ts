import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SourceRequest } from "../../../src/sources/contract.ts";
import { introspectSource } from "../../../src/sources/introspect.ts";
import { type Peer, startPeer } from "../support/peers/introspecting.ts";
import { stopAll } from "../support/process.ts";

/** In this process, because a Worker's connections end with its request, whoever closes them. */

const peers: Record<string, Peer> = {};

beforeAll(async () => {
  const scripts = ["modern-peer", "streamable-peer", "sse-peer", "hostile-peer"];
  await Promise.all(
    scripts.map(async (script) => {
      peers[script] = await startPeer(`${script}.ts`);
    }),
  );
});

afterAll(stopAll);

/** Connections end a moment after the reader has let them go. */
async function openAtRest({ seen }: Peer): Promise<number> {
  for (let tries = 0; ; tries += 1) {
    const { open } = await seen();
    if (open === 0 || tries === 20) return open;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

describe("no connection outlives the reading", () => {
  it.each<[string, string, SourceRequest["type"], boolean]>([
    ["modern-peer", "/mcp", "streamable-http", true],
    ["streamable-peer", "/mcp", "streamable-http", true],
    ["sse-peer", "/sse", "sse", true],
    ["hostile-peer", "/silent", "streamable-http", false],
    ["hostile-peer", "/silent", "sse", false],
    ["hostile-peer", "/drip", "streamable-http", false],
    ["hostile-peer", "/drip-events", "streamable-http", false],
    ["hostile-peer", "/drip-events", "sse", false],
    ["hostile-peer", "/events/silent", "sse", false],
    ["hostile-peer", "/events/elsewhere", "sse", false],
    ["hostile-peer", "/events/asks", "sse", false],
    ["hostile-peer", "/one-hangs", "streamable-http", true],
    ["hostile-peer", "/old-one-hangs", "streamable-http", true],
    ["hostile-peer", "/huge", "streamable-http", true],
    ["hostile-peer", "/html", "streamable-http", false],
    ["hostile-peer", "/401", "streamable-http", false],
  ])("of %s%s as %s", async (script, path, type, isRead) => {
    const peer = peers[script];
    if (peer === undefined) throw new Error(`no peer ${script}`);
    // An honest peer takes as long as the machine is busy; a hostile one as long as it is let.
    const requestMs = script === "hostile-peer" ? 1_000 : 10_000;
    const bounds = { requestMs, pages: 20, bytes: 1024 * 1024 };
    const source = { id: "main", url: `${peer.url}${path}`, type, headers: {} };
    const result = await introspectSource(source, { fetch, now: Date.now, bounds });
    expect([result.ok, await openAtRest(peer)]).toEqual([isRead, 0]);
  });
});
