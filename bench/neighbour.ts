import { writeFile } from "node:fs/promises";
import { CommandError, runCommand } from "../scripts/command.ts";
import { percentile } from "../scripts/eval/metrics.ts";
import { prepare, startTarget } from "./harness/target.ts";
import { type Reading, startReading } from "./neighbour/reader.ts";
import { doWork, prepareWorks, shortSizes, type WorkDone, wholeSizes } from "./neighbour/works.ts";

const help = `
Usage: npm run drill:neighbour [-- --short] [--json FILE]

One tenant's costly work beside another tenant's reads: for each work the median, p99 and worst read of the other, and how
many of its connections were dropped. Fails if a read took longer than 250 ms or 8 times the quiet median, whichever is
more, if a connection was dropped, or if the work itself was not finished.

  --short      smaller works; times are printed and not judged
  --json FILE  the figures as JSON
`;

interface Row {
  work: string;
  /** Of the whole work. */
  milliseconds: number;
  reads: number;
  p50: number;
  p99: number;
  worst: number;
  dropped: number;
  finished: number;
}

await runCommand(
  { help, options: { short: { type: "boolean", default: false }, json: { type: "string" } } },
  async ({ short, json }) => {
    const target = await startTarget();
    const problems: string[] = [];
    const rows: Row[] = [];
    try {
      const headers = await target.callerOf(["neighbour"], { subject: "neighbour" });
      const body = {
        tools: Array.from({ length: 12 }, (_, index) => ({ name: `read_${index}`, description: "Reads" })),
      };
      await prepare(target, "PUT", "/api/mcp/capabilities/neighbour/small", headers, body);
      const works = await prepareWorks(target, short ? shortSizes : wholeSizes);
      const reading = startReading(target.url, headers);
      await pause(short ? 500 : 2_000);
      const quiet = rowOf("nothing else", reading.take(), 0, { finished: 0, waited: 0, problems: [] });
      const bound = Math.max(250, 8 * quiet.p50);
      rows.push(quiet);
      for (const work of works) {
        const started = performance.now();
        const done = await doWork(target, work);
        const milliseconds = performance.now() - started;
        // What the work leaves behind belongs to it: the outbox, garbage.
        await pause(500);
        const row = rowOf(work.name, reading.take(), milliseconds, done);
        rows.push(row);
        problems.push(...done.problems);
        if (done.finished !== work.requests.length)
          problems.push(`${work.name}: ${done.finished} of ${work.requests.length} were finished`);
        if (row.dropped > 0) problems.push(`${work.name}: ${row.dropped} connections were dropped`);
        if (!short && row.worst > bound) {
          problems.push(`${work.name}: the worst read took ${row.worst} ms, more than ${Math.round(bound)} ms`);
        }
      }
      await reading.stop();
    } finally {
      await target.stop();
    }
    console.log(tableOf(rows));
    if (json !== undefined) await writeFile(json, `${JSON.stringify({ rows, problems }, null, 2)}\n`);
    if (problems.length > 0) throw new CommandError(problems.join("\n"));
  },
);

function rowOf(work: string, { latencies, dropped }: Reading, milliseconds: number, { finished }: WorkDone): Row {
  const at = (share: number) => Number(percentile(latencies, share).toFixed(1));
  return {
    work,
    milliseconds: Math.round(milliseconds),
    reads: latencies.length,
    p50: at(0.5),
    p99: at(0.99),
    worst: Number(latencies.reduce((most, one) => Math.max(most, one), 0).toFixed(1)),
    dropped,
    finished,
  };
}

function tableOf(rows: readonly Row[]): string {
  const head =
    "| work beside the reads | work, ms | reads | p50, ms | p99, ms | worst, ms | dropped |\n| --- | --- | --- | --- | --- | --- | --- |";
  const lines = rows.map(
    ({ work, milliseconds, reads, p50, p99, worst, dropped }) =>
      `| ${[work, milliseconds, reads, p50, p99, worst, dropped].join(" | ")} |`,
  );
  return [head, ...lines].join("\n");
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
