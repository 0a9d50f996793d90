import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { runCli, start, startCli, stopAll } from "./support/process.ts";

let data: string;
let token: string;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "rollcall-rebuild-"));
  token = (
    await runCli("token.ts", "--data", data, "--admin", "--scope", "registry:read registry:publish")
  ).stdout.trim();
});

afterAll(async () => {
  await stopAll();
  await rm(data, { recursive: true, force: true });
});

async function serving<T>(work: (url: string) => Promise<T>): Promise<T> {
  const server = startCli("serve.ts", "--port", "0", "--data", data, "--no-demo");
  const [, url = ""] = await server.line(/ready (http:\/\/127\.0\.0\.1:\d+)/);
  try {
    return await work(url);
  } finally {
    server.signal("SIGINT");
    await server.finished;
  }
}

async function call(url: string, method: string, path: string, body?: object) {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json", "Cache-Control": "no-cache" };
  const response = await fetch(`${url}${path}`, { method, headers, body: body && JSON.stringify(body) });
  return ((await response.json()) as { data: Record<string, unknown> }).data;
}

/** Everything that lists and searches show, but for when the directory heard of it. */
async function shown(url: string) {
  const { items } = await call(url, "GET", "/api/catalog?limit=100&facets=false");
  const found = (await call(url, "GET", "/api/search?task=forecast%20rain&limit=20")) as { items: object[] };
  return { items, found: found.items };
}

const rebuild = (url: string, ...options: string[]) =>
  start("env", [`ROLLCALL_TOKEN=${token}`, "node_modules/.bin/node", "scripts/rebuild-directory.ts", url, ...options])
    .finished;

it("brings back a directory that was lost with all of KV, from the files of the tenants", async () => {
  const before = await serving(async (url) => {
    for (const tenant of ["north", "south"]) {
      await call(url, "POST", "/api/mcp/configs", { tenant, name: "weather", visibility: "public" });
      const tools = [
        { name: "forecast", description: `Will it rain in the ${tenant}?`, inputSchema: { type: "object" } },
      ];
      await call(url, "PUT", `/api/mcp/capabilities/${tenant}/weather`, { tools });
      await call(url, "PUT", `/api/mcp/capabilities/${tenant}/hidden`, { tools });
    }
    const seen = await shown(url);
    // Private servers are in the list of an admin, and in nobody else's search.
    expect([(seen.items as object[]).length, seen.found.length]).toEqual([4, 2]);
    return seen;
  });
  await rm(join(data, "kv"), { recursive: true });
  const kinds = await readdir(join(data, "objects"));
  const directory = kinds.find((kind) => kind.endsWith("-DirectoryObject")) ?? "";
  await rm(join(data, "objects", directory), { recursive: true });
  await serving(async (url) => {
    const { exitCode, stdout } = await rebuild(url, "--data", data);
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/asked 2 of 2 files, 0 servers to hear of again/)]);
    await vi.waitFor(async () => expect(await shown(url)).toEqual(before), { timeout: 20_000, interval: 100 });
  });
});

it("refuses what is not a registry's data, and a token that is no admin's", async () => {
  await serving(async (url) => {
    const wrong = await rebuild(url, "--data", join(data, "kv"));
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('has no folder "objects"')]);
    token = (await runCli("token.ts", "--data", data, "--tenant", "north")).stdout.trim();
    const refused = await rebuild(url);
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining("Only admins rebuild the directory"),
    ]);
  });
});
