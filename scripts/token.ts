import { scopes } from "../src/auth/principal.ts";
import { TenantName, tenantKey } from "../src/kernel/names.ts";
import { CommandError, didYouMean, runCommand, UsageError } from "./command.ts";
import { defaultDataDir, openDataDirSecret } from "./data-dir.ts";
import { readDeployConfig } from "./deploy/read-config.ts";
import { devVarsName, readDevSecret } from "./dev-vars.ts";
import { defaultScope, maxTokenLifetime, mintToken } from "./mint-token.ts";
import { readSecretFromStdin } from "./stdin.ts";
import { readWorkerConfig } from "./worker-config.ts";

const help = `
Usage: npm run --silent token -- --tenant T [--tenant U ...] [--scope S] [--admin] [--sub S] [--ttl TIME] [--data DIR | --dev | --secret-stdin [--env NAME]]

Prints a token that the server on that data directory, or a deployment, accepts, and nothing else.

  --tenant T      a tenant the token may act for; may be repeated (needed unless --admin)
  --scope S       what it may do, separated by spaces (default "${defaultScope}")
  --admin         may also do what concerns the whole registry
  --sub S         who it stands for (default "developer")
  --ttl TIME      how long it is valid: seconds, or 15m, 1h, 1d, which is the most (default 1h)
  --data DIR      the server's data directory (default ${defaultDataDir}); its secret is made if there is none yet
  --dev           for \`npm run dev\` instead: uses the secret in ${devVarsName}
  --secret-stdin  for a deployment: signs with the JWT_SECRET that is piped in, which is kept nowhere
  --env NAME      the environment of wrangler.toml whose issuer and audience a deployment asks for, such as staging
  --help          this text
`;

const options = {
  tenant: { type: "string", multiple: true, default: [] as string[] },
  scope: { type: "string", default: defaultScope },
  admin: { type: "boolean", default: false },
  sub: { type: "string", default: "developer" },
  ttl: { type: "string", default: "1h" },
  data: { type: "string" },
  dev: { type: "boolean", default: false },
  "secret-stdin": { type: "boolean", default: false },
  env: { type: "string" },
} as const;

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3_600, d: 86_400 };

await runCommand({ help, options }, async (values) => {
  const deployed = values["secret-stdin"];
  const homes = { "--dev": values.dev, "--data": values.data !== undefined, "--secret-stdin": deployed };
  const [home, other] = Object.entries(homes).flatMap(([option, isGiven]) => (isGiven ? [option] : []));
  if (other !== undefined) throw new UsageError(`${home} and ${other} exclude each other.`);
  if (values.env !== undefined && !deployed) throw new UsageError("--env is for deployments: add --secret-stdin.");
  const claims = {
    subject: nonEmpty("--sub", values.sub),
    tenants: parseTenants(values.tenant, values.admin),
    scope: parseScope(values.scope),
    admin: values.admin,
    lifetime: parseLifetime(values.ttl),
  };
  if (deployed) {
    const secret = await deploymentSecret();
    console.log(await mintToken(secret, await deploymentVars(values.env), claims));
    return;
  }
  const secret = values.dev ? await devSecret() : await dataDirSecret(values.data ?? defaultDataDir);
  const { vars } = await readWorkerConfig();
  console.log(await mintToken(secret, vars, claims));
});

async function deploymentSecret(): Promise<string> {
  const secret = await readSecretFromStdin("the deployment's JWT_SECRET");
  const bytes = Buffer.byteLength(secret);
  if (bytes >= 32) return secret;
  throw new CommandError(`The secret piped in has ${bytes} bytes. A deployment takes none below 32: is it cut off?`);
}

/** A deployment that trusts an identity provider refuses tokens signed with a secret. */
async function deploymentVars(env: string | undefined): Promise<Record<string, string>> {
  const { vars } = env === undefined ? await readWorkerConfig() : await readDeployConfig(env);
  if (vars["JWKS_URL"]) {
    throw new CommandError("wrangler.toml sets JWKS_URL: the deployment takes tokens of that identity provider alone.");
  }
  return Object.fromEntries(Object.entries(vars).map(([name, value]) => [name, String(value)]));
}

async function devSecret(): Promise<string> {
  const secret = await readDevSecret();
  if (secret === undefined)
    throw new CommandError(`There is no JWT_SECRET in ${devVarsName} yet: npm run dev makes one.`);
  return secret;
}

async function dataDirSecret(data: string): Promise<string> {
  const { path, secret, isUsed } = await openDataDirSecret(data);
  if (secret.created) console.error(`Made a new secret in ${path}`);
  if (!isUsed) {
    console.error(`No server has used ${path}; a server started with --data ${data} will accept this token`);
  }
  return secret.value;
}

function parseTenants(tenants: string[], admin: boolean): string[] {
  if (tenants.length === 0 && !admin) throw new UsageError("--tenant is needed at least once, or --admin.");
  for (const tenant of tenants) {
    const parsed = TenantName.safeParse(tenant);
    if (!parsed.success) throw new UsageError(`--tenant "${tenant}" ${parsed.error.issues[0]?.message}.`);
  }
  return [...new Map(tenants.map((tenant) => [tenantKey(tenant), tenant])).values()];
}

function parseLifetime(text: string): number {
  const [, count = "0", unit = "s"] = /^(\d+)([smhd]?)$/.exec(text) ?? [];
  const seconds = Number(count) * (unitSeconds[unit || "s"] ?? 0);
  if (seconds < 1 || seconds > maxTokenLifetime) {
    throw new UsageError(
      `--ttl must be from 1 to ${maxTokenLifetime} seconds, written as 90, 15m, 1h or 1d, not "${text}".`,
    );
  }
  return seconds;
}

function parseScope(text: string): string {
  const words = nonEmpty("--scope", text.trim()).split(/\s+/);
  for (const word of words) {
    if ((scopes as readonly string[]).includes(word)) continue;
    throw new UsageError(`Unknown scope ${word}${didYouMean(word, scopes) || ";"} Known: ${scopes.join(", ")}.`);
  }
  return words.join(" ");
}

function nonEmpty(option: string, value: string): string {
  if (value === "") throw new UsageError(`${option} must not be empty.`);
  return value;
}
