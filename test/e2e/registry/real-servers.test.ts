import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { canonicalJson } from "../../../src/kernel/digest.ts";
import { describeFixture } from "../../support/fixtures.ts";
import { type Running, runCli, startCli, stopAll } from "../support/process.ts";

interface CatalogueEntry {
  identifier: string;
  server: { name: string; description?: string };
  categories?: string[];
  tools: { name: string }[];
}

/**
 * Every eighth server, or with ROLLCALL_WHOLE_CATALOGUE=1, as `.ci/run` does, all of them: as many as are
 * offered, as many as have no name left to publish, tools, and tools that are refused.
 */
const expected =
  process.env.ROLLCALL_WHOLE_CATALOGUE === "1"
    ? { step: 1, servers: 1_433, lost: 10, tools: 11_890, refused: 74 }
    : { step: 8, servers: 180, lost: 2, tools: 1_370, refused: 18 };

/** One at a time would take minutes; more than this only queue. */
const workers = 8;

describeFixture("the real catalogue", "catalog/mcp-servers.ndjson.gz", (file) => {
  const data = mkdtempSync(join(tmpdir(), "rollcall-"));
  const entries = gunzipSync(readFileSync(file))
    .toString()
    .trim()
    .split("\n")
    .filter((_, index) => index % expected.step === 0)
    .map((line) => JSON.parse(line) as CatalogueEntry);
  let server: Running;
  let base: string;
  let headers: Record<string, string>;

  beforeAll(async () => {
    // A loader raises the limits it would otherwise meet.
    const limits = [
      "--var",
      "WRITE_LIMIT=100000/100000",
      "--var",
      "READ_LIMIT=100000/100000",
      "--var",
      "WORK_LIMIT=100000/10000000",
    ];
    server = startCli("serve.ts", "--port", "0", "--data", data, "--no-demo", ...limits);
    base = (await server.line(/ready (http:\S+)/))[1] ?? "";
    const { stdout } = await runCli("token.ts", "--data", data, "--tenant", "catalogue");
    headers = { Authorization: `Bearer ${stdout.trim()}`, "Content-Type": "application/json" };
  });

  afterAll(async () => {
    await stopAll();
    rmSync(data, { recursive: true, force: true });
  });

  const nameOf = ({ identifier }: CatalogueEntry) =>
    identifier.replace(/[^A-Za-z0-9._-]/g, ".").replace(/^[^A-Za-z0-9]+/, "");
  const urlOf = (entry: CatalogueEntry) => `${base}/api/mcp/capabilities/catalogue/${nameOf(entry)}`;
  const manifestOf = ({ server: { name, description }, categories, tools }: CatalogueEntry) =>
    JSON.stringify({ title: name, description, categories, tools });

  /** Runs over the whole catalogue, a few at a time. */
  async function each<T>(work: (entry: CatalogueEntry) => Promise<T>): Promise<T[]> {
    const results: T[] = [];
    const queue = entries.entries();
    const worker = async () => {
      for (const [index, entry] of queue) results[index] = await work(entry);
    };
    await Promise.all(Array.from({ length: workers }, worker));
    return results;
  }

  const publish = async (entry: CatalogueEntry) => {
    const response = await fetch(`${urlOf(entry)}?partial=true`, { method: "PUT", headers, body: manifestOf(entry) });
    return { status: response.status, body: await response.json() } as {
      status: number;
      body: {
        data?: { outcome: string; generation: number; rejected: { path: string; issues: { message: string }[] }[] };
        error?: { message: string };
      };
    };
  };

  it("loads, serves back what it took, and adds nothing when it is loaded again", async () => {
    expect(entries).toHaveLength(expected.servers);
    const first = await each(publish);
    // All names in these servers have characters outside the set, so nothing is left to publish.
    const lost = entries.filter((_, index) => first[index]?.status === 422);
    expect(lost).toHaveLength(expected.lost);
    const isLost = new Set(lost);
    const taken = first.filter(({ status }) => status === 201);
    expect(taken).toHaveLength(entries.length - lost.length);
    const generations = taken.map(({ body }) => body.data?.generation ?? 0).sort((a, b) => a - b);
    expect(generations).toEqual(taken.map((_, index) => index + 1));

    const rejected = taken.flatMap(({ body }) => body.data?.rejected ?? []);
    expect(rejected.every(({ issues }) => issues.length > 0 && issues.every(({ message }) => message !== ""))).toBe(
      true,
    );
    const offered = entries.reduce((sum, { tools }) => sum + tools.length, 0);
    const ofLost = lost.reduce((sum, { tools }) => sum + tools.length, 0);
    const refusedTools = ofLost + rejected.filter(({ path }) => path.startsWith("/tools/")).length;
    // Of the whole: 66 names outside the character set, 8 duplicates inside a server.
    expect([offered, refusedTools]).toEqual([expected.tools, expected.refused]);

    let served = 0;
    const unequal: string[] = [];
    await each(async (entry) => {
      const response = await fetch(urlOf(entry), { headers });
      if (isLost.has(entry)) return void expect(response.status).toBe(404);
      const { data: answer } = (await response.json()) as { data: { tools: Record<string, unknown>[] } };
      const refused = new Set(first[entries.indexOf(entry)]?.body.data?.rejected.map(({ path }) => path));
      const wanted = entry.tools.filter((_, index) => !refused.has(`/tools/${index}`));
      const got = answer.tools.map(({ enabled: _, lastSynced: __, registry: ___, ...tool }) => tool);
      served += got.length;
      if (canonicalJson(got) !== canonicalJson(wanted)) unequal.push(nameOf(entry));
    });
    expect([served, unequal]).toEqual([expected.tools - expected.refused, []]);

    const again = await each(publish);
    const outcomes = again.filter(({ status }) => status === 200).map(({ body }) => body.data?.outcome);
    expect([outcomes.length, new Set(outcomes)]).toEqual([taken.length, new Set(["unchanged"])]);
    const list = await fetch(`${base}/api/mcp/configs?limit=1`, { headers });
    expect(((await list.json()) as { data: { generation: number } }).data.generation).toBe(taken.length);
  }, 300_000);
});
