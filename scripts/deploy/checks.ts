import { ConfigError, readConfig, Settings } from "../../src/config.ts";
import { loopbackNames } from "../../src/kernel/names.ts";
import { didYouMean } from "../command.ts";

/** wrangler.toml for one environment, as far as a deployment can go wrong by it. */
export interface DeployConfig {
  /** Name of the environment; undefined for the top level. */
  env: string | undefined;
  vars: Record<string, unknown>;
  kv: string[];
  /** Name of the binding → class. */
  objects: Record<string, string>;
  /** Classes that a migration creates. */
  migrated: string[];
  assets: string | undefined;
  flags: string[];
  cpuMs: number | undefined;
  /** Entrypoints that have the platform's cache in front. */
  cached: string[];
  /** Entrypoints that the configuration names. */
  entrypoints: string[];
  /** Hosts of custom domains and routes; `*.` stands for any name below. */
  hosts: string[];
  /** Whether the deployment is at its address below workers.dev, too. */
  workersDev: boolean;
}

/**
 * Names of the secrets that the deployment will have, or why they are not known and what that means; `given` are those with
 * values that are uploaded with it.
 */
export type Secrets = ({ known: readonly string[] } | { unknown: Finding }) & { given?: Record<string, string> };

export interface Finding {
  /** A deployment with a `stop` would not work, or not be safe. */
  level: "stop" | "note";
  text: string;
}

const neededObjects = ["TENANTS", "DIRECTORY", "SESSIONS", "STREAMS"];
const knownEntrypoints = ["default", "PublicAnswers"];
const secretNames = ["JWT_SECRET", "SIGNING_SECRET", "SOURCE_CREDENTIALS"];
const neededFlags: Record<string, string> = {
  global_fetch_strictly_public: "without it a source or subscriber can name an origin of your own zone",
  enable_request_signal: "without it the registry does not notice that a client has left",
};
/** The most that the platform gives a request on a paid plan. */
const maxCpuMs = 300_000;

/** What is missing or wrong in a deployment, each with what to do about it. Pure: no account, no files. */
export function findings(config: DeployConfig, secrets: Secrets): Finding[] {
  return [
    ...bindings(config),
    ...settings(config),
    ...limits(config),
    ...cache(config),
    ...givenSecrets(secrets),
    ...tokenKeys(config, secrets),
  ];
}

const stop = (text: string): Finding => ({ level: "stop", text });
const note = (text: string): Finding => ({ level: "note", text });

function* bindings({ env, kv, objects, migrated, assets, flags }: DeployConfig): Generator<Finding> {
  const below = env === undefined ? "" : `env.${env}.`;
  const inherits = env === undefined ? "" : " An environment inherits no bindings.";
  if (!kv.includes("REGISTRY")) {
    yield stop(`The KV namespace REGISTRY is missing. Add it below [[${below}kv_namespaces]].${inherits}`);
  }
  for (const name of neededObjects) {
    const bound = objects[name];
    if (bound === undefined) {
      yield stop(`The object ${name} is missing. Add it below [[${below}durable_objects.bindings]].${inherits}`);
    } else if (!migrated.includes(bound)) {
      yield stop(`No migration creates ${bound}. Add it to new_sqlite_classes of a new [[migrations]].`);
    }
  }
  if (assets === undefined) yield stop('The assets have no binding. Set binding = "ASSETS" below [assets].');
  for (const [flag, why] of Object.entries(neededFlags)) {
    if (!flags.includes(flag)) yield stop(`compatibility_flags lacks ${flag}: ${why}.`);
  }
}

function* settings({ vars, hosts, workersDev }: DeployConfig): Generator<Finding> {
  for (const name of Object.keys(vars)) {
    if (secretNames.includes(name)) {
      if (vars[name] !== "")
        yield stop(`${name} is a secret, but stands below [vars] for all to read. Take it out there.`);
    } else if (!(name in Settings.shape)) {
      yield note(
        `${name} below [vars] is no setting of the registry${didYouMean(name, Object.keys(Settings.shape)) || "."}`,
      );
    }
  }
  try {
    const { publicUrl, allowLoopbackFetch } = readConfig({ ...vars });
    if (publicUrl === undefined) {
      yield note("PUBLIC_URL is empty: links, hooks and metadata name the origin of each request.");
    } else {
      const { hostname, protocol } = new URL(publicUrl);
      if (protocol !== "https:" || loopbackNames.includes(hostname)) {
        yield stop(`PUBLIC_URL is ${publicUrl}, which only this machine reaches. Set the deployment's https origin.`);
      } else if (hosts.length > 0 && !isServed(hostname, hosts, workersDev)) {
        yield stop(`PUBLIC_URL is ${publicUrl}, but the routes are for ${hosts.join(", ")}. Make them agree.`);
      }
    }
    if (allowLoopbackFetch) {
      yield stop("ALLOW_LOOPBACK_FETCH is true, which is for development. Set it to false.");
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    yield stop(`${error.message}. Correct it below [vars]; docs/reference/settings.md has every setting.`);
  }
}

function isServed(hostname: string, hosts: readonly string[], workersDev: boolean): boolean {
  if (workersDev && hostname.endsWith(".workers.dev")) return true;
  return hosts.some((host) => (host.startsWith("*") ? hostname.endsWith(host.slice(1)) : hostname === host));
}

function* limits({ cpuMs }: DeployConfig): Generator<Finding> {
  if (cpuMs === undefined) {
    yield note("There is no cpu_ms below [limits]: a request may compute for the platform's 30 s.");
  } else if (!(cpuMs >= 1_000 && cpuMs <= maxCpuMs)) {
    yield stop(`cpu_ms is ${cpuMs}. It must be from 1000, which a large publish needs, to ${maxCpuMs}.`);
  }
}

function* cache({ cached, entrypoints }: DeployConfig): Generator<Finding> {
  for (const name of entrypoints) {
    if (knownEntrypoints.includes(name)) continue;
    yield stop(`[exports.${name}] names no entrypoint of src/index.ts${didYouMean(name, knownEntrypoints) || "."}`);
  }
  if (cached.includes("default")) {
    yield stop("The platform's cache is on for `default`, which checks who asks: answers would go to others.");
  }
  if (!cached.includes("PublicAnswers")) {
    yield note("The platform's cache is off for PublicAnswers: each data centre reads bodies from KV by itself.");
  }
}

/** Secrets that the registry could not use, before they are uploaded. */
function* givenSecrets({ given = {} }: Secrets): Generator<Finding> {
  for (const [name, value] of Object.entries(given)) {
    if (!secretNames.includes(name)) {
      yield note(`${name} of the secrets file is no secret of the registry${didYouMean(name, secretNames) || "."}`);
      continue;
    }
    try {
      readConfig({ [name]: value });
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      yield stop(`${error.message}. Correct it in the secrets file.`);
    }
  }
}

function* tokenKeys({ env, vars }: DeployConfig, secrets: Secrets): Generator<Finding> {
  if ("unknown" in secrets) {
    yield secrets.unknown;
    return;
  }
  const put = (name: string) =>
    `npx wrangler secret put ${name}${env === undefined ? "" : ` --env ${env}`}, or give --secrets-file FILE`;
  const has = (name: string) => secrets.known.includes(name);
  if (vars["JWKS_URL"]) {
    if (has("JWT_SECRET")) yield note("JWKS_URL is set, so tokens signed with JWT_SECRET are refused.");
    if (!has("SIGNING_SECRET") && !has("JWT_SECRET")) {
      yield stop(`SIGNING_SECRET is missing: lists could not be continued. ${put("SIGNING_SECRET")}.`);
    }
  } else if (!has("JWT_SECRET")) {
    yield stop(`JWT_SECRET is missing: every request with a token would answer 503. ${put("JWT_SECRET")}.`);
  }
}
