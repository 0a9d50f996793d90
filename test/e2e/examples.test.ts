import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Finished, runCli, start, startCli, stopAll } from "./support/process.ts";

let scratch: string;
let url: string;
let token: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "rollcall-examples-"));
  const data = join(scratch, "data");
  const server = startCli("serve.ts", "--port", "0", "--data", data);
  [, url = ""] = await server.line(/ready (\S+)/);
  token = (await runCli("token.ts", "--data", data, "--tenant", "demo")).stdout.trim();
});

afterAll(async () => {
  await stopAll();
  await rm(scratch, { recursive: true, force: true });
});

const examples: { file: string; runner: string; needs: string[] }[] = [
  { file: "negotiate.ts", runner: "node_modules/.bin/node", needs: [] },
  { file: "negotiate.py", runner: "python3", needs: ["python3"] },
  { file: "negotiate.sh", runner: "sh", needs: ["sh", "curl"] },
];

describe.each(examples)("examples/$file", ({ file, runner, needs }) => {
  const missing = needs.filter((command) => spawnSync("sh", ["-c", `command -v ${command}`]).status !== 0);
  if (missing.length > 0) {
    it.skip(`skipped: ${missing.join(" and ")} not installed`, () => {});
    return;
  }

  const run = (registry: string, bearer: string): Promise<Finished> =>
    start("env", [`ROLLCALL_TOKEN=${bearer}`, runner, `examples/${file}`, registry]).finished;

  it("shows what three clients get, each adapting to what was settled", async () => {
    const { exitCode, stdout, stderr } = await run(url, token);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const [before, full = "", minimal = "", nothing = "", ...rest] = stdout.split(/^== .*$/m);
    expect([before?.trim(), rest]).toEqual(["", []]);

    expect(full).toMatch(/^ {2}batch_requests 1\.0\.0 \{"max_batch": ?20\}$/m);
    expect(full).toMatch(/^ {2}dev\.rollcall\/context 1\.0\.0 .*"max_items": ?10\}$/m);
    const [, count, used] = full.match(/^chosen: (\d+) items for (\d+) of 700 tokens$/m) ?? [];
    const chosen = [...full.matchAll(/^ {2}(\d+) tokens: \w+ (\S+) of demo\/\w+ \(task\b/gm)];
    expect(chosen.map(([, , id]) => id)).toContain("mcp.weather.get_observation");
    expect(chosen).toHaveLength(Number(count));
    expect(chosen.reduce((sum, [, tokens]) => sum + Number(tokens), 0)).toBe(Number(used));
    expect(full).toContain("list_servers answers as text/event-stream\n");
    expect(full).toContain("get_capability answers as text/event-stream\n  progress: 1 of ");
    expect(full).toContain(`  progress: ${count} of ${count} done\n`);
    expect(full.match(/: as chosen$/gm)).toHaveLength(Number(count));
    expect(full).toContain("resumed under a new id\nchanges since the choice: 0\nsession ended\n");

    expect(minimal).toContain("settled:\n  sampling 1.0.0\n");
    expect(minimal).toContain("list_servers answers as application/json\n");
    expect(minimal).toContain("batch refused: Client does not support required capability: batch_requests");
    expect(minimal.match(/^get_capability answers as application\/json$/gm)).toHaveLength(Number(count));
    expect(minimal.match(/: as chosen$/gm)).toHaveLength(Number(count));
    expect(minimal).not.toContain("progress");

    expect(nothing).toContain("settled: nothing\n");
    expect(nothing).toContain("tool refused: Client does not support required capability: sampling\n");
    expect(nothing).toContain("stream refused: Client does not support required capability: notifications\n");
    for (const part of [full, minimal, nothing]) {
      expect(part).toMatch(/^resource capabilities:\/\/server: rollcall \d+\.\d+\.\d+$/m);
      expect(part).toMatch(/^session ended$/m);
    }
  });

  it("needs no token", async () => {
    const { exitCode, stdout } = await run(url, "");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("demo/weather");
    expect(stdout).not.toContain("demo/petstore");
  });

  it.each([
    ["a token that is not good", () => url, "nonsense", "Unauthorized access"],
    ["no registry there", () => `${url}/elsewhere`, "", "answered 404: is it a registry?"],
    ["nothing there", () => "http://127.0.0.1:1", "", ""],
  ])("says in a sentence that there is %s", async (_, at, bearer, message) => {
    const { exitCode, stderr } = await run(at(), bearer);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(new RegExp(`^${file}: .+\n$`));
    expect(stderr).toContain(message);
  });
});
