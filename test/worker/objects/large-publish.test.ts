import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { verifyChain } from "../../../src/registry/change-chain.ts";
import { dropStagedRows, mostUnstaged, openStage, stageItems } from "../../../src/registry/sql/publish/stage.ts";
import { hooked, published, sendEvent } from "../support/hooking.ts";
import { capabilities, config, configs, drained, Registry, token } from "../support/registry.ts";

/** A publish that changes more items than one transaction writes. */

const registry = new Registry();
const large = mostUnstaged + 1;
/** So many batches that another write comes between them, however busy the machine is. */
const slow = 3_000;
let tenant: string;
let member: string;
let round = 0;

beforeEach(async () => {
  tenant = `large-${++round}`;
  member = await token({ tenants: [tenant] });
});

const stub = () => env.TENANTS.get(env.TENANTS.idFromName(tenant));
const send = (method: string, path: string, body?: unknown, headers = {}) =>
  registry.send(method, path, { token: member, body, headers });
const manifest = (count: number, word: string, server = "s") => ({
  tools: Array.from({ length: count }, (_, index) => ({ name: `${server}_${index}`, description: `Reads ${word}` })),
});
const publish = (count: number, word: string, { server = "s", query = "", headers = {} } = {}) =>
  send("PUT", `${capabilities(tenant, server)}${query}`, manifest(count, word, server), headers);
const strong = { "Cache-Control": "no-cache" };
const toolsOf = async (server = "s") => {
  const answer = await send("GET", capabilities(tenant, server), undefined, strong);
  return answer.status === 200 ? answer.body.data.tools.map((tool: { description: string }) => tool.description) : [];
};
const sqlOf = <T>(work: (sql: SqlStorage) => T) => runInDurableObject(stub(), (_, { storage }): T => work(storage.sql));
/** Rows that only an open stage may have. */
const staged = () =>
  sqlOf((sql) => ({
    stages: countIn(sql, "publish_stage"),
    entries: countIn(sql, "staged_change"),
    items: countIn(sql, "capability WHERE last_revision < 0"),
  }));
const countIn = (sql: SqlStorage, rows: string) => Number(sql.exec(`SELECT count(*) AS n FROM ${rows}`).one().n);
const nothing = { stages: 0, entries: 0, items: 0 };
type Staged = Awaited<ReturnType<typeof staged>>;

/** Waits until the rows of stages are as wanted. */
async function until(holds: (rows: Staged) => boolean): Promise<void> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    if (holds(await staged())) return;
    await scheduler.wait(0);
  }
  throw new Error("the stage did not come to this state");
}
const untilStaged = () => until(({ items }) => items > 0);
const untilEnded = () => until(({ stages }) => stages === 0);
async function log() {
  const { body } = await send("GET", `/api/changes/${tenant}?limit=1000`);
  return body.data.items;
}
const found = async (task: string) =>
  (await send("GET", `/api/search?tenant=${tenant}&task=${task}&limit=5`, undefined, strong)).body.data.items;

describe("a large publish", () => {
  it("is stored whole: items, log, history and search", async () => {
    const { status, body } = await publish(large, "tides");
    expect([status, body.data.changes.additive, body.data.generation]).toEqual([201, large, 1]);
    expect(await toolsOf()).toEqual(Array(large).fill("Reads tides"));
    const entries = await log();
    expect(entries).toHaveLength(large);
    expect(new Set(entries.map(({ generation }: { generation: number }) => generation))).toEqual(new Set([1]));
    expect(verifyChain(entries, `genesis:${tenant}`).ok).toBe(true);
    expect(await found("tides")).not.toEqual([]);
    expect(await staged()).toEqual(nothing);
  });

  it("replaces, reopens and removes as a small one does", async () => {
    const first = await publish(large, "one");
    const second = await publish(large, "two");
    expect(second.body.data.changes).toMatchObject({ cosmetic: large, removed: 0 });
    const third = await publish(large, "one");
    expect(third.body.data.digest).toBe(first.body.data.digest);
    expect(await toolsOf()).toEqual(Array(large).fill("Reads one"));
    const emptied = await send("PUT", capabilities(tenant, "s"), { tools: [] });
    expect(emptied.body.data).toMatchObject({ emptied: true, changes: { removed: large } });
    expect(await found("one")).toEqual([]);
    const path = `${capabilities(tenant, "s")}/revisions/${second.body.data.digest}`;
    expect((await send("GET", path, undefined, strong)).status).toBe(200);
    expect(await staged()).toEqual(nothing);
  });

  it("shows the old content or the new while it is stored, and the object answers meanwhile", async () => {
    await publish(1, "before");
    const publishing = publish(large, "after");
    let isDone = false;
    void publishing.finally(() => {
      isDone = true;
    });
    const seen: number[] = [];
    while (!isDone && seen.length < 2_000) seen.push((await toolsOf()).length);
    expect((await publishing).status).toBe(200);
    expect(seen.length).toBeGreaterThan(3);
    expect(seen.filter((count) => count !== 1 && count !== large)).toEqual([]);
  });

  it("is given up for a newer commit of the server", async () => {
    await publish(1, "before");
    const publishing = publish(slow, "slow");
    await untilStaged();
    expect((await publish(2, "quick")).status).toBe(200);
    const { status, body } = await publishing;
    expect([status, body.error.code]).toEqual([409, "ErrorPublishSuperseded"]);
    expect(await toolsOf()).toEqual(["Reads quick", "Reads quick"]);
    expect(await staged()).toEqual(nothing);
  });

  it("is given up if the server is deleted, and does not bring it back", async () => {
    await publish(1, "before");
    const publishing = publish(slow, "slow");
    await untilStaged();
    expect((await send("DELETE", config(tenant, "s"))).status).toBe(200);
    expect((await publishing).status).toBe(409);
    expect((await send("GET", capabilities(tenant, "s"), undefined, strong)).status).toBe(404);
    expect(await staged()).toEqual(nothing);
  });

  it("keeps settings that change meanwhile", async () => {
    await publish(1, "before");
    const publishing = publish(large, "after");
    await untilStaged();
    const change = { tenant, name: "s", visibility: "public" };
    expect((await send("PUT", configs, change)).status).toBe(200);
    expect((await publishing).status).toBe(200);
    expect((await send("GET", config(tenant, "s"))).body.data.visibility).toBe("public");
    expect(await toolsOf()).toHaveLength(large);
    expect(verifyChain(await log(), `genesis:${tenant}`).ok).toBe(true);
  });

  it("takes turns with those of other servers and of its own", async () => {
    const answers = await Promise.all([
      publish(large, "a", { server: "a" }),
      publish(large, "b", { server: "b" }),
      publish(large, "c", { server: "a" }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 201, 201]);
    expect(answers.map(({ body }) => body.data.generation).sort()).toEqual([1, 2, 3]);
    expect(await toolsOf("b")).toHaveLength(large);
    expect(await staged()).toEqual(nothing);
  });

  it("obeys If-Match at its commit", async () => {
    const before = await publish(1, "before");
    const wrong = await publish(large, "after", { headers: { "If-Match": '"sha256-0"' } });
    expect(wrong.status).toBe(412);
    const etag = before.headers.get("ETag") ?? "";
    expect((await publish(large, "after", { headers: { "If-Match": etag } })).status).toBe(200);
  });

  it("comes through a hook as well, once however often the event is sent", async () => {
    const hook = await hooked(tenant);
    const event = published(1, manifest(large, "hooked"));
    const answers = await Promise.all([1, 2].map(() => sendEvent(hook, event, { message: "msg_large" })));
    expect(answers.map(({ body }) => body.outcome).sort()).toEqual(["applied", "duplicate"]);
    expect((await sendEvent(hook, published(1, manifest(large, "older")))).body.outcome).toBe("stale");
    expect(await toolsOf()).toEqual(Array(large).fill("Reads hooked"));
    expect(await staged()).toEqual(nothing);
  });

  it("can be tried: the same answer, and nothing is stored", async () => {
    const unborn = await publish(large, "dry", { query: "?dryRun=true" });
    expect(unborn.body.data).toMatchObject({ outcome: "created", changes: { additive: large } });
    await publish(2, "kept");
    const dry = await publish(large, "dry", { query: "?dryRun=true" });
    expect(await staged()).toEqual(nothing);
    expect(await toolsOf()).toHaveLength(2);
    const { dryRun: _, ...shown } = dry.body.data;
    const { status, body } = await publish(large, "dry");
    expect(status).toBe(200);
    for (const member of ["changes", "digest", "cost", "outcome"]) expect(shown[member]).toEqual(body.data[member]);
  });
});

describe("after a crash", () => {
  it("between batches nothing is visible, and the rest is deleted", async () => {
    await publish(1, "before");
    await sqlOf((sql) => {
      const stage = openStage(sql, "s", Date.now());
      const item = { kind: "tool", key: "ghost", id: "ghost", digest: "d", tokens: 1, text: "{}", flags: [] };
      const rest = { discovered: false, mentions: [], attributes: [], path: "/tools/0" };
      const rows = { stage, inserted: new Set<string>(), reopened: new Set<string>() };
      stageItems(sql, "s", [{ ...item, ...rest } as never], { number: 2, at: "2026-01-01" }, rows);
      expect(dropStagedRows(sql, { number: stage + 1, server: "s", revision: null })).toBe(false);
    });
    expect(await staged()).toMatchObject({ stages: 1, items: 1 });
    await abortAllDurableObjects();
    expect(await toolsOf()).toEqual(["Reads before"]);
    await drained(tenant);
    await untilEnded();
    expect(await staged()).toEqual(nothing);
    expect((await publish(2, "after")).status).toBe(200);
  });

  it("between commit and index, the rest is indexed by the alarm", async () => {
    await publish(large, "tides");
    await drained(tenant);
    await sqlOf((sql) => {
      const stage = openStage(sql, "s", Date.now());
      sql.exec("UPDATE publish_stage SET revision = 1 WHERE number = ?", stage);
      sql.exec("DELETE FROM card");
    });
    expect(await found("tides")).toEqual([]);
    await abortAllDurableObjects();
    await drained(tenant);
    await untilEnded();
    expect(await found("tides")).not.toEqual([]);
  });
});
