import { readFile } from "node:fs/promises";
import { parseEnv, stripVTControlCharacters } from "node:util";
import { CommandError, didYouMean, UsageError } from "../command.ts";
import { projectPath } from "../project.ts";
import { runTool } from "../run-tool.ts";
import type { DeployConfig, Secrets } from "./checks.ts";

/** Wrangler's own types for these are in a package it does not ship. */
interface Read {
  vars: Record<string, unknown>;
  kv_namespaces: { binding: string }[];
  durable_objects: { bindings: { name: string; class_name: string }[] };
  migrations: { new_sqlite_classes?: string[]; new_classes?: string[] }[];
  assets?: { binding?: string };
  compatibility_flags: string[];
  limits?: { cpu_ms?: number };
  cache?: { enabled: boolean };
  exports?: Record<string, { cache?: { enabled: boolean } }>;
  route?: Route;
  routes?: Route[];
  workers_dev?: boolean;
  definedEnvironments?: string[];
}

type Route = string | { pattern: string };

/** wrangler.toml as wrangler itself reads it for an environment. */
export async function readDeployConfig(env: string | undefined): Promise<DeployConfig> {
  const { definedEnvironments: known = [], ...top } = await read("");
  if (env !== undefined && !known.includes(env)) {
    const meant = didYouMean(env, known) || `; there ${known.length === 1 ? "is" : "are"} ${known.join(", ")}.`;
    throw new UsageError(`wrangler.toml has no environment ${env}${meant}`);
  }
  const config = env === undefined ? top : await read(env);
  return {
    env,
    vars: config.vars,
    kv: config.kv_namespaces.map(({ binding }) => binding),
    objects: Object.fromEntries(config.durable_objects.bindings.map(({ name, class_name }) => [name, class_name])),
    migrated: config.migrations.flatMap((step) => [...(step.new_sqlite_classes ?? []), ...(step.new_classes ?? [])]),
    assets: config.assets?.binding,
    flags: config.compatibility_flags,
    cpuMs: config.limits?.cpu_ms,
    cached: cachedEntrypoints(config),
    entrypoints: Object.keys(config.exports ?? {}),
    hosts: [...(config.route === undefined ? [] : [config.route]), ...(config.routes ?? [])].map(hostOf),
    workersDev: config.workers_dev === true,
  };
}

async function read(env: string): Promise<Read> {
  // Takes a second to load: not for those who ask for --help.
  const { unstable_readConfig } = await import("wrangler");
  try {
    return unstable_readConfig(
      { config: projectPath("wrangler.toml"), env },
      { hideWarnings: true },
    ) as unknown as Read;
  } catch (error) {
    throw new CommandError(`wrangler.toml could not be read.\n\n${(error as Error).message}`);
  }
}

/** `default` is there whether or not `exports` names it, and takes the setting of the whole. */
function cachedEntrypoints({ cache, exports = {} }: Read): string[] {
  const isOn = cache?.enabled === true;
  return ["default", ...Object.keys(exports).filter((name) => name !== "default")].filter(
    (name) => exports[name]?.cache?.enabled ?? isOn,
  );
}

function hostOf(route: Route): string {
  const pattern = typeof route === "string" ? route : route.pattern;
  return pattern.replace(/^[a-z]+:\/\//, "").replace(/\/.*$/, "");
}

/** The secrets that the deployed Worker has. A Worker that does not exist yet has none. */
export async function deployedSecrets(env: string | undefined): Promise<Secrets> {
  const { exitCode, output } = await runTool("wrangler", ["secret", "list", "--format=json", `--env=${env ?? ""}`]);
  if (exitCode === 0) {
    const names = output.matchAll(/"name":\s*"([^"]+)"/g);
    return { known: Array.from(names, ([, name = ""]) => name) };
  }
  if (/\b10007\b|not found|does not exist/i.test(output)) return { known: [] };
  const reason = /ERROR\S*\s+(.+)/.exec(stripVTControlCharacters(output))?.[1]?.trim().replace(/\.$/, "");
  const text = `wrangler could not list the secrets${reason === undefined ? "" : ` (${reason})`}. Log in: npx wrangler login, or set CLOUDFLARE_API_TOKEN; npx wrangler whoami shows who you are.`;
  return { unknown: { level: "stop", text } };
}

/** The secrets in a file, JSON or NAME=VALUE, that is uploaded with the deployment. */
export async function secretsInFile(path: string): Promise<Record<string, string>> {
  const text = await readFile(path, "utf8").catch(() => {
    throw new CommandError(`The secrets file ${path} cannot be read.`);
  });
  const values = text.trimStart().startsWith("{") ? parsedJson(text, path) : parseEnv(text);
  return Object.fromEntries(Object.entries(values).flatMap(([name, value]) => (value ? [[name, String(value)]] : [])));
}

function parsedJson(text: string, path: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError(`The secrets file ${path} is no JSON.`);
  }
}
