import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Running, start, stopAll } from "./support/process.ts";

const canPaste = ["bash", "curl"].every((command) => spawnSync(command, ["--version"]).status === 0);

let data: string;
let server: Running;
let commands: string[];
let settings: string;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "rollcall-start-"));
  server = npmStart();
  await server.line(/MCP clients: /);
  commands = server.stdout().match(/^curl (?:.*\\\n)*.*$/gm) ?? [];
  settings = (server.stdout().match(/^ {2}export .*$/gm) ?? []).join("\n");
});

afterAll(async () => {
  await stopAll();
  await rm(data, { recursive: true, force: true });
});

describe("npm start", () => {
  it("says what it does, where the registry is and what to do next", () => {
    expect(server.stdout()).toContain("First run: made a secret");
    expect(server.stdout()).toContain("Loading the demo catalogue");
    expect(server.stdout()).toMatch(
      /^Rollcall is running at http:\/\/127\.0\.0\.1:\d+ {3}\(data in .*; Ctrl-C stops it/m,
    );
    expect(commands).toHaveLength(3);
    for (const path of ["/mcp", "/openapi.json"]) expect(server.stdout()).toMatch(new RegExp(`127.0.0.1:\\d+${path}`));
  });

  it("prints where to look in a browser, with a link that signs in", async () => {
    const [, page = "", link = ""] = /^In a browser: (\S+)\nSigned in: {4}(\S+)$/m.exec(server.stdout()) ?? [];
    expect(link).toMatch(new RegExp(`^${page}/sign-in#token=eyJ`));
    for (const address of [page, link]) {
      const answer = await fetch(address, { headers: { Accept: "text/html" } });
      expect([answer.status, answer.headers.get("Content-Type")]).toEqual([200, "text/html; charset=utf-8"]);
      expect(await answer.text()).toContain("</html>");
    }
  });

  it("prints one token, for the demo alone, and no admin's unasked", () => {
    const tokens = [...new Set(server.stdout().match(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g))];
    expect(tokens).toHaveLength(1);
    const { tenants, scope, admin } = decodeJwt(tokens[0] ?? "");
    expect({ tenants, scope, admin }).toEqual({ tenants: ["demo"], scope: "registry:read registry:publish" });
  });

  it.runIf(canPaste)("finds a demo tool when its first command is pasted", async () => {
    const { status, body } = await paste(commands[0]);
    expect(status).toBe(200);
    expect(body.data.items.map(({ server: name }: { server: string }) => name)).toContain("weather");
  });

  it.runIf(canPaste)("shows what a demo server can do when its second command is pasted", async () => {
    const { status, body } = await paste(commands[1]);
    expect(status).toBe(200);
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

  it("says goodbye at Ctrl-C, picks the data up the next time, and prints an admin's token when asked", async () => {
    server.signalGroup("SIGINT");
    const { stdout } = await server.finished;
    expect(stdout).toContain(`Stopped. The data is in ${data}`);

    const again = npmStart("--admin");
    await again.line(/MCP clients: /);
    expect(again.stdout()).not.toContain("First run");
    expect(again.stdout()).not.toContain("Loading the demo catalogue");
    expect(decodeJwt(again.stdout().match(/eyJ\S+/)?.[0] ?? "")["admin"]).toBe(true);
    again.signalGroup("SIGINT");
    await again.finished;
  });
});

function npmStart(...args: string[]): Running {
  return start("npm", ["start", "--", "--port", "0", "--data", data, ...args]);
}

/** What a person sees who pastes the command after the exports, with the status code that curl can be asked to add. */
async function paste(command = "") {
  const { stdout, exitCode } = await start("bash", [
    "-c",
    `${settings}\n${command.replace("-w '\\n'", "-w '\\n%{http_code}'")}`,
  ]).finished;
  expect(exitCode).toBe(0);
  const [, answer = "", status = ""] = /^([\s\S]*)\n(\d+)$/.exec(stdout) ?? [];
  return { body: JSON.parse(answer), status: Number(status) };
}
