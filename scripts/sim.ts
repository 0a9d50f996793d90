import { readFile } from "node:fs/promises";
import { CommandError, runCommand, UsageError } from "./command.ts";
import { projectPath } from "./project.ts";
import { type Bill, type BillInputs, billOf, prices, usualScenario } from "./sim/model.ts";

const help = `
Usage: npm run sim [-- [--reads N] [--servers N] [--json]]

The bill of a deployment on paper: requests, CPU time, KV, object calls and dollars a month, with the platform's cache and
without it, and which wall comes first. Reckons with what npm run bench:bill measured (scripts/sim/inputs.json) and the
platform's prices; how the deployment is used is chosen (docs/explanation/bill.md).
  --reads N     reads a day, such as 1e8 (default 1e6 to 1e9)
  --servers N   published servers, such as 1e5 (default 1e4 to 1e6)
  --json        print everything as JSON
`;

const options = {
  reads: { type: "string" },
  servers: { type: "string" },
  json: { type: "boolean", default: false },
} as const;

await runCommand({ help, options }, async (values) => {
  const inputs = await readInputs();
  const reads = values.reads === undefined ? [1e6, 1e7, 1e8, 1e9] : [parseCount("--reads", values.reads)];
  const servers = values.servers === undefined ? [1e4, 1e5, 1e6] : [parseCount("--servers", values.servers)];
  const scenarios = reads.flatMap((readsPerDay) => servers.map((count) => ({ readsPerDay, servers: count })));
  const rows = scenarios.map((chosen) => ({
    ...chosen,
    without: billOf(inputs, { ...usualScenario, ...chosen, platformCache: false }),
    with: billOf(inputs, { ...usualScenario, ...chosen, platformCache: true }),
  }));
  if (values.json) console.log(JSON.stringify({ inputs, prices, scenario: usualScenario, rows }, null, 2));
  else print(inputs, rows);
});

interface Row {
  readsPerDay: number;
  servers: number;
  without: Bill;
  with: Bill;
}

function print(inputs: BillInputs, rows: Row[]): void {
  const { at, command, machine } = inputs.measured;
  console.log(`Costs of a request measured on ${at} (${machine}): ${command}\n`);
  console.log("Dollars a month, with the platform's cache (and without it):\n");
  const items = ["requests", "cpuMs", "kvReads", "kvWrites", "objectCalls", "rowsRead", "rowsWritten", "all"] as const;
  const head = ["reads a day", "servers", ...items.map((item) => (item === "cpuMs" ? "CPU" : item))];
  const lines = rows.map((row) => [
    count(row.readsPerDay),
    count(row.servers),
    ...items.map((item) => `${money(row.with.dollars[item])} (${money(row.without.dollars[item])})`),
  ]);
  console.log(table([head, ...lines]));
  console.log("\nA million reads of any kind, and where capability reads find heads and bodies:\n");
  const shares = rows.map((row) => [
    count(row.readsPerDay),
    count(row.servers),
    `${perMillion(row.with, row)} (${perMillion(row.without, row)})`,
    percent(row.with.heads.memory),
    percent(row.with.heads.edge),
    percent(row.with.heads.kv),
    `${percent(row.with.bodies.memory)}`,
    `${percent(row.with.bodies.kv)} (${percent(row.without.bodies.kv)})`,
  ]);
  const titles = ["reads a day", "servers", "$ a million", "head: memory", "edge", "KV", "body: memory", "KV"];
  console.log(table([titles, ...shares]));
  console.log("\nThe nearest wall (1 is the wall), and what moves it:\n");
  for (const row of rows) {
    const [wall] = row.with.walls;
    if (wall === undefined) continue;
    console.log(
      `${count(row.readsPerDay)} reads, ${count(row.servers)} servers: ${short(wall.use)} ${wall.name}; ${wall.moves}`,
    );
  }
}

async function readInputs(): Promise<BillInputs> {
  const path = projectPath("scripts", "sim", "inputs.json");
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    throw new CommandError(`${path} cannot be read. Measure it: npm run bench:bill -- --json scripts/sim/inputs.json`);
  }
}

function parseCount(option: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value >= 1 && value <= 1e12) return value;
  throw new UsageError(`${option} must be a number from 1 to 1e12, such as 1e8, not "${text}".`);
}

function perMillion(bill: Bill, { readsPerDay }: Row): string {
  return money((bill.dollars.all / (readsPerDay * 30)) * 1e6);
}

function count(value: number): string {
  const exponent = Math.log10(value);
  return Number.isInteger(exponent) && exponent >= 3 ? `1e${exponent}` : String(value);
}

function money(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : short(value);
}

function short(value: number): string {
  return String(Number(value.toPrecision(2)));
}

function percent(value: number): string {
  return `${short(value * 100)} %`;
}

/** Columns as wide as their widest cell, as Markdown has them. */
function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const [head = [], ...rest] = rows;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rest.map(line)].join("\n");
}
