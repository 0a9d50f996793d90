import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { verifyChain } from "../../../src/registry/change-chain.ts";
import { mostJudgedAtOnce, mostUnstaged } from "../../../src/registry/sql/publish/stage.ts";
import { capabilities, config, configs, Registry, token } from "../support/registry.ts";
import { serveUpstreams } from "../support/upstreams.ts";

/** Writes of something else that bring a large publish with them: the removal of a source, and a version of a large server. */

const registry = new Registry();
const large = 3 * mostUnstaged;
const strong = { "Cache-Control": "no-cache" };
let tenant: string;
let member: string;
let round = 0;

beforeEach(async () => {
  tenant = `settings-${++round}`;
  member = await token({ tenants: [tenant] });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const send = (method: string, path: string, body?: unknown, headers = {}) =>
  registry.send(method, path, { token: member, body, headers });
const named = (word: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ name: `${word}_${index}`, description: `Reads ${word}` }));
const toolsOf = async () => {
  const answer = await send("GET", capabilities(tenant, "srv"), undefined, strong);
  return answer.body.data.tools.map(({ name }: { name: string }) => name.split("_")[0]);
};
const sqlOf = <T>(work: (sql: SqlStorage) => T) =>
  runInDurableObject(env.TENANTS.get(env.TENANTS.idFromName(tenant)), (_, { storage }): T => work(storage.sql));
const staged = () =>
  sqlOf((sql) => ({
    stages: Number(sql.exec("SELECT count(*) AS n FROM publish_stage").one().n),
    entries: Number(sql.exec("SELECT count(*) AS n FROM staged_change").one().n),
  }));
const found = async (task: string) =>
  (await send("GET", `/api/search?tenant=${tenant}&task=${task}&limit=5`, undefined, strong)).body.data.items;
const log = async () => (await send("GET", `/api/changes/${tenant}?limit=1000`)).body.data.items;

/** What others see while a write is going on: the number of entries staged, and the tools of the server. */
async function meanwhile(write: Promise<unknown>) {
  let isDone = false;
  void write.finally(() => {
    isDone = true;
  });
  const seen: { entries: number; tools: number }[] = [];
  while (!isDone && seen.length < 2_000) {
    const { entries } = await staged();
    seen.push({ entries, tools: (await toolsOf()).length });
  }
  return seen;
}

const source = { type: "streamable-http", id: "up", url: "https://up.example/mcp" };

/** A server with tools of its publisher and of a source. */
async function serverWithSource(own: number, offered: number): Promise<void> {
  const offers = serveUpstreams();
  offers.set("up.example", {
    tools: named("up", offered).map((tool) => ({ ...tool, inputSchema: { type: "object" } })),
  });
  await send("POST", configs, { tenant, name: "srv", sources: [source] });
  expect((await send("POST", `${capabilities(tenant, "srv")}/refresh`)).status).toBe(200);
  expect((await send("PUT", capabilities(tenant, "srv"), { tools: named("own", own) })).status).toBe(200);
  expect(await toolsOf()).toHaveLength(own + offered);
}

describe("removing a source with many items", () => {
  const remove = (headers = {}) => send("PATCH", config(tenant, "srv"), { sources: [] }, headers);

  it("stages the log in batches, answers others, and removes everything in one step", async () => {
    await serverWithSource(3, large);
    const removing = remove();
    const seen = await meanwhile(removing);
    const { status, body } = await removing;
    expect([status, body.data.sources]).toEqual([200, []]);
    const batches = new Set(seen.map(({ entries }) => entries).filter((entries) => entries > 0));
    expect(batches.size).toBeGreaterThan(1);
    expect(seen.filter(({ tools }) => tools !== 3 && tools !== large + 3)).toEqual([]);
    expect(await toolsOf()).toEqual(["own", "own", "own"]);
    expect([await found("up"), (await found("own")).length]).toEqual([[], 3]);
    expect(await staged()).toEqual({ stages: 0, entries: 0 });
    const entries = await log();
    expect(verifyChain(entries, `genesis:${tenant}`).ok).toBe(true);
  });

  it("obeys If-Match, and changes nothing if it does not hold", async () => {
    await serverWithSource(1, large);
    expect((await remove({ "If-Match": '"sha256-0"' })).status).toBe(412);
    expect(await toolsOf()).toHaveLength(large + 1);
    const etag = (await send("GET", config(tenant, "srv"))).headers.get("ETag") ?? "";
    expect((await remove({ "If-Match": etag })).status).toBe(200);
    expect(await toolsOf()).toEqual(["own"]);
  });

  it("starts again if the server changes meanwhile", async () => {
    await serverWithSource(1, large);
    const removing = remove();
    while ((await staged()).stages === 0) await scheduler.wait(0);
    expect((await send("PUT", capabilities(tenant, "srv"), { tools: named("new", 2) })).status).toBe(200);
    expect((await removing).status).toBe(200);
    expect(await toolsOf()).toEqual(["new", "new"]);
    expect(verifyChain(await log(), `genesis:${tenant}`).ok).toBe(true);
  });
});

describe("a version of a large server", () => {
  const count = mostJudgedAtOnce + 1;
  const document = (version: string) => ({
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    ...{ name: `${tenant}/srv`, description: `Says ${version}`, version },
  });

  it("keeps the items, answers others, and is one write", async () => {
    await send("POST", configs, { tenant, name: "srv", visibility: "public" });
    expect((await send("PUT", capabilities(tenant, "srv"), { tools: named("own", count) })).status).toBe(201);
    const publishing = send("POST", "/v0.1/publish", document("1.0.0"));
    const seen = await meanwhile(publishing);
    const { status, body: answer } = await publishing;
    expect([status, answer.errors]).toEqual([200, undefined]);
    expect(seen.length).toBeGreaterThan(2);
    expect(seen.filter(({ tools }) => tools !== count)).toEqual([]);
    const { body } = await send("GET", capabilities(tenant, "srv"), undefined, strong);
    expect([body.data.description, body.data.tools.length]).toEqual(["Says 1.0.0", count]);
    const latest = await send("GET", `/v0.1/servers/${encodeURIComponent(`${tenant}/srv`)}/versions/latest`);
    expect(latest.body.server).toEqual(document("1.0.0"));
    const again = await send("POST", "/v0.1/publish", document("1.0.0"));
    expect(again.status).toBe(400);
  });
});
