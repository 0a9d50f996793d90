import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Running, runCli, startCli } from "./process.ts";

/** A registry in a process of its own, and a token for it. */
export interface RegistryProcess {
  url: string;
  data: string;
  server: Running;
  token: string;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Sent>;
  /** The same data in a new process, after the old one was killed without a word. */
  restart(): Promise<RegistryProcess>;
  remove(): Promise<void>;
}

export interface Sent {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
  body: any;
}

export async function startRegistry(
  tenant: string,
  vars: Record<string, string> = {},
  data?: string,
): Promise<RegistryProcess> {
  const directory = data ?? (await mkdtemp(join(tmpdir(), "rollcall-e2e-")));
  const settings = Object.entries(vars).flatMap(([name, value]) => ["--var", `${name}=${value}`]);
  const server = startCli("serve.ts", "--port", "0", "--data", directory, "--no-demo", ...settings);
  const [, url = ""] = await server.line(/ready (http:\S+)/);
  const made = await runCli("token.ts", "--data", directory, "--tenant", tenant, "--sub", tenant);
  const token = made.stdout.trim();
  return {
    url,
    data: directory,
    server,
    token,
    async send(method, path, body, headers = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, ...headers },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
    },
    async restart() {
      server.signalGroup("SIGKILL");
      await server.finished;
      return startRegistry(tenant, vars, directory);
    },
    async remove() {
      server.signalGroup("SIGKILL");
      await server.finished;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
