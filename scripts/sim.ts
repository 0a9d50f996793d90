import { readFile } from "node:fs/promises";
import { CommandError, runCommand, UsageError } from "./command.ts";
import { projectPath } from "./project.ts";
import { type Bill, type BillInputs, billOf, type CachedSearches, cachedSearches, usualScenario } from "./sim/model.ts";
import { items, limits, priceList } from "./sim/platform.ts";

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
    searches: cachedSearches(inputs, { ...usualScenario, ...chosen, platformCache: true }),
  }));
  if (values.json)
    console.log(JSON.stringify({ inputs, prices: priceList, limits, scenario: usualScenario, rows }, null, 2));
  else print(inputs, rows);
});

interface Row {
  readsPerDay: number;
  servers: number;
  without: Bill;
  with: Bill;
  searches: CachedSearches;
}

function print(inputs: BillInputs, rows: Row[]): void {
  const { at, command, machine } = inputs.measured;
  console.log(`Costs of a request measured on ${at} (${machine}): ${command}\n`);
  const usage = (row: Row) => [count(row.readsPerDay), count(row.servers)];
  const show = (title: string, head: string[], cells: (row: Row) => string[]) => {
    console.log(`${title}\n`);
    console.log(table([["reads a day", "servers", ...head], ...rows.map((row) => [...usage(row), ...cells(row)])]));
    console.log("");
  };

  show(
    "Dollars a month with the platform's cache (and without it, where that differs):",
    [...items.map((item) => priceList[item].label), "all"],
    (row) =>
      ([...items, "all"] as const).map((item) => both(money(row.with.dollars[item]), money(row.without.dollars[item]))),
  );
  show(
    "Dollars for a million reads of any kind, and where reads of capabilities find head and body:",
    ["$ a million", "head: memory", "data centre", "KV", "body: memory", "KV"],
    (row) => [
      both(perMillion(row.with, row), perMillion(row.without, row)),
      percent(row.with.heads.memory),
      percent(row.with.heads.edge),
      percent(row.with.heads.kv),
      percent(row.with.bodies.memory),
      both(percent(row.with.bodies.kv), percent(row.without.bodies.kv)),
    ],
  );
  show(
    "Dollars for a million searches, if the platform's cache stood in front of them too (it does not):",
    ["as it is", "behind the cache", "found there"],
    ({ searches }) => [money(searches.without), money(searches.with), percent(searches.hits)],
  );
  const [first] = rows;
  if (first === undefined) return;
  show(
    "How near each wall is: 1 is the wall, the nearest is marked with *",
    first.with.walls.map(({ short }) => short),
    ({ with: { walls } }) => {
      const nearest = Math.max(...walls.map(({ use }) => use));
      return walls.map(({ use }) => `${brief(use)}${use === nearest ? " *" : ""}`);
    },
  );
  const widest = Math.max(...first.with.walls.map(({ short }) => short.length));
  for (const { short, name, moves } of first.with.walls) {
    console.log(`${short.padEnd(widest)}  ${name}.`);
    console.log(`${" ".repeat(widest)}  What moves it: ${moves}.`);
  }
}

function both(one: string, other: string): string {
  return one === other ? one : `${one} (${other})`;
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
  return value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : brief(value);
}

function brief(value: number): string {
  return String(Number(value.toPrecision(2)));
}

function percent(value: number): string {
  return `${brief(value * 100)} %`;
}

/** Columns as wide as their widest cell, as Markdown has them. */
function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  const line = (row: string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const [head = [], ...rest] = rows;
  return [line(head), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rest.map(line)].join("\n");
}
