import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { CommandError } from "./command.ts";
import type { EmbeddedServer } from "./embedded.ts";
import { defaultScope, mintToken } from "./mint-token.ts";
import { projectPath } from "./project.ts";

/** The tenant that owns the demo catalogue. */
export const demoTenant = "demo";

/** Who loads the demo: its writes are left out of the log. */
export const demoLoader = "demo-loader";

/** One file of examples/demo: how a server is registered, and what is published to it. */
interface DemoServer {
  config: { tenant: string; name: string };
  manifest?: object;
  /** A document of another format in examples/, imported instead of a manifest. */
  import?: { format: string; file: string; type: string };
}

/**
 * Loads the demo catalogue into a data directory that is new, or whose loading was interrupted. Never into one that is
 * in use: what somebody deleted must stay deleted.
 */
export async function loadDemoOnce(server: EmbeddedServer, onLoad: () => void = () => {}): Promise<void> {
  const { fresh, demoPending, secret } = server.data;
  if (fresh) await writeFile(demoPending, "");
  else if (!(await exists(demoPending))) return;
  onLoad();
  try {
    await loadDemo(server.url, await demoLoaderToken(secret.value, server.vars));
    await rm(demoPending);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    // The registry itself works; what is missing is tried again at the next start.
    console.error(`The demo catalogue is incomplete. ${error.message}`);
  }
}

export function demoLoaderToken(secret: string, vars: Record<string, string>): Promise<string> {
  const claims = { subject: demoLoader, tenants: [demoTenant], scope: defaultScope, admin: false, lifetime: 600 };
  return mintToken(secret, vars, claims);
}

/** Loads every demo server through the public API, as any publisher would. */
export async function loadDemo(url: string, token: string): Promise<void> {
  for (const path of await demoFiles()) {
    const { config, manifest, import: imported } = JSON.parse(await readFile(path, "utf8")) as DemoServer;
    const send = async (method: string, route: string, type: string, body: string, accepted: number[]) => {
      const headers = { Authorization: `Bearer ${token}`, "Content-Type": type };
      const response = await fetch(`${url}${route}`, { method, headers, body });
      const answer = await response.text();
      if (accepted.includes(response.status)) return;
      throw new CommandError(`Demo ${basename(path)}: ${method} ${route}: ${response.status} ${errorMessage(answer)}`);
    };
    const json = "application/json";
    const { tenant, name } = config;
    // 409: an interrupted load had come this far.
    await send("POST", "/api/mcp/configs", json, JSON.stringify(config), [200, 201, 409]);
    if (imported === undefined) {
      await send("PUT", `/api/mcp/capabilities/${tenant}/${name}`, json, JSON.stringify(manifest), [200, 201]);
    } else {
      const document = await readFile(projectPath("examples", imported.file), "utf8");
      const route = `/api/import/${imported.format}?tenant=${tenant}&name=${name}`;
      await send("POST", route, imported.type, document, [200, 201]);
    }
  }
}

async function demoFiles(): Promise<string[]> {
  const directory = projectPath("examples", "demo");
  const names = (await readdir(directory)).filter((name) => name.endsWith(".json"));
  return names.sort().map((name) => join(directory, name));
}

function errorMessage(answer: string): string {
  try {
    const { error } = JSON.parse(answer) as { error: { message: string; details?: unknown } };
    return error.details === undefined ? error.message : `${error.message} ${JSON.stringify(error.details)}`;
  } catch {
    return answer.slice(0, 500);
  }
}

async function exists(path: string): Promise<boolean> {
  return readFile(path).then(
    () => true,
    () => false,
  );
}
