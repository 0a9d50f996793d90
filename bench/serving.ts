import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { CommandError } from "../scripts/command.ts";
import { openDataDir } from "../scripts/data-dir.ts";
import { defaultScope, mintToken } from "../scripts/mint-token.ts";
import { projectPath } from "../scripts/project.ts";
import { readWorkerConfig } from "../scripts/worker-config.ts";
import { benchVars, type Target } from "./harness/target.ts";
import { runtimeBelow } from "./process-cost.ts";
import { endWithUs, keptOrScratch } from "./scratch.ts";

/** A server in processes of its own, so that what it takes can be told from what measuring takes. */
export interface Serving extends Target {
  /** The server's process and its runtime; undefined where the system does not tell. */
  processes: { server: number; runtime: number } | undefined;
}

/** Runs `npm run serve`, without npm in between, on a directory of its own unless one is given to keep. */
export async function startServing(keep?: string): Promise<Serving> {
  const data = await keptOrScratch(keep, "bench");
  const vars = Object.entries(benchVars).flatMap(([name, value]) => ["--var", `${name}=${value}`]);
  const args = [projectPath("scripts/serve.ts"), "--port", "0", "--data", data.path, "--no-demo", ...vars];
  const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  endWithUs(server);
  // What the server says is of interest only where something goes wrong.
  let said = "";
  server.stderr.on("data", (chunk) => {
    said = `${said}${chunk}`.slice(-4_000);
  });
  const stop = async () => {
    // A server that never came up has ended already.
    if (server.exitCode === null && server.signalCode === null) {
      server.kill("SIGTERM");
      await once(server, "exit");
    }
    await data.remove();
  };
  try {
    const url = await readyUrl(server.stdout);
    const secret = (await openDataDir(data.path)).secret.value;
    const { vars: own } = await readWorkerConfig();
    const runtime = server.pid === undefined ? undefined : await runtimeBelow(server.pid);
    return {
      url,
      processes: server.pid === undefined || runtime === undefined ? undefined : { server: server.pid, runtime },
      async callerOf(tenants, { admin = false, subject = "bench" } = {}) {
        const claims = { subject, tenants: [...tenants], scope: defaultScope, admin, lifetime: 86_400 };
        return { Authorization: `Bearer ${await mintToken(secret, own, claims)}` };
      },
      stop,
    };
  } catch (cause) {
    if (said !== "") console.error(`The server said last:\n${said}`);
    await stop();
    throw cause;
  }
}

async function readyUrl(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const url = /^ready (\S+)/.exec(line)?.[1];
    if (url !== undefined) return url;
  }
  throw new CommandError("The server ended before it was ready.");
}
