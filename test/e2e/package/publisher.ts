import { spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { plainEnvironment } from "./installed.ts";
import type { Shared } from "./shared.ts";

/** Servers of both SDKs that publish themselves by the built kit, as processes, to a real registry. */

const root = join(import.meta.dirname, "../../..");

const servers = {
  "SDK 1": `
    import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
    import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
    import { publishing } from "rollcall/publisher";
    const server = new McpServer({ name: "kit", version: "1.0.0" });
    const done = async () => ({ content: [{ type: "text", text: "done" }] });
    server.registerTool("first", { description: "The first" }, async () => {
      server.registerTool("second", { description: "The second" }, done);
      return done();
    });
    await server.connect(publishing(new StdioServerTransport()));`,
  "SDK 2": `
    import { McpServer } from "@modelcontextprotocol/server";
    import { serveStdio } from "@modelcontextprotocol/server/stdio";
    import { publishingFactory } from "rollcall/publisher";
    const done = async () => ({ content: [{ type: "text", text: "done" }] });
    serveStdio(publishingFactory(() => {
      const server = new McpServer({ name: "kit", version: "1.0.0" });
      server.registerTool("first", { description: "The first" }, async () => {
        server.registerTool("second", { description: "The second" }, done);
        return done();
      });
      return server;
    }));`,
};

function startServer(folder: string, file: string, env: Record<string, string>) {
  const child = spawn(process.execPath, [file], { cwd: folder, env: plainEnvironment(folder, env) });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const answer = async (id: number) => {
    await vi.waitFor(() => expect(stdout).toContain(`"id":${id}`), { timeout: 20_000 });
    return stdout;
  };
  return { child, send, answer, stdout: () => stdout, stderr: () => stderr };
}

const initialize = {
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

export function publisherSuite(shared: Shared): void {
  describe("rollcall/publisher in a process", () => {
    it.each(Object.entries(servers))("%s publishes at start and after a tool is added", async (name, source) => {
      const { folder } = shared.installed;
      const server = `kit${name.at(-1)}`;
      linkSdks(folder);
      writeFileSync(join(folder, `${server}.mjs`), source);
      const token = await shared.token("kits");
      const ask = async (path: string, init: RequestInit = {}) => {
        const headers = { Authorization: `Bearer ${token}`, "Cache-Control": "no-cache" };
        const answer = await fetch(`${shared.registry.url}${path}`, { headers, ...init });
        return ((await answer.json()) as { data: { tools?: { name: string }[]; url: string; secret: string } }).data;
      };
      const post = (path: string, body: object) => ask(path, { method: "POST", body: JSON.stringify(body) });
      await post("/api/mcp/configs", { tenant: "kits", name: server });
      const { url, secret } = await post("/api/hooks", { tenant: "kits", server });
      const started = startServer(folder, `${server}.mjs`, { ROLLCALL_HOOK_URL: url, ROLLCALL_HOOK_SECRET: secret });
      const tools = async () => {
        const { tools: offered = [] } = await ask(`/api/mcp/capabilities/kits/${server}`);
        return offered.map((tool) => tool.name).sort();
      };
      started.send(initialize);
      await started.answer(1);
      started.send({ method: "notifications/initialized" });
      await vi.waitFor(async () => expect(await tools()).toEqual(["first"]), { timeout: 20_000 });
      started.send({ id: 2, method: "tools/call", params: { name: "first", arguments: {} } });
      await started.answer(2);
      await vi.waitFor(async () => expect(await tools()).toEqual(["first", "second"]), { timeout: 20_000 });
      started.child.stdin.end();
      await once(started.child, "close");
      // The transport has its own messages alone, and stderr has nothing to say.
      expect(started.stdout()).not.toContain("rollcall:");
      expect(started.stderr()).toBe("");
    });

    it("a registry that never answers does not keep the process alive", async () => {
      const { folder } = shared.installed;
      linkSdks(folder);
      writeFileSync(join(folder, "hanging.mjs"), servers["SDK 1"]);
      const registry = createServer(() => {}).listen(0, "127.0.0.1");
      await once(registry, "listening");
      const { port } = registry.address() as { port: number };
      const connected = once(registry, "connection");
      const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
      const env = { ROLLCALL_HOOK_URL: `http://127.0.0.1:${port}/hooks/a/b`, ROLLCALL_HOOK_SECRET: secret };
      const started = startServer(folder, "hanging.mjs", env);
      started.send(initialize);
      await started.answer(1);
      const [socket] = await connected;
      started.child.stdin.end();
      const [code] = await once(started.child, "close");
      expect(code).toBe(0);
      socket.destroy();
      registry.close();
    });
  });
}

function linkSdks(folder: string): void {
  try {
    symlinkSync(join(root, "node_modules/@modelcontextprotocol"), join(folder, "node_modules/@modelcontextprotocol"));
  } catch {}
}
