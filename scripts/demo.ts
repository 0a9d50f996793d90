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

/** One file of examples/demo: the two bodies that registering and publishing a server takes. */
interface DemoServer {
  config: { tenant: string; name: string };
  manifest: object;
}

/**
 * Loads the demo catalogue into a data directory that is new, or whose loading was interrupted. Never into one that is
 * in use: what somebody deleted must stay deleted.
 */
export async function loadDemoOnce(server: EmbeddedServer, onLoad: () => void = () => {}): Promise<void> {
  const { fresh, demoPending } = server.data;
  if (fresh) await writeFile(demoPending, "");
  else if (!(await exists(demoPending))) return;
  onLoad();
  try {
    await loadDemo(server);
    await rm(demoPending);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    // The registry itself works; what is missing is tried again at the next start.
    console.error(`The demo catalogue is incomplete. ${error.message}`);
  }
}

/** Loads every demo server through the public API, as any publisher would. */
async function loadDemo(server: EmbeddedServer): Promise<void> {
  const token = await mintToken(server.data.secret.value, server.vars, {
    subject: demoLoader,
    tenants: [demoTenant],
    scope: defaultScope,
    admin: false,
    lifetime: 600,
  });
  for (const path of await demoFiles()) {
    const { config, manifest } = JSON.parse(await readFile(path, "utf8")) as DemoServer;
    const send = async (method: string, route: string, body: object, accepted: number[]) => {
      const response = await fetch(`${server.url}${route}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
      const answer = await response.text();
      if (accepted.includes(response.status)) return;
      throw new CommandError(`Demo ${basename(path)}: ${method} ${route}: ${response.status} ${errorMessage(answer)}`);
    };
    // 409: an interrupted load had come this far.
    await send("POST", "/api/mcp/configs", config, [200, 201, 409]);
    await send("PUT", `/api/mcp/capabilities/${config.tenant}/${config.name}`, manifest, [200, 201]);
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
