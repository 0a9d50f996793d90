import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { runCommand } from "../scripts/command.ts";
import { projectPath, projectRoot } from "../scripts/project.ts";
import { readCount } from "./corpus/sizes.ts";

const help = `
Usage: npm run bench:publisher [-- --rounds N]

What the publisher kit costs a server whose registry is down. The same stdio server four times: without the kit (twice, to
see what noise is), with a registry that refuses connections, and with one that never answers. Tools are called in rounds,
all servers in turn, and every server announces a changed list in each round. Prints medians of microseconds, and ratios to
the server without the kit.
  --rounds N   rounds of 200 calls to each (default 20)
`;

const callsPerRound = 200;

/** A server of SDK 1; with a hook in its environment it publishes itself. */
const source = `
  import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
  import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
  import { publishing } from "${projectPath("packages/rollcall/src/publisher/index.ts")}";
  const server = new McpServer({ name: "bench", version: "1.0.0" });
  const done = async () => ({ content: [{ type: "text", text: "done" }] });
  for (let count = 0; count < 20; count += 1) server.registerTool("tool" + count, { description: "Tool " + count }, done);
  server.registerTool("announce", {}, async () => { server.sendToolListChanged(); return done(); });
  const transport = new StdioServerTransport();
  await server.connect(process.env.ROLLCALL_HOOK_URL ? publishing(transport) : transport);
`;

class Peer {
  readonly times: number[] = [];
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, () => void>();
  #id = 0;

  constructor(file: string, env: Record<string, string>) {
    const given = { ...process.env, ...env };
    this.#child = spawn(process.execPath, [file], { cwd: projectRoot, env: given, stdio: ["pipe", "pipe", "ignore"] });
    if (this.#child.stdout === null) throw new Error("no stdout");
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      const { id } = JSON.parse(line) as { id?: number };
      if (id !== undefined) this.#waiting.get(id)?.();
    });
  }

  async request(method: string, params: object): Promise<void> {
    this.#id += 1;
    const id = this.#id;
    const answered = new Promise<void>((resolve) => this.#waiting.set(id, resolve));
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    await answered;
    this.#waiting.delete(id);
  }

  async round(): Promise<void> {
    await this.request("tools/call", { name: "announce", arguments: {} });
    for (let call = 0; call < callsPerRound; call += 1) {
      const started = performance.now();
      await this.request("tools/call", { name: `tool${call % 20}`, arguments: {} });
      this.times.push((performance.now() - started) * 1_000);
    }
  }

  async end(): Promise<void> {
    this.#child.stdin?.end();
    await once(this.#child, "close");
  }
}

function quantile(times: readonly number[], part: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length * part)] ?? 0);
}

await runCommand({ help, options: { rounds: { type: "string", default: "20" } } }, async ({ rounds }) => {
  const count = readCount("--rounds", rounds);
  const folder = await mkdtemp(projectPath(".wrangler", "bench-publisher-"));
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as { port: number };
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const { port: closedPort } = closed.address() as { port: number };
  closed.close();
  const hook = (at: number) => ({
    ROLLCALL_HOOK_URL: `http://127.0.0.1:${at}/hooks/a/b`,
    ROLLCALL_HOOK_SECRET: `whsec_${Buffer.alloc(32, 1).toString("base64")}`,
  });
  try {
    const file = `${folder}/server.ts`;
    await writeFile(file, source);
    const peers = {
      "without the kit": new Peer(file, {}),
      "without the kit, again": new Peer(file, {}),
      "registry refuses connections": new Peer(file, hook(closedPort)),
      "registry never answers": new Peer(file, hook(port)),
    };
    const greeting = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bench", version: "1" } };
    for (const peer of Object.values(peers)) await peer.request("initialize", greeting);
    // Warm up; what is measured starts here.
    for (const peer of Object.values(peers)) await peer.round();
    for (const peer of Object.values(peers)) peer.times.length = 0;
    for (let round = 0; round < count; round += 1) for (const peer of Object.values(peers)) await peer.round();
    const [plain] = Object.values(peers).map(({ times }) => quantile(times, 0.5));
    const cases = Object.entries(peers).map(([name, { times }]) => ({
      name,
      ratio: Math.round((quantile(times, 0.5) / (plain ?? 1)) * 1_000) / 1_000,
      p50: quantile(times, 0.5),
      p95: quantile(times, 0.95),
      calls: times.length,
    }));
    console.log(JSON.stringify({ unit: "microseconds", cases }, null, 2));
    await Promise.all(Object.values(peers).map((peer) => peer.end()));
  } finally {
    silent.close();
    silent.unref();
    await rm(folder, { recursive: true, force: true });
  }
});
