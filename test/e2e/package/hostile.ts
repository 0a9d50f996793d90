import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Outcome, oldestNode, plainEnvironment, run } from "./installed.ts";
import type { Shared } from "./shared.ts";

/** Text that others wrote never reaches a terminal or a CI log raw, and ^C leaves nothing running. */
export function hostileSuite(shared: Shared): void {
  let home: string;
  let env: Record<string, string>;
  const servers: Server[] = [];

  beforeAll(async () => {
    home = mkdtempSync(join(shared.installed.folder, "hostile-"));
    const token = await shared.token("wrong");
    env = { ROLLCALL_URL: shared.registry.url, ROLLCALL_TOKEN: token, XDG_CONFIG_HOME: join(home, "nothing") };
  });

  afterAll(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    rmSync(home, { recursive: true, force: true });
  });

  const rollcall = (args: string[], extra: Record<string, string> = {}): Promise<Outcome> =>
    run(shared.installed, args, { env: { ...env, ...extra }, cwd: home });

  async function answering(handle: Parameters<typeof createServer>[1]): Promise<string> {
    const server = createServer(handle);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  describe("^C", () => {
    it("ends watching with 130", async () => {
      const { code } = await run(shared.installed, ["watch", "wrong"], { env, cwd: home, until: /Watching wrong/ });
      expect(code).toBe(130);
    });

    /** Publishes what a command offers that never answers and stays; resolves when the command itself is gone. */
    async function interruptReading(times: number): Promise<number | null> {
      const started = Promise.withResolvers<Socket>();
      const watcher = createTcpServer((socket) => started.resolve(socket));
      await new Promise<void>((resolve) => watcher.listen(0, "127.0.0.1", resolve));
      const { port } = watcher.address() as AddressInfo;
      const script = `process.on("SIGTERM", () => {}); process.on("SIGINT", () => {}); require("net").connect(${port}, "127.0.0.1"); setInterval(() => {}, 1000)`;
      const file = join(shared.installed.folder, "node_modules/rollcall/dist/cli/rollcall.js");
      const child = spawn(oldestNode(), [file, "publish", "wrong/s", "--", oldestNode(), "-e", script], {
        cwd: home,
        env: plainEnvironment(shared.installed.folder, env),
        stdio: "ignore",
      });
      const finished = new Promise<number | null>((resolve) => child.once("close", resolve));
      const socket = await started.promise;
      const gone = new Promise((resolve) => socket.on("error", () => {}).once("close", resolve));
      for (let time = 0; time < times; time += 1) child.kill("SIGINT");
      const code = await finished;
      await gone;
      watcher.close();
      return code;
    }

    it("ends the command that is read", async () => {
      expect(await interruptReading(1)).toBe(130);
    });

    it("twice leaves no command behind", async () => {
      expect(await interruptReading(2)).toBe(130);
    });
  });

  describe("hostile text", () => {
    const osc = "\u001b]0;owned\u0007";
    const controls = /(?!\n)[\p{Cc}\p{Cf}]/u;

    it("of a server's names is escaped where it is refused", async () => {
      const script = `
        const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: "2.0", id, result }));
        require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
          const { id, method } = JSON.parse(line);
          if (method === "server/discover") console.log(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }));
          if (method === "initialize") answer(id, { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } });
          if (method === "tools/list") answer(id, { tools: [{ name: "t${osc.replace("\u001b", "\\u001b").replace("\u0007", "\\u0007")}", inputSchema: { type: "object" } }] });
        });`;
      const { code, stdout, stderr } = await rollcall(["publish", "wrong/osc", "--", oldestNode(), "-e", script]);
      expect(code).toBe(1);
      expect(stdout + stderr).not.toMatch(controls);
    });

    it("of descriptions begins no line of a CI log", async () => {
      const description = "Fine.\n::stop-commands::x\n##[error]y";
      writeFileSync(
        join(home, "ci.json"),
        JSON.stringify({ tools: [{ name: "wrong_ci", description, inputSchema: { type: "object" } }] }),
      );
      const ci = { GITHUB_ACTIONS: "true" };
      mkdirSync(join(home, "ci"), { recursive: true });
      const outputs = [
        await rollcall(["publish", "wrong/ci", "ci.json"], ci),
        await rollcall(["show", "wrong/ci"], ci),
        await rollcall(["show", "wrong/ci", "wrong_ci"], ci),
        await rollcall(["show", "wrong/ci", "wrong_ci", "--json"], ci),
        await rollcall(["search", "fine", "--tenant", "wrong"], ci),
        await rollcall(["pin", "wrong/ci", "--lock", "ci/lock.json", "--yes"], ci),
      ];
      writeFileSync(
        join(home, "ci.json"),
        JSON.stringify({
          tools: [{ name: "wrong_ci", description: `${description}!`, inputSchema: { type: "object" } }],
        }),
      );
      outputs.push(await rollcall(["publish", "wrong/ci", "ci.json"], ci));
      const verified = await rollcall(["verify", "--lock", "ci/lock.json"], {
        ...ci,
        GITHUB_STEP_SUMMARY: join(home, "ci/summary.md"),
      });
      expect(verified.code).toBe(3);
      const annotation =
        /^::error file=ci\/lock.json,line=\d+,title=wrong\/ci tool wrong_ci changed \(cosmetic\)::.*$/m;
      expect(verified.stdout).toMatch(annotation);
      expect(readFileSync(join(home, "ci/summary.md"), "utf8")).toContain(
        "| wrong/ci | tool:wrong_ci | tool wrong_ci changed |",
      );
      outputs.push({ ...verified, stdout: verified.stdout.replace(annotation, "") });
      for (const { stdout, stderr } of outputs) {
        expect(stdout + stderr).not.toMatch(/^\s*::/m);
        expect(stdout + stderr).not.toContain("##[");
      }
    });

    it("of a registry is escaped", async () => {
      const item = {
        id: "x",
        tenant: "t",
        server: "s",
        kind: "tool",
        name: `n${osc}`,
        digest: "d",
        tokens: 1,
        score: 1,
        highlights: {},
        description: `\u009b2J${osc}\u202e`,
      };
      const url = await answering((_request, response) =>
        response.end(JSON.stringify({ success: true, data: { items: [item], usedTokens: 1, generation: 1 } })),
      );
      for (const flags of [[], ["--json"]]) {
        const { code, stdout } = await rollcall(["search", "x", ...flags], { ROLLCALL_URL: url });
        expect(code).toBe(0);
        expect(stdout).not.toMatch(controls);
        if (flags.length > 0) expect(JSON.parse(stdout).items[0].name).toBe(`n${osc}`);
      }
    });

    it("of a registry is escaped in definitions, too", async () => {
      const data = {
        definitions: [{ name: "x", description: "\u009b2J\u202e##[error]" }],
        names: { x: { tenant: "t", server: "s", name: `x${osc}`, kind: "tool", id: "x", digest: "d", flags: [] } },
        leftOut: [{ tenant: "t", server: "s", name: osc, reason: osc, message: osc }],
        ...{ tokens: 1, items: [], usedTokens: 1, generation: 1 },
      };
      const url = await answering((_request, response) => response.end(JSON.stringify({ success: true, data })));
      for (const flags of [[], ["--json"]]) {
        const { code, stdout, stderr } = await rollcall(["search", "x", "--for", "anthropic", ...flags], {
          ROLLCALL_URL: url,
        });
        expect(code).toBe(0);
        expect(stdout + stderr).not.toMatch(controls);
        expect(stdout).not.toContain("##[");
      }
    });
  });

  describe("a registry that lies", () => {
    const digest = (digit: string) => `sha256-${digit.repeat(64)}`;
    const pinned = (registry: string, members: object = {}) => {
      const folder = mkdtempSync(join(home, "lie-"));
      const server = { digest: digest("1"), tokens: 1, capabilities: {}, ...members };
      writeFileSync(
        join(folder, "rollcall.lock.json"),
        JSON.stringify({ lockfileVersion: 1, registry, servers: { "t/s": server } }),
      );
      return folder;
    };

    it.each<[string, unknown, string[], number]>([
      ["null", null, ["list"], 1],
      ["nothing in it", {}, ["list"], 1],
      ["rows that are none", { items: [null] }, ["search", "x"], 1],
      ["no session", {}, ["negotiate", "--task", "x"], 1],
      ["no one", {}, ["whoami"], 1],
    ])("with %s gets a sentence and no stack", async (_name, data, args, expected) => {
      const url = await answering((_request, response) => response.end(JSON.stringify({ success: true, data })));
      const { code, stdout, stderr } = await rollcall(args, { ROLLCALL_URL: url });
      expect([code, stdout]).toEqual([expected, ""]);
      expect(stderr).toMatch(/^✗ (?:What answers at this address is not a registry|An answer is not as expected)/);
      expect(stderr).not.toContain("    at ");
    });

    it("does not pass a verification by leaving out its digest", async () => {
      const url = await answering((_request, response) =>
        response.end(JSON.stringify({ success: true, data: { tools: [], registry: { flags: [], status: "active" } } })),
      );
      const { code, stdout } = await run(shared.installed, ["verify"], {
        env: { ...env, ROLLCALL_URL: url },
        cwd: pinned(url),
      });
      expect([code, stdout]).toEqual([3, expect.stringContaining("server does not hash to its digest")]);
    });

    it("is not reachable where its answer breaks off, and is not read without end", async () => {
      const cut = await answering((_request, response) => {
        response.writeHead(200, { "Content-Length": "1000" }).write('{"data":');
        response.destroy();
      });
      expect((await rollcall(["list"], { ROLLCALL_URL: cut })).code).toBe(5);
      const chunk = Buffer.alloc(1 << 20, 32);
      const endless = await answering((_request, response) => {
        response.on("error", () => {});
        const more = () => {
          while (!response.destroyed && response.write(chunk));
          response.once("drain", more);
        };
        more();
      });
      const { code, stderr } = await rollcall(["list"], { ROLLCALL_URL: endless });
      expect([code, stderr]).toEqual([1, expect.stringContaining("larger than 64 MiB")]);
    });

    it("does not make pin overwrite a lock file that someone else wrote meanwhile", async () => {
      let lock = "";
      const url = await answering((request, response) => {
        writeFileSync(lock, '{"lockfileVersion": 1, "registry": "https://other.test", "servers": {}}');
        const isLog = request.url?.startsWith("/api/changes") === true;
        const data = isLog
          ? { items: [], head: { sequence: 0, hash: "" } }
          : { tools: [], registry: { digest: digest("1"), tokens: 0, flags: [], status: "active" } };
        const isRevision = request.url?.includes("/revisions/") === true;
        response.writeHead(isRevision ? 404 : 200).end(JSON.stringify({ success: true, data }));
      });
      lock = join(pinned(url), "rollcall.lock.json");
      const { code, stderr } = await rollcall(["pin", "t/other", "--lock", lock], { ROLLCALL_URL: url });
      expect([code, stderr]).toEqual([2, expect.stringContaining("was changed by someone else meanwhile")]);
      expect(readFileSync(lock, "utf8")).toContain("other.test");
    });

    it("does not get ROLLCALL_TOKEN because a lock file names it", async () => {
      const seen: (string | undefined)[] = [];
      const url = await answering((request, response) => {
        seen.push(request.headers.authorization);
        response.writeHead(404).end('{"error":{"code":"ErrorMCPServerNotFound","message":"no"}}');
      });
      const cwd = pinned(url);
      const { code, stderr } = await run(shared.installed, ["verify"], { env: { ...env, ROLLCALL_URL: "" }, cwd });
      expect([code, stderr]).toEqual([3, expect.stringContaining("ROLLCALL_TOKEN is not sent")]);
      expect(new Set(seen)).toEqual(new Set([undefined]));
      await run(shared.installed, ["verify"], { env: { ...env, ROLLCALL_URL: url }, cwd });
      expect(seen.at(-1)).toBe(`Bearer ${env["ROLLCALL_TOKEN"]}`);
    });
  });

  describe("an answer that cannot be written", () => {
    it.skipIf(!existsSync("/dev/full"))("is an error, not half an answer", async () => {
      const file = join(shared.installed.folder, "node_modules/rollcall/dist/cli/rollcall.js");
      const child = spawn(oldestNode(), [file, "list"], {
        cwd: home,
        env: plainEnvironment(shared.installed.folder, env),
        stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
      });
      let stderr = "";
      child.stderr?.on("data", (text) => {
        stderr += text;
      });
      const code = await new Promise((resolve) => child.once("close", resolve));
      expect([code, stderr]).toEqual([1, expect.stringContaining("cannot be written: ENOSPC")]);
    });
  });
}
