import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Running, start, stopAll } from "./support/process.ts";

const canPaste = ["bash", "curl"].every((command) => spawnSync(command, ["--version"]).status === 0);

let data: string;
let server: Running;
let commands: string[];

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "rollcall-start-"));
  server = npmStart();
  await server.line(/Ctrl-C stops the server/);
  commands = server.stdout().match(/^curl (?:.*\\\n)*.*$/gm) ?? [];
});

afterAll(async () => {
  await stopAll();
  await rm(data, { recursive: true, force: true });
});

describe("npm start", () => {
  it("says what it does, and where the registry is", () => {
    expect(server.stdout()).toContain("First run: made a secret");
    expect(server.stdout()).toContain("Loading the demo catalogue");
    expect(server.stdout()).toMatch(/^Rollcall is running at http:\/\/127\.0\.0\.1:\d+$/m);
    expect(server.stdout()).toMatch(/^eyJ[\w-]+\.[\w-]+\.[\w-]+$/m);
    expect(commands).toHaveLength(3);
  });

  it.runIf(canPaste)("lists the demo servers when its first command is pasted", async () => {
    const list = async () => {
      const { status, body } = await paste(commands[0]);
      expect(status).toBe(200);
      return body.data.items.map(({ name }: { name: string }) => name);
    };
    // The list across tenants follows the writes, a moment behind.
    await expect.poll(list).toEqual(expect.arrayContaining(["compose", "library", "petstore", "shop", "weather"]));
  });

  it.runIf(canPaste)("shows what a demo server can do, with headers, when its second command is pasted", async () => {
    const { status, body, headers } = await paste(commands[1]);
    expect(status).toBe(200);
    expect(headers).toMatch(/^etag: /im);
    expect(headers).toMatch(/^rollcall-generation: \d+/im);
    expect(body.data.tools.length).toBeGreaterThan(0);
  });

  it.runIf(canPaste)("publishes a server when its third command is pasted, twice without complaint", async () => {
    const first = await paste(commands[2]);
    expect(first.status).toBe(201);
    expect(first.body.data).toMatchObject({ digest: expect.stringMatching(/^sha256-/), changes: { additive: 1 } });
    const second = await paste(commands[2]);
    expect(second.status).toBe(200);
    expect(second.body.data.generation).toBe(first.body.data.generation);
  });

  it("says goodbye at Ctrl-C, and picks the data up the next time", async () => {
    server.signalGroup("SIGINT");
    const { stdout } = await server.finished;
    expect(stdout).toContain(`Stopped. The data is in ${data}`);

    const again = npmStart();
    await again.line(/Ctrl-C stops the server/);
    expect(again.stdout()).not.toContain("First run");
    expect(again.stdout()).not.toContain("Loading the demo catalogue");
    again.signalGroup("SIGINT");
    await again.finished;
  });
});

function npmStart(): Running {
  return start("npm", ["start", "--", "--port", "0", "--data", data]);
}

/** What a person sees who pastes the command into a shell, with the status code that curl can be asked to add. */
async function paste(command = "") {
  const { stdout, exitCode } = await start("bash", ["-c", `${command} -w '\\n%{http_code}'`]).finished;
  expect(exitCode).toBe(0);
  const [, headers = "", answer = "", status = ""] = /^(HTTP[\s\S]*?\r\n\r\n)?([\s\S]*)\n(\d+)$/.exec(stdout) ?? [];
  return { headers, body: JSON.parse(answer), status: Number(status) };
}
