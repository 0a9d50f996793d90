import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, expect, it } from "vitest";
import { oldestNode, plainEnvironment, run } from "./installed.ts";
import type { Shared } from "./shared.ts";

/** `rollcall config` and `rollcall mcp` of the built package. */

const clients = {
  "claude-code": ".mcp.json",
  "claude-desktop": ".config/Claude/claude_desktop_config.json",
  vscode: ".vscode/mcp.json",
  cursor: ".cursor/mcp.json",
  gemini: ".gemini/settings.json",
  codex: ".codex/config.toml",
  windsurf: ".codeium/windsurf/mcp_config.json",
  cline: ".cline/data/settings/cline_mcp_settings.json",
};

export function connectSuite(shared: Shared): void {
  const home = () => mkdtempSync(join(tmpdir(), "rollcall-home-"));
  const config = (folder: string, args: string[], env: Record<string, string> = {}) =>
    run(shared.installed, ["config", ...args], {
      cwd: folder,
      env: { HOME: folder, ROLLCALL_URL: shared.registry.url, ...env },
    });

  describe("rollcall config", () => {
    it.each(Object.entries(clients))("%s: writes %s, once, and takes it back", async (client, file) => {
      const folder = home();
      const written = await config(folder, [client, "--write"]);
      expect(written).toMatchObject({ code: 0 });
      const text = readFileSync(join(folder, file), "utf8");
      expect(text).toContain(client === "claude-desktop" ? "dist/cli/rollcall.js" : `${shared.registry.url}/mcp`);
      expect(written.stdout.split("\n")[1]).toMatch(/^\+ /);
      const again = await config(folder, [client, "--write"]);
      expect(again.stdout).toContain("has this already");
      expect(readFileSync(join(folder, file), "utf8")).toBe(text);
      const removed = JSON.parse((await config(folder, [client, "--remove", "--json"])).stdout);
      expect(removed).toMatchObject({ client, removed: true });
      expect(readFileSync(join(folder, file), "utf8")).not.toContain("rollcall");
    });

    it("keeps comments, the mode and a link, and what was there before the first change", async () => {
      const folder = home();
      const real = join(folder, "dotfiles.json");
      const before = '{\n  // mine\n  "mcpServers": {}\n}\n';
      writeFileSync(real, before, { mode: 0o640 });
      mkdirSync(join(folder, ".cursor"));
      symlinkSync(real, join(folder, ".cursor/mcp.json"));
      const token = "a.b.c";
      for (const name of ["one", "two"])
        expect(await config(folder, ["cursor", "--write", "--name", name], { ROLLCALL_TOKEN: token })).toMatchObject({
          code: 0,
        });
      expect(lstatSync(join(folder, ".cursor/mcp.json")).isSymbolicLink()).toBe(true);
      const text = readFileSync(real, "utf8");
      expect(text).toContain("// mine");
      expect(text).toContain("$" + "{env:ONE_TOKEN}");
      expect(text).not.toContain(token);
      expect(lstatSync(real).mode & 0o777).toBe(0o640);
      expect(readFileSync(`${real}.before-rollcall`, "utf8")).toBe(before);
    });

    it("a file that cannot be parsed: the line is named, nothing is written", async () => {
      const folder = home();
      mkdirSync(join(folder, ".vscode"));
      const broken = '{\n  "servers": {\n    "a": {}\n    "b": {}\n  }\n}\n';
      writeFileSync(join(folder, ".vscode/mcp.json"), broken);
      const refused = await config(folder, ["vscode", "--write"]);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toMatch(/mcp\.json:4\b/);
      expect(refused.stderr).toContain("Nothing was written");
      expect(readFileSync(join(folder, ".vscode/mcp.json"), "utf8")).toBe(broken);
      const doctor = await run(shared.installed, ["doctor"], {
        cwd: folder,
        env: { HOME: folder, ROLLCALL_URL: shared.registry.url },
      });
      expect(doctor.code).toBe(3);
      expect(doctor.stdout).toMatch(/✗ client +VS Code: .*mcp\.json:4: it is not JSON/);
    });

    it("another server of the name is not replaced", async () => {
      const folder = home();
      const own = '{"mcpServers": {"rollcall": {"command": "mine"}}}\n';
      writeFileSync(join(folder, ".mcp.json"), own);
      const refused = await config(folder, ["claude-code", "--write"]);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("--name") });
      expect(readFileSync(join(folder, ".mcp.json"), "utf8")).toBe(own);
    });

    it("mistakes on the command line say what is known", async () => {
      const folder = home();
      expect(await config(folder, ["emacs"])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("claude-desktop"),
      });
      expect(await config(folder, ["curl", "--write"])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("no file"),
      });
      expect(await config(folder, ["vscode", "acme/nobody"])).toMatchObject({ code: 4 });
      if (process.getuid?.() === 0) return;
      const locked = join(folder, ".mcp.json");
      writeFileSync(locked, "{}");
      chmodSync(locked, 0o400);
      expect(await config(folder, ["claude-code", "--write"])).toMatchObject({ code: 2 });
    });

    it("curl runs as it is printed", async () => {
      const { stdout } = await config(home(), ["curl"]);
      const answer = JSON.parse(execFileSync("bash", ["-c", stdout], { encoding: "utf8" }));
      expect(answer.result.tools.length).toBeGreaterThan(3);
    });

    it("a registered server: its addresses and packages, with what it asks for", async () => {
      const token = await shared.token("conn");
      const env = { ROLLCALL_TOKEN: token };
      const manifest = {
        version: "2.0.0",
        tools: [{ name: "a", inputSchema: { type: "object" } }],
        remotes: [
          {
            type: "streamable-http",
            url: "https://w.acme.dev/mcp",
            headers: [{ name: "X-Key", isRequired: true, isSecret: true }],
          },
        ],
        packages: [{ registryType: "npm", identifier: "@acme/w", version: "2.0.0", transport: { type: "stdio" } }],
      };
      await fetch(`${shared.registry.url}/api/mcp/capabilities/conn/w`, {
        method: "PUT",
        headers: { Authorization: `Bearer ${token}` },
        body: JSON.stringify(manifest),
      });
      const vscode = JSON.parse((await config(home(), ["vscode", "conn/w", "--json"], env)).stdout);
      expect(JSON.parse(vscode.snippet).servers.w).toMatchObject({ type: "http", url: "https://w.acme.dev/mcp" });
      expect(vscode.asks).toMatchObject([{ id: "X-Key", how: "prompt", secret: true }]);
      // It takes commands only, so it gets the package.
      const desktop = JSON.parse((await config(home(), ["claude-desktop", "conn/w", "--json"], env)).stdout);
      expect(JSON.parse(desktop.snippet).mcpServers.w).toEqual({ command: "npx", args: ["-y", "@acme/w@2.0.0"] });
      const unknown = await config(home(), ["vscode", "conn/w", "--way", "remote-7"], env);
      expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("package-0 npm @acme/w 2.0.0") });
    });
  });

  describe("rollcall mcp", () => {
    const bridge = (env: Record<string, string> = {}, url = shared.registry.url) => {
      const { folder } = shared.installed;
      const file = join(folder, "node_modules/rollcall/dist/cli/rollcall.js");
      return { command: oldestNode(), args: [file, "mcp", "--url", url], env: plainEnvironment(folder, env) };
    };

    it.each(["legacy", "auto"] as const)("SDK 2 speaks %s through it", async (mode) => {
      const client = new Client(
        { name: "test", version: "1" },
        mode === "auto" ? { versionNegotiation: { mode } } : {},
      );
      await client.connect(new StdioClientTransport(bridge()));
      expect(client.getNegotiatedProtocolVersion()).toBe(mode === "auto" ? "2026-07-28" : "2025-11-25");
      const { tools } = await client.listTools();
      expect(tools.length).toBeGreaterThan(3);
      const { resources } = await client.listResources();
      const [first] = resources;
      expect((await client.readResource({ uri: first?.uri ?? "" })).contents).toHaveLength(1);
      await client.close();
    });

    it("SDK 1 calls a tool with the login's token; a refused token is an error that says what to do", async () => {
      const token = await shared.token("acme");
      const call = async (env: Record<string, string>) => {
        const client = new OldClient({ name: "test", version: "1" });
        await client.connect(new OldStdio(bridge(env)));
        const done = await client
          .callTool({ name: "search_capabilities", arguments: { task: "anything" } })
          .finally(() => client.close());
        return done as { isError?: boolean; content: unknown[] };
      };
      expect((await call({ ROLLCALL_TOKEN: token })).isError ?? false).toBe(false);
      await expect(call({ ROLLCALL_TOKEN: "a.b.c" })).rejects.toThrow(/rollcall login/);
    });

    /** Lines in, lines out, until the end of both. */
    const exchange = async (input: string, url?: string) => {
      const { command, args, env } = bridge({}, url);
      const child = spawn(command, args, { env });
      let output = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
      child.stdin.end(input);
      const [code] = await once(child, "close");
      return {
        code,
        answers: output
          .trim()
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line)),
      };
    };

    it("answers what was asked before its input ended; junk and a registry that is down are errors", async () => {
      const list = { jsonrpc: "2.0", id: 7, method: "tools/list", params: {} };
      const { code, answers } = await exchange(`not json\n${JSON.stringify(list)}`);
      expect(code).toBe(0);
      expect(answers).toMatchObject([
        { id: null, error: { code: -32700 } },
        { id: 7, result: {} },
      ]);
      const down = await exchange(`${JSON.stringify(list)}\n`, "http://127.0.0.1:9");
      expect(down).toMatchObject({
        code: 0,
        answers: [{ id: 7, error: { message: expect.stringContaining("cannot be reached") } }],
      });
    });

    it("passes streams on as they come, and closes a request that was cancelled", async () => {
      const seen: string[] = [];
      const closed = Promise.withResolvers<void>();
      const server = createServer((request, response) => {
        seen.push(`${request.headers["mcp-method"]} ${request.headers["mcp-name"] ?? ""}`.trim());
        request.resume();
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.write('data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}\n\n');
        response.on("close", closed.resolve);
      }).listen(0, "127.0.0.1");
      await once(server, "listening");
      const { port } = server.address() as { port: number };
      const { command, args, env } = bridge({}, `http://127.0.0.1:${port}`);
      const child = spawn(command, args, { env });
      const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
      const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
      send({ id: "x", method: "tools/call", params: { name: "süß", arguments: {}, _meta: meta } });
      const [first] = await once(child.stdout, "data");
      expect(JSON.parse(String(first))).toMatchObject({ method: "notifications/progress" });
      send({ method: "notifications/cancelled", params: { requestId: "x" } });
      await closed.promise;
      child.stdin.end();
      await once(child, "close");
      expect(seen).toEqual([`tools/call =?base64?${Buffer.from("süß").toString("base64")}?=`]);
      server.close();
    });
  });
}
