import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { tenantKey } from "../../../src/kernel/names.ts";
import { insertAll } from "../../../src/kernel/platform/insert.ts";
import {
  type ChainedChange,
  chained,
  genesisOf,
  type LogHead,
  verifyChain,
} from "../../../src/registry/change-chain.ts";
import { changesSince, logHead, recordChanges } from "../../../src/registry/sql/change-log.ts";
import { entriesOf, type LogRow } from "../../../src/registry/sql/log/log-rows.ts";
import { type Member, member } from "../support/member.ts";
import { tools } from "../support/registry.ts";

let tenant: string;
let mine: Member;
let round = 0;

beforeEach(async () => {
  tenant = `logged-${++round}`;
  mine = await member(tenant);
});

interface Page {
  items: ChainedChange[];
  nextSince: number;
  generation: number;
  head: LogHead;
}

const page = async (query = ""): Promise<Page> => (await mine.send("GET", `/api/changes/${tenant}${query}`)).body.data;

/** Reads the log to its end and verifies it on the way, as a client would. */
async function verified(limit = 2, anchor = genesisOf(tenantKey(tenant)), from = 0) {
  let last: string | undefined = anchor;
  for (let since = from; ; ) {
    const { items, nextSince, head } = await page(`?since=${since}&limit=${limit}`);
    const result = verifyChain(items, last);
    if (!result.ok) return { brokenAt: result.error.sequence };
    last = result.value;
    if (items.length === 0) return { since, hash: last, head };
    since = nextSince;
  }
}

const inside = <T>(work: (sql: SqlStorage) => T): Promise<T> =>
  runInDurableObject(env.TENANTS.get(env.TENANTS.idFromName(tenant)), async (_, { storage }) => work(storage.sql));

/** Entries of every shape: new, changed with reasons, removed, switched, settings, and a server that goes. */
async function history() {
  await mine.publish("s", tools("a", "b"));
  await mine.publish("s", { tools: [{ name: "b", description: "Other words: é ☃ \u{1f600}.", inputSchema: {} }] });
  await mine.put({ name: "s", visibility: "public" });
  await mine.put({ name: "s", visibility: "tenant" });
  await mine.remove("s");
  await mine.publish("t", tools("c"));
}

describe("the pages of a log", () => {
  it("verify from the first entry to the head, whatever their size", async () => {
    await history();
    const { items, head } = await page();
    expect(items.length).toBeGreaterThan(7);
    expect(items[0]).toMatchObject({ sequence: 1, previous: `genesis:${tenant}` });
    expect(head).toEqual({ sequence: items.at(-1)?.sequence, hash: items.at(-1)?.hash });
    for (const limit of [1, 2, 3, 1_000]) {
      expect(await verified(limit)).toEqual({ since: head.sequence, hash: head.hash, head });
    }
  });

  it("say where the log ends on every page", async () => {
    await history();
    const { head } = await page();
    for (const query of ["?limit=1", `?since=${head.sequence}`, "?since=1000000"]) {
      expect((await page(query)).head).toEqual(head);
    }
  });

  it("of a tenant that has none end in its genesis", async () => {
    expect(await page()).toEqual({
      items: [],
      generation: 0,
      nextSince: 0,
      head: { sequence: 0, hash: `genesis:${tenant}` },
    });
  });

  it("go on from the hash that was seen last", async () => {
    await mine.publish("s", tools("a"));
    const seen = (await page()).head;
    await mine.publish("s", tools("a", "b", "c"));
    const result = await verified(1, seen.hash, seen.sequence);
    expect(result).toMatchObject({ since: 3, hash: result.head?.hash });
  });
});

/** Each entry in a row of its own, as earlier releases wrote them. */
function spread(sql: SqlStorage): void {
  const entries = sql.exec<LogRow>("SELECT * FROM change ORDER BY sequence").toArray().flatMap(entriesOf);
  sql.exec("DELETE FROM change");
  insertAll(
    sql,
    "change",
    entries.map((entry) => ({ ...entry, rest: null })),
  );
}

/** What somebody does who wants a rewritten log to pass: every entry gets a hash that fits. */
function hashAgain(sql: SqlStorage): void {
  let last = genesisOf(tenantKey(tenant));
  for (const { previous: _, hash: __, ...change } of changesSince(sql, 0, 1_000)) {
    const { sequence, previous, hash } = chained(change, last);
    sql.exec("UPDATE change SET previous = ?, hash = ? WHERE sequence = ?", previous, hash, sequence);
    last = hash;
  }
}

describe("a log that somebody rewrote", () => {
  beforeEach(history);
  /** The first that says why. */
  const reasoned = 4;

  it.each([
    ["a class", "UPDATE change SET classification = 'cosmetic' WHERE sequence = 2", 2],
    ["a reason", `UPDATE change SET reasons = '[]' WHERE sequence = ${reasoned}`, reasoned],
    ["a digest", "UPDATE change SET to_digest = from_digest WHERE sequence = 1", 1],
    ["a time", "UPDATE change SET at = '2020-01-01T00:00:00.000Z' WHERE sequence = 2", 2],
    ["a number", "UPDATE change SET sequence = 1000 WHERE sequence = 4", 5],
    ["an entry that is gone", "DELETE FROM change WHERE sequence = 4", 5],
    ["the first entry, gone", "DELETE FROM change WHERE sequence = 1", 2],
    ["its own hash", "UPDATE change SET hash = previous WHERE sequence = 2", 2],
  ])("is found by its readers: %s", async (_, statement, sequence) => {
    await inside(spread);
    expect(await verified()).not.toHaveProperty("brokenAt");
    await inside((sql) => sql.exec(statement));
    expect(await verified()).toEqual({ brokenAt: sequence });
  });

  it.each([
    ["a class", "json_set(rest, '$[0][3]', 'cosmetic')", 2],
    ["a name", "json_set(rest, '$[0][2]', 'forged')", 2],
    ["its hash", "json_set(rest, '$[0][0]', hash)", 2],
    ["itself, gone", "NULL", 3],
  ])("is found by its readers in an entry that shares a row: %s", async (_, rest, sequence) => {
    await inside((sql) => sql.exec(`UPDATE change SET rest = ${rest} WHERE sequence = 1`));
    expect(await verified()).toEqual({ brokenAt: sequence });
  });

  it("and hashed again from there on is found by whoever had seen its head", async () => {
    const seen = (await page()).head;
    await inside((sql) => {
      spread(sql);
      sql.exec("UPDATE change SET key = 'forged' WHERE sequence = 2");
      hashAgain(sql);
    });
    // It is a log like any other to whoever has never seen it.
    const forked = (await page()).head;
    expect(await verified()).toMatchObject({ hash: forked.hash });
    expect([forked.sequence, forked.hash === seen.hash]).toEqual([seen.sequence, false]);
    await mine.publish("t", tools("d"));
    expect(await verified(10, seen.hash, seen.sequence)).toEqual({ brokenAt: seen.sequence + 1 });
  });
});

describe("a log that was pruned", () => {
  it("keeps its newest entries, the oldest of which points at what is gone", async () => {
    await mine.publish("s", tools("a"));
    await inside((sql) => {
      const change = { kind: "tool" as const, key: "a", classification: "cosmetic" as const, reasons: [] };
      const hashes = new Map<number, string>();
      for (let turn = 0; turn < 99; turn += 1) {
        recordChanges(sql, "s", "2026-01-01T00:00:00.000Z", [change, change], 10);
        const head = logHead(sql);
        hashes.set(head.sequence, head.hash);
      }
      const left = changesSince(sql, 0, 1_000);
      expect(left.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 10 }, (_, index) => 190 + index));
      expect(verifyChain(left)).toEqual({ ok: true, value: logHead(sql).hash });
      expect(left[0]?.previous).toBe(hashes.get(189));
      expect(verifyChain(left, hashes.get(189)).ok).toBe(true);
      expect(verifyChain(left, genesisOf(tenantKey(tenant)))).toEqual({ ok: false, error: { sequence: 190 } });
    });
  });

  it("keeps what shares a row with its oldest entry", async () => {
    await mine.publish("s", tools("a"));
    await inside((sql) => {
      const change = { kind: "tool" as const, key: "a", classification: "cosmetic" as const, reasons: [] };
      const write = [change, change, change];
      for (let turn = 0; turn < 99; turn += 1) recordChanges(sql, "s", "2026-01-01T00:00:00.000Z", write, 10);
      // Written by the 100th generation: entries 296 to 298. The ten newest begin inside the row of 287 to 289.
      expect(changesSince(sql, 0, 1_000).map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: 12 }, (_, index) => 287 + index),
      );
    });
  });
});

describe("entries of one write", () => {
  const change = { kind: "tool" as const, key: "a", classification: "additive" as const, reasons: [] };
  const ofServer = { kind: "server" as const, key: "s", classification: "removed" as const, reasons: [] };

  it("share rows, and each about the server begins one", async () => {
    await mine.publish("s", tools("a"));
    await inside((sql) => {
      const write = [...Array(60).fill(change), ofServer, change, change];
      recordChanges(sql, "s", "2026-01-01T00:00:00.000Z", write, 1_000);
      const rows = sql.exec<LogRow>("SELECT * FROM change WHERE generation = 2 ORDER BY sequence").toArray();
      expect(rows.map((row) => [row.kind, entriesOf(row).length])).toEqual([
        ["tool", 50],
        ["tool", 10],
        ["server", 3],
      ]);
      const all = changesSince(sql, 0, 1_000);
      expect(all.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 64 }, (_, index) => index + 1));
      for (const since of [0, 1, 2, 49, 50, 51, 60, 61, 62, 63, 64]) {
        expect(changesSince(sql, since, 3)).toEqual(all.slice(since, since + 3));
      }
    });
  });

  it("with much to say have rows of their own", async () => {
    await mine.publish("s", tools("a"));
    await inside((sql) => {
      const long = { ...change, key: "a".repeat(60_000) };
      recordChanges(sql, "s", "2026-01-01T00:00:00.000Z", [long, long, long], 1_000);
      const rows = sql.exec<LogRow>("SELECT * FROM change WHERE generation = 2 ORDER BY sequence").toArray();
      expect(rows.map((row) => entriesOf(row).length)).toEqual([2, 1]);
    });
  });
});
