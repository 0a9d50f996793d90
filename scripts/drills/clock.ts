import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { CommandError } from "../command.ts";
import { projectPath } from "../project.ts";
import { require200, until } from "./expect.ts";
import { type DrilledServer, startServer, withScratch } from "./server.ts";

const run = promisify(execFile);
const vars = ["ALLOW_LOOPBACK_FETCH=true"];
const tenant = "clock";

/** Builds the library that moves the clock of whatever is started with it; undefined where nothing compiles it. */
export async function buildClock(folder: string): Promise<string | undefined> {
  const library = join(folder, "clock.so");
  const args = ["-shared", "-fPIC", "-O1", "-o", library, projectPath("scripts/drills/clock.c")];
  return run("cc", args).then(
    () => library,
    () => undefined,
  );
}

/** Where a moved clock gets its offset from. Changed in place: processes have the file in their memory. */
class Offset {
  readonly path: string;

  constructor(folder: string) {
    this.path = join(folder, "offset");
  }

  async set(seconds: number): Promise<void> {
    const file = await open(this.path, constants.O_RDWR | constants.O_CREAT);
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(seconds));
    await file.write(bytes, 0, 8, 0);
    await file.close();
  }
}

/**
 * Sets the clock of a running server back, with deliveries under way, and starts it again on the same data with the clock still
 * there. Returns what was seen, in a sentence.
 */
export function clockGoesBack(library: string, name: string, backSeconds: number): Promise<string> {
  return withScratch("clock", async (folder) => {
    const offset = new Offset(folder);
    await offset.set(0);
    const data = join(folder, "data");
    const env: NodeJS.ProcessEnv = { ...process.env, LD_PRELOAD: library, CLOCK_OFFSET_FILE: offset.path };
    const receiver = await startReceiver();
    let token = await tokenAt(data, env);
    let server = await startServer(data, vars, undefined, env);
    try {
      const subscription = { tenant, url: `${receiver.url}/` };
      const subscribed = await require200(server.url, token, "POST", "/api/subscriptions", subscription);
      await publish(server, token, 1);
      await until("the first delivery", () => receiver.received.has(1));
      receiver.refuse = true;
      await publish(server, token, 2);
      // Once it is noted, the next attempt is scheduled by the clock as it is now.
      await until("a delivery that is refused", async () => {
        const path = `/api/subscriptions/${tenant}/${subscribed.data.id}`;
        const { data } = await require200(server.url, token, "GET", path);
        return JSON.stringify(data).includes('"status":500');
      });

      await offset.set(-backSeconds);
      token = await tokenAt(data, env);
      receiver.refuse = false;
      await publish(server, token, 3);
      await until(
        "the deliveries after the clock went back",
        () => receiver.received.has(2) && receiver.received.has(3),
      );

      await server.kill();
      server = await startServer(data, vars, undefined, env);
      // A process that remembers nothing reads what KV has.
      await until("KV has the head", async () => (await read(server, token)).source === "kv");
      const { generation } = await read(server, token);
      if (generation !== 3) throw new CommandError(`KV has generation ${generation} instead of 3.`);
      await publish(server, token, 4);
      await until("a delivery after a restart", () => receiver.received.has(4));
      const { data: log } = await require200(server.url, token, "GET", `/api/changes/${tenant}?since=0`);
      requireCounted(log.items, Date.now() - backSeconds * 1_000);
    } finally {
      await server.kill();
      await receiver.stop();
    }
    const ahead = await scheduledAhead(data, Date.now() - backSeconds * 1_000);
    if (ahead.length > 0) throw new CommandError(`Due in the far future: ${ahead.join(", ")}.`);
    return `clock ${name} back: generations 1 to 4, 4 deliveries, the head in KV, nothing due in the far future`;
  });
}

/** Each generation once and in order, and the last one written by the clock that was set back. */
function requireCounted(changes: { generation: number; at: string }[], now: number): void {
  const seen = changes.map(({ generation }) => generation);
  // Changes of one write share its generation.
  if ([...new Set(seen)].join() !== "1,2,3,4") {
    throw new CommandError(`The log has the generations ${seen.join(", ")}.`);
  }
  const { at = "" } = changes.at(-1) ?? {};
  if (!(Math.abs(Date.parse(at) - now) < 60_000))
    throw new CommandError(`The clock was not moved: the log says ${at}.`);
}

async function publish(server: DrilledServer, token: string, turn: number): Promise<void> {
  const tools = [{ name: `tool_${turn}`, description: `Turn ${turn}.`, inputSchema: { type: "object" } }];
  const path = `/api/mcp/capabilities/${tenant}/s`;
  const { data } = await require200(server.url, token, "PUT", path, { tools });
  if (data.generation !== turn) throw new CommandError(`Publish ${turn} has generation ${data.generation}.`);
}

async function read(server: DrilledServer, token: string): Promise<{ source: string | null; generation: number }> {
  const response = await fetch(`${server.url}/api/mcp/capabilities/${tenant}/s`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  await response.arrayBuffer();
  const { headers } = response;
  return { source: headers.get("Rollcall-Source"), generation: Number(headers.get("Rollcall-Generation")) };
}

/** A token is good for a day of the server's clock, so it is made by that clock. */
async function tokenAt(data: string, env: NodeJS.ProcessEnv): Promise<string> {
  const args = [projectPath("scripts/token.ts"), "--data", data, "--tenant", tenant];
  const { stdout } = await run(process.execPath, args, { cwd: projectPath(), env });
  return stdout.trim();
}

/** A subscriber that notes the generations it is told of, or refuses all. */
async function startReceiver() {
  const state = { url: "", received: new Set<number>(), refused: 0, refuse: false, stop: async () => {} };
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const generation = Number(/"generation":\s*(\d+)/.exec(text)?.[1]);
    if (state.refuse) state.refused += 1;
    else state.received.add(generation);
    response.writeHead(state.refuse ? 500 : 204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  state.stop = () =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return state;
}

/** Rows of the objects that are due later than anything is scheduled ahead, two days at most. */
async function scheduledAhead(data: string, now: number): Promise<string[]> {
  const files = (await readdir(join(data, "objects"), { recursive: true })).filter((name) => name.endsWith(".sqlite"));
  const latest = now + 2 * 86_400_000;
  const found: string[] = [];
  let tables = 0;
  for (const file of files) {
    const database = new DatabaseSync(join(data, "objects", file), { readOnly: true });
    for (const [table, column] of [
      ["outbox", "due_at"],
      ["delivery", "due_at"],
      ["source", "next_at"],
    ] as const) {
      const isThere = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table);
      if (isThere === undefined) continue;
      tables += 1;
      const { count } = database.prepare(`SELECT count(*) AS count FROM ${table} WHERE ${column} > ?`).get(latest) as {
        count: number;
      };
      if (count > 0) found.push(`${count} of ${table}`);
    }
    database.close();
  }
  if (tables === 0)
    throw new CommandError("No object of the data directory has a schedule: this drill would find nothing.");
  return found;
}
