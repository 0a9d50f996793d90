import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stopAll } from "./support/process.ts";
import { type RegistryProcess, startRegistry } from "./support/registry-process.ts";

let registry: RegistryProcess;
let token: string;

beforeAll(async () => {
  registry = await startRegistry("t");
  const secret = await readFile(join(registry.data, "secret"), "utf8");
  const made = await piped(["scripts/token.ts", "--secret-stdin", "--tenant", "t", "--sub", "smoke"], secret);
  token = made.stdout.trim();
});

afterAll(async () => {
  await registry?.remove();
  await stopAll();
});

const smoke = (url: string, given = token) => piped(["scripts/smoke.ts", url, "--token-stdin"], given);

async function expectNothingLeft() {
  expect((await registry.send("GET", "/api/mcp/configs")).body.data.items).toEqual([]);
  expect((await registry.send("GET", "/api/hooks?tenant=t")).body.data.items).toEqual([]);
}

describe("npm run smoke", () => {
  it("passes against a registry, with a token from a secret on stdin, and leaves nothing behind", async () => {
    const { exitCode, stdout, stderr } = await smoke(registry.url);
    expect([exitCode, stderr]).toEqual([0, ""]);
    const names = Array.from(stdout.matchAll(/^✓ (\w+)/gm), ([, name]) => name);
    const steps = ["publish", "read", "search", "hook", "negotiate", "stream", "purge", "delete"];
    expect(names).toEqual(["health", "address", "token", ...steps]);
    await expectNothingLeft();
  });

  it.each([
    ["search", "GET", "/api/search"],
    ["negotiate", "GET", "/mcp/session"],
    ["purge", "PATCH", "/api/mcp/configs/"],
  ])("stops at %s where that is broken, and removes what it made", async (step, method, path) => {
    await using proxy = await breaking(registry.url, method, path);
    const { exitCode, stdout, stderr } = await smoke(proxy.url);
    expect([exitCode, stderr]).toEqual([1, `${proxy.url} did not pass: ${step}.\n`]);
    expect(stdout).toMatch(new RegExp(`^✗ ${step} .*500`, "m"));
    await expectNothingLeft();
  });

  it("removes what it made where the answer to the publish is lost, and where it is told to end", async () => {
    await using lost = await breaking(registry.url, "PUT", "/api/mcp/capabilities/", undefined, (answer) =>
      answer.destroy(),
    );
    const { exitCode, stdout, stderr } = await smoke(lost.url);
    expect([exitCode, stderr]).toEqual([1, `${lost.url} did not pass: publish.\n`]);
    expect(stdout).toMatch(/^✗ publish .*cannot be reached/m);
    await expectNothingLeft();
    // Told to end while the search waits for an answer that does not come.
    let ended = () => {};
    await using slow = await breaking(registry.url, "GET", "/api/search", undefined, () => ended());
    const stopped = await piped(["scripts/smoke.ts", slow.url, "--token-stdin"], token, (child) => {
      ended = () => child.kill("SIGTERM");
    });
    expect(stopped.stdout).toMatch(/^✗ search .*Stopped/m);
    await expectNothingLeft();
  });

  it.each([
    ["a token of another registry", "a.b.c", "✗ token .*401"],
    ["a token without the scope", async () => await read(), "✗ token .*lacks the scope registry:publish"],
  ])("refuses %s before anything is published", async (_, given, message) => {
    const { exitCode, stdout } = await smoke(registry.url, typeof given === "string" ? given : await given());
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(new RegExp(message));
    expect(stdout).not.toContain("publish ");
  });

  it("says so where the registry takes itself to be elsewhere", async () => {
    await using proxy = await breaking(registry.url, "NONE", "", "https://registry.example");
    const { exitCode, stdout } = await smoke(proxy.url);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`Set PUBLIC_URL to ${proxy.url} and deploy again`);
  });

  it.each([
    ["ftp://a.example", "is no URL"],
    ["http://a.example", "is not https"],
    ["https://a.example/registry", "Give the origin alone, https://a.example"],
  ])("refuses %s", async (url, message) => {
    const { exitCode, stdout, stderr } = await smoke(url);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
  });
});

async function read(): Promise<string> {
  const secret = await readFile(join(registry.data, "secret"), "utf8");
  const args = ["scripts/token.ts", "--secret-stdin", "--tenant", "t", "--scope", "registry:read"];
  return (await piped(args, secret)).stdout;
}

/**
 * The registry behind an address of its own, with one thing broken: requests that begin so answer 500, or reach the registry
 * and get what `instead` gives them; or it takes itself to be elsewhere.
 */
async function breaking(
  target: string,
  method: string,
  path: string,
  resource?: string,
  instead?: (response: ServerResponse) => void,
) {
  const own = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const server: Server = createServer(async (request, response) => {
    const { url = "", headers, method: used = "GET" } = request;
    const isBroken = used === method && url.startsWith(path);
    if (isBroken && instead === undefined) return response.writeHead(500).end('{"error":"broken"}');
    if (url.startsWith("/.well-known/"))
      return response.writeHead(200).end(JSON.stringify({ resource: resource ?? own() }));
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { connection: _connection, "content-length": _length, "transfer-encoding": _encoding, ...sent } = headers;
    const answer = await fetch(`${target}${url}`, {
      method: used,
      headers: sent as Record<string, string>,
      ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
    });
    if (isBroken) return instead?.(response);
    const { "content-length": _old, "content-encoding": _coded, ...kept } = Object.fromEntries(answer.headers);
    response.writeHead(answer.status, kept);
    if (answer.body === null) return response.end();
    return Readable.fromWeb(answer.body as never)
      .on("error", () => {})
      .pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: own(),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Runs a script with a text on stdin. */
function piped(
  args: string[],
  input: string,
  onStart: (child: ChildProcess) => void = () => {},
): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  const child = spawn("node_modules/.bin/node", args, { stdio: "pipe" });
  onStart(child);
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  // A command that refuses its arguments ends before it has read.
  child.stdin.on("error", () => {}).end(input);
  return new Promise((resolve) => child.once("close", (exitCode) => resolve({ exitCode, ...output })));
}
