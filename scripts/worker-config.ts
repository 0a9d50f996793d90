import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import type { WorkerOptions } from "miniflare";
import { CommandError, errorCode } from "./command.ts";
import { projectPath } from "./project.ts";
import { toolEnvironment } from "./run-tool.ts";

/** wrangler.toml, as far as the embedded server is concerned. */
export interface ConvertedConfig {
  name: string;
  vars: Record<string, string>;
  compatibilityDate: string;
  compatibilityFlags: string[];
  kvNamespaces: string[];
  durableObjects: Record<string, { className: string; useSQLite: boolean }>;
  assets?: { binding: string; directory: string };
}

export interface WorkerConfig {
  name: string;
  vars: Record<string, string>;
  /** What Miniflare needs to give the Worker the bindings it would have when deployed, but for the vars. */
  bindings: WorkerOptions;
}

/** What was read last time, and what it was read from. */
const keptPath = projectPath("dist", "worker-config.json");
const inputs = ["wrangler.toml", "package.json", "scripts/convert-config.ts", "scripts/worker-config.ts"];

/**
 * Reads wrangler.toml. Wrangler's own conversion to Miniflare options is not used because it also reads .dev.vars,
 * which belong to `npm run dev` alone.
 */
export async function readWorkerConfig(): Promise<WorkerConfig> {
  const { name, vars, assets, kvNamespaces, ...rest } = await convertedConfig();
  return {
    name,
    vars,
    bindings: {
      ...rest,
      kvNamespaces: Object.fromEntries(kvNamespaces.map((binding) => [binding, binding])),
      // The files themselves: what a deployment serves them with is not needed to read them.
      serviceBindings:
        assets === undefined
          ? {}
          : { [assets.binding]: { disk: { path: projectPath(assets.directory), writable: false } } },
    } as WorkerOptions,
  };
}

/** By Wrangler, once for every change of what it is read from. */
async function convertedConfig(): Promise<ConvertedConfig> {
  const hash = createHash("sha256");
  for (const name of inputs) hash.update(await readFile(projectPath(name)));
  const of = hash.digest("hex");
  const kept = await readKept();
  if (kept?.of === of) return kept.config;
  const config = await convert();
  await keep(JSON.stringify({ of, config }));
  return config;
}

/** For the next start. Where nothing may be written, that one reads it again. */
async function keep(text: string): Promise<void> {
  const scratch = `${keptPath}.${process.pid}`;
  try {
    await mkdir(projectPath("dist"), { recursive: true });
    await writeFile(scratch, text);
    await rename(scratch, keptPath);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
  }
}

async function readKept(): Promise<{ of: string; config: ConvertedConfig } | undefined> {
  try {
    return JSON.parse(await readFile(keptPath, "utf8"));
  } catch {
    return undefined;
  }
}

async function convert(): Promise<ConvertedConfig> {
  const script = projectPath("scripts", "convert-config.ts");
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [script], { env: toolEnvironment });
    return JSON.parse(stdout);
  } catch (cause) {
    throw new CommandError(`wrangler.toml could not be read.\n\n${(cause as { stderr?: string }).stderr ?? cause}`);
  }
}
