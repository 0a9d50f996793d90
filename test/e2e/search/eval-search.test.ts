import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { qualityOf } from "../../../scripts/eval/metrics.ts";
import { runCli, stopAll } from "../support/process.ts";

let directory: string;

const lines = (values: object[]) => `${values.map((value) => JSON.stringify(value)).join("\n")}\n`;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "rollcall-eval-test-"));
  const tool = (id: string, server: string, description: string) => ({ id, server, name: id, description });
  await writeFile(
    join(directory, "corpus.ndjson"),
    lines([
      tool("sendMail", "Post Office", "Sends an e-mail."),
      tool("readMail", "Post Office", "Reads the mail that came in."),
      tool("resizePicture", "Dark room", "Changes the size of an image."),
    ]),
  );
  await writeFile(
    join(directory, "queries.ndjson"),
    lines([
      { query: "send a mail", relevant: ["sendMail"] },
      { query: "make my photo smaller", relevant: ["resizePicture"] },
      { query: "frobnicate", relevant: ["readMail"] },
    ]),
  );
});

afterAll(async () => {
  await stopAll();
  await rm(directory, { recursive: true, force: true });
});

describe("npm run eval:search", () => {
  it("prints one line of JSON: how well, how dear, how fast", async () => {
    const { exitCode, stdout, stderr } = await runCli("eval-search.ts", directory);
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("3 tools of 2 servers published, 0 rejected")]);
    expect(stdout.trim().split("\n")).toHaveLength(1);
    const { tokens_top5, tokens_all, p50_ms, p95_ms, ...quality } = JSON.parse(stdout);
    // The last task names nothing that is there: two of three are found, and found first.
    expect(quality).toEqual({ hit1: 0.6667, hit5: 0.6667, recall10: 0.6667, mrr: 0.6667, ndcg10: 0.6667 });
    expect(tokens_all).toBeGreaterThan(tokens_top5);
    expect(p95_ms).toBeGreaterThanOrEqual(p50_ms);
  });

  it("says what is missing", async () => {
    expect(await runCli("eval-search.ts")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("DIR must be given."),
    });
    const { exitCode, stderr } = await runCli("eval-search.ts", join(directory, "none"));
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("corpus.ndjson to read")]);
  });
});

describe("the measures", () => {
  it("are those of the field", () => {
    const half = { found: ["x", "a", "y", "b"], relevant: ["a", "b"] };
    expect(qualityOf([half])).toEqual({
      hit1: 0,
      hit5: 1,
      recall10: 1,
      mrr: 0.5,
      // (1/log2 3 + 1/log2 5) / (1 + 1/log2 3)
      ndcg10: 0.6509,
    });
    expect(qualityOf([{ found: [], relevant: ["a"] }])).toMatchObject({ hit5: 0, mrr: 0, ndcg10: 0 });
  });
});
