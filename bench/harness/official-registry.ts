import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmod, chown, glob, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { CommandError } from "../../scripts/command.ts";
import { endWithUs, scratchDirectory } from "../scratch.ts";

const run = promisify(execFile);
const version = "v1.8.7";
const startMs = 60_000;

interface OfficialRegistry {
  url: string;
  stop(): Promise<void>;
}

interface Options {
  /** Already built. */
  binary: string | undefined;
  onStep: (message: string) => void;
}

/** The official registry with these servers, on a PostgreSQL of its own. Both are gone when this process ends. */
export async function startOfficial(
  documents: readonly object[],
  { binary, onStep }: Options,
): Promise<OfficialRegistry> {
  const scratch = await scratchDirectory("official");
  const stops: (() => Promise<void>)[] = [scratch.remove];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
  };
  try {
    const program = binary ?? (await build(scratch.path, onStep));
    onStep("Starting PostgreSQL …");
    const database = await startPostgres(scratch.path);
    stops.push(database.stop);
    const seed = join(scratch.path, "seed.json");
    await writeFile(seed, JSON.stringify(documents));
    onStep("Starting the official registry …");
    const port = await freePort();
    const server = spawn(program, [], {
      cwd: scratch.path,
      stdio: ["ignore", "ignore", "pipe"],
      env: {
        ...process.env,
        MCP_REGISTRY_SERVER_ADDRESS: `127.0.0.1:${port}`,
        MCP_REGISTRY_DATABASE_URL: database.url,
        MCP_REGISTRY_SEED_FROM: seed,
        // It would ask package registries otherwise.
        MCP_REGISTRY_ENABLE_REGISTRY_VALIDATION: "false",
        MCP_REGISTRY_JWT_PRIVATE_KEY: randomBytes(32).toString("hex"),
      },
    });
    stops.push(ender(server));
    const url = `http://127.0.0.1:${port}`;
    await untilListed(server, url, documents.length);
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function build(directory: string, onStep: (message: string) => void): Promise<string> {
  onStep(`Building the official registry ${version} with go …`);
  const module = `github.com/modelcontextprotocol/registry/cmd/registry@${version}`;
  await run("go", ["install", module], { env: { ...process.env, GOBIN: directory, GOFLAGS: "-mod=mod" } }).catch(
    (error) => {
      throw new CommandError(`go could not build the official registry: ${error.message}`);
    },
  );
  return join(directory, "registry");
}

/** A cluster in the directory. PostgreSQL refuses to run as root, and is then run as the user `postgres`. */
async function startPostgres(directory: string): Promise<{ url: string; stop(): Promise<void> }> {
  const bin = await postgresPrograms();
  const user = process.getuid?.() === 0 ? await userCalled("postgres") : undefined;
  const data = join(directory, "postgres");
  if (user !== undefined) {
    await chmod(directory, 0o755);
    await run("mkdir", ["-p", data]);
    await chown(data, user.uid, user.gid);
  }
  const init = ["-D", data, "-U", "registry", "--auth=trust", "-E", "UTF8", "--locale=C.UTF-8"];
  await run(join(bin, "initdb"), init, { ...user, cwd: "/" });
  const port = await freePort();
  const args = ["-D", data, "-p", String(port), "-k", data, "-c", "listen_addresses=127.0.0.1"];
  const server = spawn(join(bin, "postgres"), args, { ...user, cwd: "/", stdio: "ignore" });
  const stop = ender(server, "SIGINT");
  const end = Date.now() + startMs;
  const create = ["-h", "127.0.0.1", "-p", String(port), "-U", "registry", "registry"];
  while (
    !(await run(join(bin, "createdb"), create).then(
      () => true,
      () => false,
    ))
  ) {
    if (Date.now() > end || server.exitCode !== null) {
      await stop();
      throw new CommandError("PostgreSQL did not start.");
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return { url: `postgres://registry@127.0.0.1:${port}/registry?sslmode=disable`, stop };
}

/** Where Debian has them, the newest; else where PATH has them. */
async function postgresPrograms(): Promise<string> {
  const found: string[] = [];
  for await (const path of glob("/usr/lib/postgresql/*/bin/initdb")) found.push(dirname(path));
  const newest = found.sort((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1);
  if (newest !== undefined) return newest;
  const named = await run("which", ["initdb"]).then(
    ({ stdout }) => dirname(stdout.trim()),
    () => undefined,
  );
  if (named === undefined) throw new CommandError("PostgreSQL is not installed: initdb is not there.");
  return named;
}

async function userCalled(name: string): Promise<{ uid: number; gid: number }> {
  const [uid, gid] = await Promise.all([run("id", ["-u", name]), run("id", ["-g", name])]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

function ender(child: ReturnType<typeof spawn>, signal: NodeJS.Signals = "SIGTERM"): () => Promise<void> {
  endWithUs(child);
  return async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  };
}

/** Until it has taken its seed: it listens before that. */
async function untilListed(server: ReturnType<typeof spawn>, url: string, count: number): Promise<void> {
  let said = "";
  server.stderr?.on("data", (chunk) => {
    said = `${said}${chunk}`.slice(-2_000);
  });
  const end = Date.now() + startMs;
  for (let listed = -1; Date.now() < end && server.exitCode === null; ) {
    const now = await countAll(url).catch(() => 0);
    if (now >= count || (now > 0 && now === listed)) return;
    listed = now;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  throw new CommandError(`The official registry did not start. It said last:\n${said}`);
}

async function countAll(url: string): Promise<number> {
  let [count, cursor] = [0, ""];
  do {
    const response = await fetch(`${url}/v0.1/servers?limit=100&cursor=${encodeURIComponent(cursor)}`);
    const page = (await response.json()) as { servers: unknown[]; metadata: { nextCursor?: string } };
    count += page.servers.length;
    cursor = page.metadata.nextCursor ?? "";
  } while (cursor !== "");
  return count;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
