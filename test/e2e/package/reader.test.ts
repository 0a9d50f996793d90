import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, describe, expect, it, vi } from "vitest";
import { readUrl } from "../../../packages/rollcall/src/cli/reader/read-server.ts";
import { declared } from "../support/peers/declared.ts";
import { startPeer } from "../support/peers/introspecting.ts";
import { modern } from "../support/peers/scripted-server.ts";
import { stopAll } from "../support/process.ts";

/** The command line's own reader against official servers of every era. */

const options = { timeoutMs: 20_000, signal: new AbortController().signal };
const servers: Server[] = [];

afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await stopAll();
});

const sorted = (names: unknown[]) => names.map(String).sort((a, b) => (a < b ? -1 : 1));
const namesOf = (list: unknown, key: string) => (list as Record<string, unknown>[]).map((item) => item[key]);

describe("a running server", () => {
  it.each([
    ["modern-peer.ts", "/mcp", "2026-07-28"],
    ["streamable-peer.ts", "/mcp", "2025-11-25"],
    ["sse-peer.ts", "/sse", "2025-11-25"],
  ])("%s is read whole, page by page", async (peer, path, version) => {
    const { url, seen } = await startPeer(peer);
    const { manifest, protocolVersion, warnings } = await readUrl(new URL(path, url).href, options);
    expect([protocolVersion, warnings]).toEqual([version, []]);
    expect(namesOf(manifest.tools, "name")).toEqual(sorted(namesOf(declared.tools, "name")));
    expect(namesOf(manifest.prompts, "name")).toEqual(sorted(namesOf(declared.prompts, "name")));
    expect(namesOf(manifest.resources, "uri")).toEqual(sorted(namesOf(declared.resources, "uri")));
    expect(namesOf(manifest.resourceTemplates, "uriTemplate")).toEqual(
      sorted(namesOf(declared.resourceTemplates, "uriTemplate")),
    );
    const byName = new Map((manifest.tools as { name: string }[]).map((item) => [item.name, item]));
    for (const item of declared.tools as { name: string }[]) expect(byName.get(item.name)).toEqual(item);
    // The peer hears a moment later that the stream was closed.
    await vi.waitFor(async () => expect((await seen()).sessions).toBe(0), { timeout: 10_000 });
  });

  const answering = async (script: Parameters<typeof modern>[0]) => {
    const handle = modern(script);
    const server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      await handle(request, response, body);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  };

  it("that cannot be read whole is not read at all", async () => {
    const endless = await answering({ "tools/list": () => ({ tools: [], nextCursor: "again" }) });
    await expect(readUrl(endless, options)).rejects.toThrow("repeats a cursor");
    const wrong = await answering({ "prompts/list": () => ({ prompts: "none" }) });
    await expect(readUrl(wrong, options)).rejects.toThrow("no list of prompts");
  });

  it("says where a name is there twice, or missing", async () => {
    const twice = await answering({ "tools/list": () => ({ tools: [{ name: "a" }, { name: "a" }, {}] }) });
    const { counts, warnings } = await readUrl(twice, options);
    expect(counts["tools"]).toBe(1);
    expect(warnings).toEqual([
      "tools: a is listed twice; the first is kept",
      "tools: an item without name was left out",
    ]);
  });

  it("is no MCP server, wants a sign-in, or is not there", async () => {
    const at = async (status: number) => {
      const server = createServer((_request, response) => response.writeHead(status).end("no"));
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    };
    await expect(readUrl(await at(404), options)).rejects.toMatchObject({ code: "ErrorNotMcp", exitCode: 1 });
    await expect(readUrl(await at(401), options)).rejects.toMatchObject({ code: "ErrorServerGated", exitCode: 1 });
    await expect(readUrl("http://127.0.0.1:9/", options)).rejects.toMatchObject({ exitCode: 5 });
  });
});
