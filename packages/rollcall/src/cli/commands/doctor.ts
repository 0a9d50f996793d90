import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import { isRollcallError } from "../../client/errors.ts";
import { type Whoami, whoami } from "../../client/write.ts";
import { verifyLock } from "../../lock/verify.ts";
import { type Context, readLock } from "../context.ts";
import { type CliError, FoundError } from "../failure.ts";
import { clientInfo, modernVersion, withMeta } from "../reader/rpc.ts";
import { configFolder } from "../settings/paths.ts";
import { credentialsFile, credentialsWarning, sameRegistry } from "../settings/profiles.ts";
import { plural, span } from "../terminal/layout.ts";
import { printable } from "../terminal/printable.ts";
import { version } from "../version.ts";

interface Check {
  id: string;
  ok: boolean;
  message: string;
  /** What to run. */
  fix?: string;
}

const skewSeconds = 60;

/** Looks at everything that a command needs, and says how to put right what is wrong. */
export async function doctor(context: Context): Promise<void> {
  const checks: Check[] = [node(), settings()];
  const { url, from, token } = context.target();
  const reached = await registry(context, url, from);
  checks.push(...reached.checks);
  if (reached.isUp) {
    checks.push(...(await identity(context, token)), await mcp(context));
  }
  checks.push(...(await lockFile(context, reached.isUp)));
  // Their parsers are loaded by this command and `config` alone.
  const { checkClients } = await import("../client-config/check.ts");
  checks.push(...checkClients(url).map((check) => ({ id: "client", ...check })));
  context.out.json({ checks });
  const { green, red, dim } = context.out.colours;
  for (const { id, ok, message, fix } of checks) {
    context.out.print(`${ok ? green("✓") : red("✗")} ${id.padEnd(9)} ${printable(message)}`);
    if (fix !== undefined) context.out.print(dim(`            → ${printable(fix)}`));
  }
  const problems = checks.filter(({ ok }) => !ok).length;
  if (problems > 0) throw new FoundError(`${plural(problems, "problem")} found`);
}

function node(): Check {
  const [major = 0] = process.versions.node.split(".").map(Number);
  const message = `Node ${process.versions.node}, rollcall ${version}`;
  return major >= 20
    ? { id: "node", ok: true, message }
    : { id: "node", ok: false, message, fix: "Install Node 20 or newer" };
}

function settings(): Check {
  const folder = configFolder();
  const warning = credentialsWarning();
  if (warning !== undefined)
    return { id: "config", ok: false, message: warning, fix: `chmod 600 ${credentialsFile()}` };
  let at = folder;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  try {
    accessSync(at, constants.W_OK);
    return {
      id: "config",
      ok: true,
      message: existsSync(credentialsFile()) ? `${folder}, tokens readable by you alone` : `${folder}, no login stored`,
    };
  } catch {
    return {
      id: "config",
      ok: false,
      message: `${folder} is not writable: logins cannot be stored`,
      fix: "Set ROLLCALL_URL and ROLLCALL_TOKEN, or ROLLCALL_CONFIG_DIR",
    };
  }
}

async function registry(context: Context, url: string, from: string): Promise<{ checks: Check[]; isUp: boolean }> {
  const started = Date.now();
  try {
    const response = await context.connection().send("GET", "/healthz", { signal: context.signal });
    const ms = Date.now() - started;
    const health = (await response.json().catch(() => ({}))) as { data?: { name?: string; version?: string } };
    const { name, version: theirs } = health.data ?? {};
    if (name === undefined) {
      const fix = "Check the address: it is not a registry";
      return {
        checks: [{ id: "registry", ok: false, message: `${url} (${from}) answers, but is not a registry`, fix }],
        isUp: false,
      };
    }
    const isTls = url.startsWith("https:") ? "TLS" : "this machine or no TLS";
    const checks = [
      { id: "registry", ok: true, message: `${url} (${from}) answers in ${ms} ms, ${isTls}` },
      api(theirs ?? ""),
      clock(response, started),
    ];
    return { checks, isUp: true };
  } catch (error) {
    if (!isRollcallError(error)) throw error;
    const fix = "Start it (npm start in a clone), or name another: rollcall doctor --url URL";
    return { checks: [{ id: "registry", ok: false, message: `${url} (${from}): ${error.message}`, fix }], isUp: false };
  }
}

/** Before 1.0 the second number is the one that breaks. */
function api(theirs: string): Check {
  const line = (text: string) =>
    text
      .split(".")
      .slice(0, text.startsWith("0.") ? 2 : 1)
      .join(".");
  const ok = line(theirs) === line(version);
  const message = `registry ${theirs}, command ${version}`;
  return ok ? { id: "version", ok, message } : { id: "version", ok, message, fix: "Update the older one" };
}

/** A wrong clock breaks tokens and hooks. */
function clock(response: Response, started: number): Check {
  const header = response.headers.get("Date");
  const theirs = header === null ? Number.NaN : Date.parse(header);
  if (Number.isNaN(theirs))
    return { id: "clock", ok: true, message: "not compared: the registry does not tell its time" };
  const middle = (started + Date.now()) / 2;
  const off = (middle - theirs) / 1_000;
  if (Math.abs(off) <= skewSeconds) return { id: "clock", ok: true, message: "within a minute of the registry's" };
  const message = `this machine is ${span(off)} ${off > 0 ? "ahead of" : "behind"} the registry: tokens and hooks will be refused`;
  return { id: "clock", ok: false, message, fix: "Set the clock: sudo timedatectl set-ntp true" };
}

async function identity(context: Context, token: string | undefined): Promise<Check[]> {
  let who: Whoami;
  try {
    who = await whoami(context.connection(), context.signal);
  } catch (error) {
    const shown = context.signInError(error) as Error & Partial<CliError>;
    return [{ id: "token", ok: false, message: shown.message, fix: shown.hint }];
  }
  if (token === undefined || who.subject === null) {
    return [{ id: "token", ok: true, message: "none: public servers only", fix: "rollcall login" }];
  }
  const left = who.expiresAt === null ? "" : `, ends in ${span((Date.parse(who.expiresAt) - Date.now()) / 1_000)}`;
  const canPublish = who.scopes.includes("registry:publish") ? "read and publish" : "read only";
  return [
    { id: "token", ok: true, message: `${who.subject}, ${canPublish}${left}` },
    { id: "tenants", ok: true, message: who.admin ? "all (admin)" : who.tenants.join(", ") || "none" },
  ];
}

async function mcp(context: Context): Promise<Check> {
  const body = { jsonrpc: "2.0", id: 1, method: "server/discover", params: withMeta({}) };
  const headers = {
    "MCP-Protocol-Version": modernVersion,
    "Mcp-Method": "server/discover",
    Accept: "application/json, text/event-stream",
  };
  try {
    const response = await context.connection().send("POST", "/mcp", { body, headers, signal: context.signal });
    const ok = (await response.text()).includes('"result"');
    return ok
      ? { id: "mcp", ok, message: `/mcp answers as ${clientInfo.name} of ${modernVersion}` }
      : {
          id: "mcp",
          ok,
          message: "/mcp answers, but not as an MCP server",
          fix: "Check what stands in front of the registry",
        };
  } catch (error) {
    const { message } = error as Error;
    return { id: "mcp", ok: false, message: `/mcp: ${message}`, fix: "Check what stands in front of the registry" };
  }
}

async function lockFile(context: Context, isUp: boolean): Promise<Check[]> {
  let found: ReturnType<typeof readLock>;
  try {
    found = readLock();
  } catch (error) {
    const shown = error as CliError;
    return [{ id: "lock", ok: false, message: shown.message, fix: shown.hint }];
  }
  if (found === undefined) return [];
  const { lock, path } = found;
  const count = plural(Object.keys(lock.servers).length, "server");
  if (!sameRegistry(lock.registry, context.target().url)) {
    return [{ id: "lock", ok: true, message: `${path}: ${count} of another registry, ${lock.registry}` }];
  }
  if (!isUp) return [{ id: "lock", ok: true, message: `${path}: ${count}, not compared` }];
  try {
    const { ok } = await verifyLock(context.connection(), lock, { signal: context.signal });
    return ok
      ? [{ id: "lock", ok, message: `${path}: ${count}, as pinned` }]
      : [{ id: "lock", ok, message: `${path}: not what was reviewed`, fix: "rollcall verify" }];
  } catch (error) {
    return [{ id: "lock", ok: false, message: `${path}: ${(error as Error).message}`, fix: "rollcall verify" }];
  }
}
