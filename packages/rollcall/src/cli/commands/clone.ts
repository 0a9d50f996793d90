import { spawn } from "node:child_process";
import { join } from "node:path";
import { type Context, cloneRoot } from "../context.ts";
import { CliError, UsageError } from "../failure.ts";

/** The registry itself is not part of the package: it needs workerd, which is larger than everything here. */
export function inCloneOnly(command: string): UsageError {
  return new UsageError(`rollcall ${command} works in a clone of the project`, {
    hint: `Clone it, run npm ci, then: npm run rollcall -- ${command}`,
    code: "ErrorNotInClone",
  });
}

/** Runs one of the project's scripts; its output is the command's. */
async function runScript(
  context: Context,
  command: string,
  script: string,
  args: string[],
  { capture = false } = {},
): Promise<string> {
  const root = cloneRoot();
  if (root === undefined) throw inCloneOnly(command);
  const child = spawn(process.execPath, [join(root, "scripts", script), ...args], {
    stdio: ["inherit", capture ? "pipe" : "inherit", "inherit"],
  });
  context.signal.addEventListener("abort", () => child.kill("SIGINT"), { once: true });
  let text = "";
  child.stdout?.on("data", (chunk) => {
    text += chunk;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  context.signal.throwIfAborted();
  if (code !== 0)
    throw new CliError(`scripts/${script} ended with exit code ${code}`, { exitCode: code === 2 ? 2 : 1 });
  return text;
}

interface TokenOptions {
  data?: string;
  scope?: string;
  admin?: boolean;
  sub?: string;
  ttl?: string;
}

export async function token(
  context: Context,
  _args: string[],
  options: TokenOptions & { tenants: string[] },
): Promise<void> {
  const { data, scope, admin, sub, ttl, tenants } = options;
  const values = { "--data": data, "--scope": scope, "--sub": sub, "--ttl": ttl };
  const args = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  for (const tenant of tenants) args.push("--tenant", tenant);
  if (admin) args.push("--admin");
  const text = await runScript(context, "token", "token.ts", args, { capture: true });
  context.out.json({ token: text.trim() });
  context.out.print(text.trim());
}

interface ServeOptions {
  port?: string;
  data?: string;
  demo: boolean;
}

export async function serve(context: Context, _args: string[], { port, data, demo }: ServeOptions): Promise<void> {
  const args = [...(port === undefined ? [] : ["--port", port]), ...(data === undefined ? [] : ["--data", data])];
  await runScript(context, "serve", "serve.ts", demo ? args : [...args, "--no-demo"]);
}
