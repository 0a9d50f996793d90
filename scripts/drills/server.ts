import { spawn } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "../command.ts";
import { openDataDirSecret } from "../data-dir.ts";
import { defaultScope, mintToken } from "../mint-token.ts";
import { projectPath } from "../project.ts";
import { runTool } from "../run-tool.ts";

/** A registry in a process group of its own, so that a drill can kill all of it at once. */
export interface DrilledServer {
  url: string;
  /** The process that started the runtime; its children are the runtime. */
  pid: number;
  /** The end of what it wrote to stderr. */
  log(): string;
  /** kill -9 to the whole group. Resolves when it is gone. */
  kill(): Promise<void>;
}

/** Limits that a drill would reach long before the registry does. */
export const wideLimits = [
  ...["WRITE_LIMIT=100000/100000", "READ_LIMIT=100000/100000", "NEGOTIATE_LIMIT=10000/10000"],
  ...["WORK_LIMIT=1000000/1000000000", "ANONYMOUS_NEGOTIATE_LIMIT=1000000/1000000"],
];

export async function startServer(
  data: string,
  vars: readonly string[] = [],
  bundle?: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<DrilledServer> {
  const settings = [...wideLimits, ...vars].flatMap((assignment) => ["--var", assignment]);
  const script =
    bundle === undefined
      ? ["scripts/serve.ts", "--port", "0", "--no-demo"]
      : ["scripts/drills/serve-bundle.ts", "--bundle", bundle];
  const child = spawn(process.execPath, [...script, "--data", data, ...settings], {
    cwd: projectPath(),
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  // The end of what the server wrote, for when it does not start.
  let log = "";
  child.stderr.setEncoding("utf8");
  child.stderr.on("data", (chunk: string) => {
    log = (log + chunk).slice(-2_000);
  });
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const url = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (chunk: string) => {
      text += chunk;
      const [, found] = /ready (http:\S+)/.exec(text) ?? [];
      if (found !== undefined) resolve(found);
    });
    void gone.then(() => reject(new CommandError(`The server did not start.\n${text}${log}`)));
  });
  const pid = child.pid ?? 0;
  return {
    url,
    pid,
    log: () => log,
    async kill() {
      process.kill(-pid, "SIGKILL");
      await gone;
    },
  };
}

/** A token for these tenants, as `npm run token` would make it. */
export async function tokenFor(data: string, tenants: string[], admin = false): Promise<string> {
  const { secret } = await openDataDirSecret(data);
  return mintToken(secret.value, {}, { subject: "drill", tenants, scope: defaultScope, admin, lifetime: 86_400 });
}

/** A folder below the project that is removed afterwards: the runtime takes no module from elsewhere. */
export async function withScratch<T>(name: string, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(projectPath(".wrangler"), { recursive: true });
  const folder = await mkdtemp(projectPath(".wrangler", `${name}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Builds a Worker with another entry than the deployed one. */
export async function buildEntry(entry: string, folder: string): Promise<string> {
  const built = await runTool("wrangler", ["deploy", entry, "--dry-run", "--outdir", folder]);
  if (built.exitCode !== 0) throw new CommandError(`The Worker could not be built.\n\n${built.output}`);
  const name = entry.split("/").at(-1)?.replace(/\.ts$/, ".js") ?? "";
  return join(folder, name);
}
