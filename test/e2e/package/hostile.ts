import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
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
    const interrupt = async (args: string[], when: RegExp) => {
      const file = join(shared.installed.folder, "node_modules/rollcall/dist/cli/rollcall.js");
      const child = spawn(oldestNode(), [file, ...args], {
        cwd: home,
        env: plainEnvironment(shared.installed.folder, env),
      });
      const finished = new Promise<number | null>((resolve) => child.once("close", resolve));
      await new Promise<void>((resolve) => {
        let text = "";
        for (const stream of [child.stdout, child.stderr]) {
          stream.on("data", (chunk) => {
            text += chunk;
            if (when.test(text)) resolve();
          });
        }
      });
      child.kill("SIGINT");
      return finished;
    };

    it("ends watching with 130", async () => {
      expect(await interrupt(["watch", "wrong"], /Watching wrong/)).toBe(130);
    });

    it("ends the command that is read", async () => {
      const pid = join(home, "interrupted.pid");
      const script = `require("fs").writeFileSync(${JSON.stringify(pid)}, String(process.pid)); setInterval(() => {}, 1000)`;
      const code = interruptWhenFile(pid, ["publish", "wrong/s", "--", oldestNode(), "-e", script]);
      expect(await code).toBe(130);
      expect(() => process.kill(Number(readFileSync(pid, "utf8")), 0)).toThrow("ESRCH");
    });

    async function interruptWhenFile(path: string, args: string[]): Promise<number | null> {
      const file = join(shared.installed.folder, "node_modules/rollcall/dist/cli/rollcall.js");
      const appeared = new Promise<void>((resolve) => {
        const watcher = watch(home, () => {
          if (!existsSync(path) || readFileSync(path, "utf8") === "") return;
          watcher.close();
          resolve();
        });
      });
      const child = spawn(oldestNode(), [file, ...args], {
        cwd: home,
        env: plainEnvironment(shared.installed.folder, env),
        stdio: "ignore",
      });
      const finished = new Promise<number | null>((resolve) => child.once("close", resolve));
      await appeared;
      child.kill("SIGINT");
      return finished;
    }
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
  });
}
