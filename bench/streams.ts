import { readdir, readlink } from "node:fs/promises";
import { Client } from "undici";
import { ensureBuilt } from "../scripts/bundle.ts";
import { CommandError, runCommand } from "../scripts/command.ts";
import { atRest, counter } from "./harness/operations.ts";
import { prepare } from "./harness/target.ts";
import { type Serving, startServing } from "./serving.ts";

const help = `
Usage: npm run bench:streams [-- --minutes N] [--streams N]

What live streams cost while nothing changes: opens them on the log of one tenant, four for each caller, and prints what
the registry asked of its objects meanwhile, and for how long objects were awake (their databases open, looked at every
second). Streams end after ten minutes, so that is the longest it makes sense to ask for. Needs Linux.

  --minutes N   how long they are watched (default 10)
  --streams N   how many (default 100)
`;

const options = { minutes: { type: "string", default: "10" }, streams: { type: "string", default: "100" } } as const;

const tenant = "watched";
const streamsOfCaller = 4;
/** An object that is not asked anything is taken out of memory after ten seconds. */
const settlingMs = 15_000;
const betweenLooksMs = 1_000;

await runCommand({ help, options }, async (values) => {
  const [minutes, streams] = [Number(values.minutes), Number(values.streams)];
  if (!(minutes > 0 && streams > 0)) throw new CommandError("--minutes and --streams take numbers above 0.");
  await ensureBuilt(() => console.error("Building the Worker …"));
  const serving = await startServing();
  try {
    console.log(JSON.stringify(await watch(serving, minutes, streams), null, 2));
  } finally {
    await serving.stop();
  }
});

async function watch(serving: Serving, minutes: number, count: number) {
  const { processes } = serving;
  if (processes === undefined) throw new CommandError("This system does not tell what a process holds.");
  const caller = await serving.callerOf([tenant]);
  await prepare(serving, "PUT", `/api/mcp/capabilities/${tenant}/s`, caller, { version: "1.0.0", tools: [] });
  await atRest(serving);
  const open: Stream[] = [];
  try {
    for (let index = 0; index < count; index += 1) {
      const subject = `reader ${Math.floor(index / streamsOfCaller)}`;
      open.push(await openStream(serving, await serving.callerOf([tenant], { subject })));
    }
    await wait(settlingMs);
    const operations = await counter(serving);
    const before = await operations();
    const awakeSeconds: Record<string, number> = {};
    const end = performance.now() + minutes * 60_000;
    while (performance.now() < end) {
      for (const name of await awake(processes.runtime))
        awakeSeconds[name] = (awakeSeconds[name] ?? 0) + betweenLooksMs / 1_000;
      await wait(betweenLooksMs);
    }
    const stillOpen = open.filter(({ ended }) => !ended()).length;
    const after = await operations();
    const asked = Object.entries(after).map(([name, total]) => [name, total - (before[name] ?? 0)] as const);
    // The last: each of them shows a change that was made after all that time.
    const told = open.map((stream) => stream.next());
    await prepare(serving, "PUT", `/api/mcp/capabilities/${tenant}/s`, caller, {
      version: "1.0.1",
      tools: [{ name: "a" }],
    });
    await Promise.race([Promise.all(told), wait(10_000)]);
    return {
      minutes,
      streams: count,
      still_open: stillOpen,
      operations: Object.fromEntries(asked.filter(([, number]) => number !== 0)),
      awake_seconds: awakeSeconds,
      told_of_a_change_afterwards: open.filter(({ changes }) => changes() > 0).length,
    };
  } finally {
    for (const { leave } of open) leave();
  }
}

interface Stream {
  ended(): boolean;
  changes(): number;
  /** Resolves at the next change, or the end. */
  next(): Promise<void>;
  leave(): void;
}

async function openStream({ url }: Serving, caller: Record<string, string>): Promise<Stream> {
  const client = new Client(url, { bodyTimeout: 0 });
  const path = `/api/changes/${tenant}?since=1`;
  const answer = await client.request({ method: "GET", path, headers: { ...caller, Accept: "text/event-stream" } });
  if (answer.statusCode !== 200) throw new CommandError(`A stream was answered ${answer.statusCode}.`);
  let [hasEnded, changes] = [false, 0];
  let next = Promise.withResolvers<void>();
  answer.body.on("data", (chunk: Buffer) => {
    if (!chunk.toString().includes("event: change")) return;
    changes += 1;
    next.resolve();
    next = Promise.withResolvers();
  });
  const end = () => {
    hasEnded = true;
    next.resolve();
  };
  answer.body.on("error", end).on("end", end);
  return {
    ended: () => hasEnded,
    changes: () => changes,
    next: () => next.promise,
    leave: () => void client.destroy().catch(() => {}),
  };
}

/** The classes of the objects whose databases the runtime has open, once for each object. */
async function awake(runtime: number): Promise<string[]> {
  const folder = `/proc/${runtime}/fd`;
  const files = await Promise.all((await readdir(folder)).map((id) => readlink(`${folder}/${id}`).catch(() => "")));
  const objects = files.flatMap(
    (file) => /rollcall-(\w+Object)\/[0-9a-f]+\.sqlite$/.exec(file)?.slice(0, 2).join(" ") ?? [],
  );
  return [...new Set(objects)].map((object) => /(\w+Object)/.exec(object)?.[1] ?? "");
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
