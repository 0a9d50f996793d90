import { Miniflare, type WorkerOptions } from "miniflare";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { bundlePath, ensureBuilt } from "../../../scripts/bundle.ts";
import { defaultScope, mintToken } from "../../../scripts/mint-token.ts";
import { compiledModules } from "../../../scripts/runtime.ts";
import { readWorkerConfig } from "../../../scripts/worker-config.ts";

/**
 * Real Workers with the same objects, each with a cache of its own. The one that is written to has the KV that objects write to;
 * the others stand in data centres whose KV shows what a test has let through.
 */
const far = ["late", "gaps", "damaged", "rebuilt"] as const;
type Far = (typeof far)[number];

const secret = "a-secret-for-tests-that-is-long-enough";
const tenant = "two";
const patient = { timeout: 60_000, interval: 200 };
let runtime: Miniflare;
let near: string;
let member: string;
let admin: string;

beforeAll(async () => {
  await ensureBuilt();
  const { name, vars, bindings } = await readWorkerConfig();
  near = name;
  const modules = [{ type: "ESModule" as const, path: bundlePath }, ...(await compiledModules(bundlePath))];
  const worker = (called: string, more: Partial<WorkerOptions>): WorkerOptions =>
    ({
      ...bindings,
      ...more,
      name: called,
      modules,
      bindings: { ...vars, JWT_SECRET: secret, PUBLIC_URL: `https://${called}.test` },
    }) as WorkerOptions;
  const elsewhere = Object.fromEntries(
    Object.entries(bindings.durableObjects ?? {}).map(([binding, object]) => [
      binding,
      { ...(object as { className: string }), scriptName: name },
    ]),
  );
  runtime = new Miniflare({
    cf: false,
    workers: [
      worker(name, {}),
      ...far.map((called) => worker(called, { durableObjects: elsewhere, kvNamespaces: { REGISTRY: called } })),
    ],
  });
  const claims = { subject: "writer", scope: defaultScope, lifetime: 3_600 };
  member = await mintToken(secret, vars, { ...claims, tenants: [tenant], admin: false });
  admin = await mintToken(secret, vars, { ...claims, subject: "operator", tenants: [], admin: true });
  await publish("kept", "hammer");
  await publish("gone", "chisel");
  await rootAtLeast(await state());
});

afterAll(() => runtime.dispose());

async function send(where: string, method: string, path: string, token?: string, body?: unknown, headers = {}) {
  const worker = await runtime.getWorker(where);
  const answer = await worker.fetch(`https://${where}.test${path}`, {
    method,
    headers: {
      ...headers,
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  expect([method, path, answer.status < 300 ? "" : text]).toEqual([method, path, ""]);
  return { headers: answer.headers, body: JSON.parse(text) };
}

/** Answers with a state of the directory that has it. */
async function publish(name: string, tool: string): Promise<string> {
  await send(near, "POST", "/api/mcp/configs", member, { tenant, name, visibility: "public" });
  const tools = [{ name: tool, description: `Works wood with a ${tool}` }];
  const { headers } = await send(near, "PUT", `/api/mcp/capabilities/${tenant}/${name}`, member, { tools });
  return headers.get("Rollcall-Directory") ?? "";
}

async function state(): Promise<string> {
  const { headers } = await send(near, "GET", "/api/catalog?limit=1", undefined, undefined, {
    "Cache-Control": "no-cache",
  });
  return headers.get("Rollcall-Directory") ?? "";
}

/** Waits until the builder has written a root with this state. */
async function rootAtLeast(wanted: string): Promise<void> {
  const kv = await runtime.getKVNamespace("REGISTRY", near);
  await vi.waitFor(async () => {
    const root = JSON.parse((await kv.get("directory/root", "text")) ?? "{}") as {
      epoch?: string;
      generation?: number;
    };
    const [epoch, generation] = wanted.split(".");
    expect(root.epoch).toBe(epoch);
    expect(root.generation).toBeGreaterThanOrEqual(Number(generation));
  }, patient);
}

/** Lets some keys of the directory through to another data centre, perhaps changed on the way. */
async function letThrough(where: Far, wants: (key: string) => boolean, change = (value: Uint8Array) => value) {
  const from = await runtime.getKVNamespace("REGISTRY", near);
  const to = await runtime.getKVNamespace("REGISTRY", where);
  for (const { name } of (await from.list({ prefix: "directory/" })).keys) {
    const value = wants(name) ? await from.get(name, "arrayBuffer") : null;
    if (value !== null) await to.put(name, change(new Uint8Array(value)));
  }
}

const isSegment = (key: string) => key.includes("/segment/") || key.includes("/documents/");
const isRoot = (key: string) => key === "directory/root";

interface Lists {
  source: string | null;
  catalogue: string[];
  search: string[];
  official: string[];
}

let asked = 0;

/** What the three lists of public servers show in a data centre, to anyone; never an answer that was kept. */
async function lists(where: string, headers = {}): Promise<Lists> {
  asked += 1;
  const since = encodeURIComponent(new Date(asked).toISOString());
  const listed = await send(where, "GET", `/api/catalog?updated_since=${since}`, undefined, undefined, headers);
  const found = await send(where, "GET", `/api/search?task=works%20wood&limit=${10 + (asked % 40)}`);
  const official = await send(where, "GET", `/v0.1/servers?limit=${10 + (asked % 40)}`);
  const nameOf = ({ name }: { name: string }) => name;
  return {
    source: listed.headers.get("Rollcall-Source"),
    catalogue: listed.body.data.items.map(nameOf).sort(),
    search: found.body.data.items.map(nameOf).sort(),
    official: official.body.servers.map(({ server }: { server: { name: string } }) => server.name).sort(),
  };
}

const shows = (source: string, servers: Record<string, string>): Lists => ({
  source,
  catalogue: Object.keys(servers).sort(),
  search: Object.values(servers).sort(),
  official: Object.keys(servers)
    .map((name) => `${tenant}/${name}`)
    .sort(),
});

/** Until the data centre answers from memory; whatever it answers before must be true as well. */
async function fromMemory(where: Far, servers: Record<string, string>): Promise<void> {
  await vi.waitFor(async () => {
    const seen = await lists(where);
    expect({ ...seen, source: "" }).toEqual(shows("", servers));
    expect(seen.source).toBe("memory");
  }, patient);
}

describe.sequential("a data centre whose KV", () => {
  it("shows an old root with newer segments beside it answers what is now", async () => {
    await letThrough("late", isRoot);
    const written = await publish("new", "plane");
    await rootAtLeast(written);
    await letThrough("late", isSegment);
    await fromMemory("late", { kept: "hammer", gone: "chisel", new: "plane" });
  });

  it("shows no tombstone hides what was deleted from a reader who knows of it, in every list", async () => {
    const { headers } = await send(near, "DELETE", `/api/mcp/configs/${tenant}/gone`, member);
    const written = headers.get("Rollcall-Directory") ?? "";
    const seen = await lists("late", { "Rollcall-Min-Directory-Generation": written });
    expect(seen).toEqual(shows("memory", { kept: "hammer", new: "plane" }));
    await rootAtLeast(written);
  });

  it("shows a root whose segments are missing, or forgets them, has the object answer until they are there", async () => {
    await letThrough("gaps", isRoot);
    for (let time = 0; time < 3; time += 1) {
      expect(await lists("gaps")).toEqual(shows("object", { kept: "hammer", new: "plane" }));
    }
    await letThrough("gaps", isSegment);
    await fromMemory("gaps", { kept: "hammer", new: "plane" });
  });

  it("shows segments and a root of another release has the object answer, and never an error", async () => {
    await letThrough("damaged", isRoot, (value) =>
      new TextEncoder().encode(JSON.stringify({ ...JSON.parse(new TextDecoder().decode(value)), format: 9 })),
    );
    await letThrough("damaged", isSegment, (value) => value.with(4, 9));
    for (let time = 0; time < 3; time += 1) {
      expect(await lists("damaged")).toEqual(shows("object", { kept: "hammer", new: "plane" }));
    }
    // Cut short; then as this release wrote them.
    await letThrough("damaged", isSegment, (value) => value.slice(0, -8));
    expect(await lists("damaged")).toEqual(shows("object", { kept: "hammer", new: "plane" }));
    await letThrough("damaged", isSegment);
    await fromMemory("damaged", { kept: "hammer", new: "plane" });
  });

  it("still has the epoch before a rebuild has the object answer, and then loads the new one", async () => {
    await letThrough("rebuilt", () => true);
    await fromMemory("rebuilt", { kept: "hammer", new: "plane" });
    const before = await state();
    const { body } = await send(near, "POST", "/api/directory/rebuild", admin, {});
    expect(body.data.directory.split(".")[0]).not.toBe(before.split(".")[0]);
    const now = await state();
    const seen = await lists("rebuilt", { "Rollcall-Min-Directory-Generation": now });
    expect(seen).toEqual(shows("object", { kept: "hammer", new: "plane" }));
    await rootAtLeast(now);
    await letThrough("rebuilt", () => true);
    await fromMemory("rebuilt", { kept: "hammer", new: "plane" });
  });
});
