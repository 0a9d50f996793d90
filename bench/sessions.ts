import { CommandError, runCommand } from "../scripts/command.ts";
import { openSessions } from "./cases/sessions.ts";
import { readCount } from "./corpus/sizes.ts";
import { costOf, type ProcessCost } from "./process-cost.ts";
import { type Serving, startServing } from "./serving.ts";

const help = `
Usage: npm run bench:sessions [-- --sessions N]

Opens N sessions (default 2000) on a server of its own, as \`npm run serve\` runs it, checks every one of them twice, and
prints what they cost: time, memory and open files of the runtime. Figures of memory need Linux.
  --sessions N   how many (default 2000)
`;

const atOnce = 16;

await runCommand({ help, options: { sessions: { type: "string", default: "2000" } } }, async ({ sessions }) => {
  const count = readCount("--sessions", sessions);
  const serving = await startServing();
  try {
    await measure(serving, count);
  } finally {
    await serving.stop();
  }
});

async function measure({ url, processes }: Serving, count: number): Promise<void> {
  const look = () => (processes === undefined ? undefined : costOf(processes.runtime));
  const before = await look();
  const started = performance.now();
  const ids = await openSessions({ url }, count);
  const opening = (performance.now() - started) / 1_000;
  const opened = await look();
  const checking = await timed(count, (index) => check(url, ids[index] ?? ""));
  const again = await timed(count, (index) => check(url, ids[index] ?? ""));
  const after = await look();
  const figures = {
    sessions: count,
    opened_per_second: Math.round(count / opening),
    checked_per_second: Math.round(count / checking),
    checked_again_per_second: Math.round(count / again),
    ...perSession("once open", before, opened, count),
    ...perSession("all checked", before, after, count),
  };
  console.log(JSON.stringify(figures, null, 2));
}

function perSession(when: string, before: ProcessCost | undefined, after: ProcessCost | undefined, count: number) {
  if (before === undefined || after === undefined) return { [when]: "memory is not measured on this system" };
  const kilobytes = (after.residentBytes - before.residentBytes) / 1_024 / count;
  const files = (after.openFiles - before.openFiles) / count;
  return {
    [when]: {
      resident_mb: Math.round(after.residentBytes / 1e6),
      open_files: after.openFiles,
      kilobytes_per_session: Math.round(kilobytes),
      open_files_per_session: Math.round(files * 100) / 100,
    },
  };
}

/** Seconds that `count` calls take, some at once. */
async function timed(count: number, work: (index: number) => Promise<void>): Promise<number> {
  const started = performance.now();
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return (performance.now() - started) / 1_000;
}

async function check(url: string, id: string): Promise<void> {
  const response = await fetch(`${url}/mcp/session`, { headers: { "X-MCP-Session-ID": id } });
  const body = (await response.json()) as { id?: string };
  if (response.status !== 200 || body.id !== id) throw new CommandError(`A check answered ${response.status}`);
}
