import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Running, start } from "./process.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url).href);

/** The reference server of the MCP project, in a process of its own. */
export interface Everything {
  url: string;
  port: number;
  stop(): Promise<void>;
}

export async function startEverything(transport: "streamableHttp" | "sse"): Promise<Everything> {
  const port = await freePort();
  const script = join(root, "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js");
  // Its port comes from the environment alone.
  const running = start("env", [`PORT=${port}`, join(root, "node_modules", ".bin", "node"), script, transport]);
  await answering(`http://127.0.0.1:${port}/`, running);
  return {
    url: `http://127.0.0.1:${port}/${transport === "sse" ? "sse" : "mcp"}`,
    port,
    stop: async () => {
      running.signalGroup("SIGKILL");
      await running.finished;
    },
  };
}

/** A port that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** It writes that it listens to stderr, so asking is the shorter way to find out. */
async function answering(url: string, running: Running): Promise<void> {
  let ended = false;
  void running.finished.then(() => {
    ended = true;
  });
  while (!ended) {
    const response = await fetch(url).catch(() => undefined);
    await response?.body?.cancel();
    if (response !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`server-everything ended before it answered:\n${(await running.finished).stderr}`);
}
