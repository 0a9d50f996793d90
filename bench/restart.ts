import { ensureBuilt } from "../scripts/bundle.ts";
import { CommandError, runCommand } from "../scripts/command.ts";
import { tool } from "./cases/tools.ts";
import { spreadOf } from "./harness/statistics.ts";
import { prepare } from "./harness/target.ts";
import { scratchDirectory } from "./scratch.ts";
import { startServing } from "./serving.ts";

const help = `
Usage: npm run bench:restart

How long an embedded server takes from its start to its first answers: with no data, and with a tenant of 12,000 capabilities
whose log is full (100,000 changes; a few minutes are spent on writing them). Five starts of each in turn; prints
medians in milliseconds and their ratio. Fails where the full one takes more than one and a half times as long to be ready.
`;

const tenant = "full";
const servers = 10;
const tools = 1_200;
/** Each changes every capability once: together more changes than a log holds. */
const rounds = 9;
const starts = 5;
const mostRatio = 1.5;

await runCommand({ help, options: {} }, async () => {
  await ensureBuilt(() => console.error("Building the Worker …"));
  const [empty, full] = [await scratchDirectory("restart"), await scratchDirectory("restart")];
  try {
    await fill(full.path);
    const times = { empty: [] as Started[], full: [] as Started[] };
    for (let index = 0; index < starts; index += 1) {
      times.empty.push(await start(empty.path));
      times.full.push(await start(full.path));
    }
    const median = (of: Started[], what: keyof Started) => Math.round(spreadOf(of.map((one) => one[what])).median);
    const figures = (["ready", "read", "search"] as const).map((what) => {
      const [alone, filled] = [median(times.empty, what), median(times.full, what)];
      return { what, empty_ms: alone, full_ms: filled, ratio: Number((filled / alone).toFixed(2)) };
    });
    console.table(figures);
    const ratio = figures[0]?.ratio ?? 0;
    if (ratio > mostRatio)
      throw new CommandError(`Ready after ${ratio} times as long; ${mostRatio} is the most it may.`);
  } finally {
    await empty.remove();
    await full.remove();
  }
});

/** Milliseconds since the process was started. */
interface Started {
  /** It said that it is ready. */
  ready: number;
  /** It answered a read from the tenant's object. */
  read: number;
  /** It answered a search of the tenant. */
  search: number;
}

function nameOf(server: number): string {
  return `server-${server}`;
}

async function fill(data: string): Promise<void> {
  const serving = await startServing(data);
  try {
    const caller = await serving.callerOf([tenant]);
    for (let round = 0; round < rounds; round += 1) {
      for (let server = 0; server < servers; server += 1) {
        const items = Array.from({ length: tools }, (_, index) => tool(server * tools + index, ` Round ${round}.`));
        const path = `/api/mcp/capabilities/${tenant}/${nameOf(server)}`;
        await prepare(serving, "PUT", path, caller, { version: "1.0.0", tools: items });
      }
      console.error(`${(round + 1) * servers * tools} changes written`);
    }
  } finally {
    await serving.stop();
  }
}

async function start(data: string): Promise<Started> {
  const started = performance.now();
  const serving = await startServing(data);
  try {
    const ready = performance.now() - started;
    const headers = { ...(await serving.callerOf([tenant])), "Cache-Control": "no-cache" };
    const ask = async (path: string) => {
      await (await fetch(`${serving.url}${path}`, { headers })).arrayBuffer();
      return performance.now() - started;
    };
    const read = await ask(`/api/mcp/configs/${tenant}/${nameOf(0)}`);
    return { ready, read, search: await ask(`/api/search?tenant=${tenant}&q=weather`) };
  } finally {
    await serving.stop();
  }
}
