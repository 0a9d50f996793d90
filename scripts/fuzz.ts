import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CommandError, runCommand } from "./command.ts";
import { Mutator } from "./drills/mutate.ts";
import { type FuzzedRequest, type OpenApi, requestsOf } from "./drills/requests.ts";
import { ResourceWatch } from "./drills/resources.ts";
import { startServer, tokenFor, withScratch } from "./drills/server.ts";
import { projectPath } from "./project.ts";

const help = `
Usage: npm run fuzz [-- --minutes N] [--seconds N] [--seed N]

Sends bad input to every operation of /openapi.json and to every parser behind the imports, made from their own examples
and grammars. Fails on any status that no caller should see (500 and above, but for 502 and 503 of operations that declare
them), on a request that takes longer than 20 s, and on a server that has died; in a run of a minute or more also if from
its second third to its last memory grew by more than 64 MB, or storage by more than what was accepted explains. A failing
input is saved below fuzz/ and printed, so that it can become a test.

  --minutes N   how long (default 10)
  --seconds N   how long, in seconds
  --seed N      the same numbers again (default: the time)
  --help        this text
`;

const options = {
  minutes: { type: "string", default: "10" },
  seconds: { type: "string" },
  seed: { type: "string" },
} as const;

const patienceMs = 20_000;
const clients = 4;

/** In a shorter run caches still fill. */
const judgedFromMs = 60_000;
const mostMemory = 64 * 1_048_576;
/** What was accepted is kept, in rows, a log and KV; what was refused must leave nothing. */
const mostStorage = (written: number) => 4 * 1_048_576 + written * 65_536;

await runCommand({ help, options }, async ({ minutes, seconds, seed: given }) => {
  const ms = seconds === undefined ? Number(minutes) * 60_000 : Number(seconds) * 1_000;
  const seed = given === undefined ? Date.now() % 2 ** 31 : Number(given);
  if (!(ms > 0) || !Number.isInteger(seed)) throw new CommandError("--minutes, --seconds and --seed take numbers.");
  const failures = await withScratch("fuzz", async (folder) => {
    const data = join(folder, "data");
    const token = await tokenFor(data, ["demo", "fuzz"], true);
    const server = await startServer(data);
    try {
      return await fuzz({ url: server.url, pid: server.pid, data, token, ms, seed });
    } finally {
      await server.kill();
    }
  });
  if (failures > 0) throw new CommandError(`${failures} inputs got an answer that nobody should get; see fuzz/.`);
});

interface FuzzRun {
  url: string;
  pid: number;
  data: string;
  token: string;
  ms: number;
  seed: number;
}

/** Returns the number of failures. */
async function fuzz(run: FuzzRun): Promise<number> {
  const { url, token, seed } = run;
  const description = (await (await fetch(`${url}/openapi.json`)).json()) as OpenApi;
  const started = Date.now();
  const counts = { inputs: 0, failures: 0, hangs: 0 };
  const statuses = new Map<number, number>();
  let written = 0;
  const watch = new ResourceWatch(run.pid, run.data, 1_000);
  const isOver = () => Date.now() - started > run.ms;
  const client = async (index: number) => {
    const mutator = new Mutator(seed + index);
    while (!isOver()) {
      for (const request of requestsOf(description, mutator)) {
        if (isOver()) return;
        counts.inputs += 1;
        const outcome = await attempt(url, token, request);
        statuses.set(outcome.status, (statuses.get(outcome.status) ?? 0) + 1);
        if (outcome.hung) counts.hangs += 1;
        if (request.method !== "GET" && outcome.status >= 200 && outcome.status < 300) written += 1;
        if (!outcome.expected) {
          counts.failures += 1;
          await save(seed, counts.inputs, request, outcome);
        }
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  const growth = watch.stop();
  const answered = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  console.log(
    `seed ${seed}: ${counts.inputs} inputs, ${counts.failures} unexpected, ${counts.hangs} hangs, ` +
      `from the second third to the last: memory ${megabytes(growth.memory)}, storage ${megabytes(growth.storage)}; ` +
      `${written} inputs were accepted as writes`,
  );
  console.log(answered.join(", "));
  if (run.ms >= judgedFromMs && (growth.memory > mostMemory || growth.storage > mostStorage(written)))
    throw new CommandError("Memory or storage grew by more than bad input may cost; see the line above.");
  return counts.failures;
}

function megabytes(bytes: number): string {
  return `${bytes < 0 ? "-" : "+"}${(Math.abs(bytes) / 1_048_576).toFixed(1)} MB`;
}

interface Answered {
  /** 0 if there was no answer. */
  status: number;
  text: string;
  hung: boolean;
  expected: boolean;
}

async function attempt(url: string, token: string, request: FuzzedRequest): Promise<Answered> {
  try {
    const response = await fetch(`${url}${request.path}`, {
      method: request.method,
      headers: { Authorization: `Bearer ${token}`, Connection: "close", ...request.headers },
      body: request.body ?? null,
      redirect: "manual",
      signal: AbortSignal.timeout(patienceMs),
    });
    // A stream goes on for ten minutes.
    const isStream = response.headers.get("Content-Type")?.startsWith("text/event-stream") === true;
    const text = isStream ? "" : await response.text();
    if (isStream) await response.body?.cancel();
    const { status } = response;
    return {
      status,
      text,
      hung: false,
      expected: status < 500 || (status !== 500 && request.statuses.includes(status)),
    };
  } catch (error) {
    const { name, cause } = error as { name?: string; cause?: { code?: string; name?: string } };
    // What fetch itself refuses to send never left: a header with a line break, a path that is no URL.
    const unsent = name === "TypeError" && cause?.code === undefined;
    return { status: 0, text: String(cause ?? error), hung: name === "TimeoutError", expected: unsent };
  }
}

async function save(seed: number, number: number, request: FuzzedRequest, outcome: Answered): Promise<void> {
  const folder = projectPath("fuzz");
  await mkdir(folder, { recursive: true });
  const file = join(folder, `${seed}-${number}.json`);
  await writeFile(
    file,
    `${JSON.stringify({ request, outcome: { ...outcome, text: outcome.text.slice(0, 2_000) } }, null, 2)}\n`,
  );
  console.log(`${outcome.status} ${request.method} ${request.path.slice(0, 120)} (${file})`);
}
