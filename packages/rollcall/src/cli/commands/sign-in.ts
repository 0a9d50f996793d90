import { spawn } from "node:child_process";
import { join } from "node:path";
import { connect } from "../../client/connection.ts";
import { isRollcallError } from "../../client/errors.ts";
import { whoami as askWhoami, type Whoami } from "../../client/write.ts";
import { type Context, cloneRoot } from "../context.ts";
import { CliError, UsageError } from "../failure.ts";
import { readConfig, removeLogin, storeLogin } from "../settings/profiles.ts";
import { span } from "../terminal/layout.ts";
import { printable } from "../terminal/printable.ts";
import { ask, readStdin } from "../terminal/prompt.ts";
import { inCloneOnly } from "./clone.ts";

interface LoginOptions {
  tokenStdin?: boolean;
  data?: string;
}

function shape(url: string, { subject, tenants, scopes, admin, expiresAt }: Whoami) {
  return { url, subject, tenants, scopes, admin, expiresAt };
}

function line(context: Context, url: string, who: Whoami): string {
  const { bold, dim } = context.out.colours;
  const host = new URL(url).host;
  if (who.subject === null) return `${host}  ${bold("anonymous")}: public servers only`;
  const scopes = who.scopes.map((scope) => scope.replace(/^registry:/, "")).join(", ");
  const left = who.expiresAt === null ? "" : `  ends in ${span((Date.parse(who.expiresAt) - Date.now()) / 1_000)}`;
  const role = who.admin ? "  admin" : "";
  return `${host} as ${bold(printable(who.subject))}  ${dim("tenants")} ${printable(who.tenants.join(", ")) || "–"}  ${scopes}${role}${left}`;
}

export async function login(context: Context, [given]: string[], options: LoginOptions): Promise<void> {
  if (options.tokenStdin && options.data !== undefined)
    throw new UsageError("--token-stdin and --data exclude each other");
  const known =
    context.flags.url ?? process.env["ROLLCALL_URL"] ?? readConfig().profiles[context.flags.profile ?? "default"]?.url;
  const isAsking =
    given === undefined && known === undefined && process.stdin.isTTY === true && process.stderr.isTTY === true;
  const url =
    given ??
    known ??
    (isAsking ? await ask("Address of the registry:", "rollcall login URL") : "http://127.0.0.1:8787");
  // Refuses an address that is none before anything is asked.
  connect({ url });
  const token = (await tokenFrom(context, options)).trim();
  if (token === "")
    throw new UsageError("The token is empty", { hint: "Pipe it in: echo $TOKEN | rollcall login URL --token-stdin" });
  const connection = connect({ url, token, timeoutMs: context.timeoutMs });
  // What a failed sign-in says is about the token just given, not about one that was stored.
  const own = Object.assign(Object.create(context) as Context, {
    target: () => ({ url, token, profile: "", from: "" }),
  });
  const who = await askWhoami(connection, context.signal).catch((error: unknown) => {
    throw own.signInError(error);
  });
  storeLogin(context.flags.profile ?? "default", connection.url, token);
  context.out.json(shape(connection.url, who));
  context.out.print(`${context.out.colours.green("✓")} Signed in to ${line(context, url, who)}`);
}

async function tokenFrom(context: Context, { tokenStdin, data }: LoginOptions): Promise<string> {
  if (data !== undefined) return mintedToken(context, data);
  if (tokenStdin) return readStdin();
  return ask("Token:", "--token-stdin", { hidden: true });
}

/** A token of the embedded server on this machine, for every tenant. */
async function mintedToken(context: Context, data: string): Promise<string> {
  const root = cloneRoot();
  if (root === undefined) throw inCloneOnly("login --data");
  const tenants = context.flags.tenant === undefined ? ["--tenant", "demo"] : ["--tenant", context.flags.tenant];
  const child = spawn(process.execPath, [join(root, "scripts/token.ts"), "--data", data, ...tenants], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (code !== 0)
    throw new CliError("No token could be made", { where: data, hint: "Is this the --data directory of a server?" });
  return text;
}

export async function logout(context: Context, _args: string[], { all }: { all?: boolean }): Promise<void> {
  const { profile } = context.target();
  const profiles = removeLogin(all ? undefined : profile);
  context.out.json({ profiles });
  context.out.print(profiles.length === 0 ? "There was no login to remove." : `Signed out: ${profiles.join(", ")}`);
  if (process.env["ROLLCALL_TOKEN"]) context.out.warn("ROLLCALL_TOKEN is still set.");
}

export async function whoami(context: Context): Promise<void> {
  const connection = context.connection();
  const who = await askWhoami(connection, context.signal).catch((error: unknown) => {
    if (isRollcallError(error)) throw context.signInError(error);
    throw error;
  });
  context.out.json(shape(connection.url, who));
  context.out.print(line(context, connection.url, who));
}
