import { readFileSync, statSync } from "node:fs";
import { glob, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { cpus } from "node:os";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CommandError, runCommand } from "../scripts/command.ts";
import type { BillInputs } from "../scripts/sim/model.ts";
import { discovery, moreCards, publishMore, untilOwnCopy } from "./bill/discovery.ts";
import { cases } from "./cases/all.ts";
import type { Case, Prepared } from "./cases/case.ts";
import { publishedTools, publishServers, tenant } from "./cases/servers.ts";
import { manifest } from "./cases/tools.ts";
import { receive } from "./harness/load.ts";
import { atRest, counter, type Operations, operationsOf } from "./harness/operations.ts";
import { requireWritable } from "./harness/output.ts";
import { prepare, startTarget, type Target } from "./harness/target.ts";
import { scratchDirectory } from "./scratch.ts";

const help = `
Usage: npm run bench:bill -- --json FILE

Measures what npm run sim reckons with, and writes it to FILE: what each kind of request touches by the registry's own count,
the CPU time of the runtime's process for it, and the bytes in KV. Takes about three
minutes. Use a machine that does nothing else meanwhile.
  --json FILE   where to write it; scripts/sim/inputs.json is what npm run sim reads
`;

/** Kinds of request that the model knows, by the bench's name for them. */
const kinds = {
  hotRead: "hot authenticated read",
  publicRead: "public read",
  publish: "publish",
  webhook: "webhook",
} as const;

type Cost = BillInputs["requests"][string];

/** Reads after so many seconds find the head in the Cache API, and in KV. */
const waits = [
  ["readAfter2s", 2.5],
  ["readAfter15s", 16],
] as const;

/** Long enough that a tick of 10 ms is a small part. */
const cpuMs = 2_000;
/** After this long a private head is confirmed by its tenant's object, and it is not yet too old to be shown. */
const confirmSeconds = 61.5;
/** The directory is written to KV at most every 10 s. */
const buildSeconds = 12;
const eachOf = 60;
const publicNames = Array.from({ length: eachOf }, (_, index) => `server-${index}`);
const privateNames = Array.from({ length: eachOf }, (_, index) => `private-${index}`);

await runCommand({ help, options: { json: { type: "string" } } }, async ({ json }) => {
  if (json === undefined) throw new CommandError("--json FILE must be given: scripts/sim/inputs.json is the model's.");
  await requireWritable("--json", json);
  const data = await scratchDirectory("bill");
  let target = await startTarget(data.path);
  try {
    const [runtime] = await runtimesBelow(process.pid);
    if (runtime === undefined) throw new CommandError("CPU time is read from /proc, which this system does not have.");
    await publishServers(target);
    await publishPrivate(target);
    await atRest(target);
    await untilOwnCopy(target);
    const requests: BillInputs["requests"] = {};
    const add = (kind: string, cost: Cost) => {
      requests[kind] = cost;
      console.log(`${kind}: ${JSON.stringify(cost)}`);
    };
    const small = await discoveryCosts(target, runtime, publishedTools);
    for (const [kind, name] of Object.entries(kinds)) {
      const measured = cases.find((one) => one.name === name);
      if (measured === undefined) throw new CommandError(`The bench has no case "${name}".`);
      add(kind, await costOf(target, runtime, measured));
    }
    for (const [kind, seconds] of waits) add(kind, await afterWaiting(target, publicNames, seconds));
    add("privateReadAfter60s", await afterWaiting(target, privateNames, confirmSeconds));
    const { build, sync } = await directoryCosts(target);
    add("directoryBuild", build);
    add("directorySync", sync);
    await publishMore(target);
    await atRest(target);
    await new Promise((resolve) => setTimeout(resolve, buildSeconds * 1_000));
    await untilOwnCopy(target);
    const large = await discoveryCosts(target, runtime, publishedTools + moreCards);
    const cardInMemory = places((await copyBytes(target)) / large.cards);
    await target.stop();
    target = await startTarget(data.path);
    add("readCold", await eachOnce(target, publicNames));
    const bytes = { ...(await storedBytes(data.path)), cardInMemory };
    const measured: BillInputs["measured"] = {
      at: new Date().toISOString().slice(0, 10),
      command: "npm run bench:bill -- --json scripts/sim/inputs.json",
      machine: `${cpus().length} × ${cpus()[0]?.model.trim()}`,
    };
    await writeFile(json, `${JSON.stringify({ measured, requests, discovery: [small, large], bytes }, null, 2)}\n`);
    console.log(JSON.stringify(bytes));
  } finally {
    await target.stop();
    await data.remove();
  }
});

async function costOf(target: Target, runtime: number, measured: Case): Promise<Cost> {
  const prepared = await measured.prepare(target, { sessions: 1 });
  try {
    const operations = await operationsOf(target, prepared, measured, 2);
    return { operations, cpuMs: await cpuOf(target.url, runtime, prepared) };
  } finally {
    await prepared.stop?.();
  }
}

/** CPU time a request, in milliseconds. Asked one after the other. */
async function cpuOf(origin: string, runtime: number, { next }: Pick<Prepared, "next">): Promise<number> {
  for (let warm = 0; warm < 20; warm += 1) await receive(origin, next());
  const [before, end] = [await cpuTime(runtime), Date.now() + cpuMs];
  let asked = 0;
  for (; Date.now() < end; asked += 1) await receive(origin, next());
  return places(((await cpuTime(runtime)) - before) / asked);
}

/** What finds servers, in a directory of so many cards. */
async function discoveryCosts(
  target: Target,
  runtime: number,
  cards: number,
): Promise<BillInputs["discovery"][number]> {
  const costs = {} as Record<keyof typeof discovery, Cost>;
  for (const [kind, measured] of Object.entries(discovery)) {
    costs[kind as keyof typeof discovery] = await costOf(target, runtime, measured);
    console.log(`${kind}, ${cards} cards: ${JSON.stringify(costs[kind as keyof typeof discovery])}`);
  }
  return { cards, ...costs };
}

async function publishPrivate(target: Target): Promise<void> {
  const caller = await target.callerOf([tenant]);
  for (const [index, name] of privateNames.entries()) {
    await prepare(target, "PUT", `/api/mcp/capabilities/${tenant}/${name}`, caller, manifest(12, 10_000 + index * 12));
  }
}

/** Bytes that the isolate's copy of the directory takes, with the forms that are kept of it for answers. */
async function copyBytes(target: Target): Promise<number> {
  const admin = await target.callerOf([], { admin: true });
  const { data } = await prepare<{ directory: { bytes: Record<string, number> } }>(
    target,
    "GET",
    "/api/metrics",
    admin,
  );
  return Object.values(data.directory.bytes).reduce((sum, bytes) => sum + bytes, 0);
}

/**
 * After one write: what the directory's object takes to bring KV up to date, and what an isolate takes to follow (the call that
 * asks for changes, and the new root in the background).
 */
async function directoryCosts(target: Target): Promise<{ build: Cost; sync: Cost }> {
  const [runtime = 0] = await runtimesBelow(process.pid);
  const caller = await target.callerOf([tenant]);
  const admin = await target.callerOf([], { admin: true });
  const builder = async () =>
    (await prepare<{ directory: { builder: Operations } }>(target, "GET", "/api/metrics", admin)).data.directory
      .builder;
  const count = await counter(target);
  const wait = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  const path = `/api/mcp/capabilities/${tenant}/${publicNames[0]}`;
  await wait(buildSeconds);
  const built = await builder();
  await prepare(target, "PUT", path, caller, manifest(12, 20_000));
  await wait(0.5);
  const cpu = await cpuTime(runtime);
  await wait(buildSeconds);
  const build = { operations: difference(built, await builder()), cpuMs: (await cpuTime(runtime)) - cpu };
  const [before, spent] = [await count(), await cpuTime(runtime)];
  await receive(target.url, { method: "GET", path: "/api/catalog?limit=7", headers: {} });
  await wait(0.5);
  const sync = { operations: difference(before, await count()), cpuMs: (await cpuTime(runtime)) - spent };
  return { build, sync };
}

/** Each server, after nothing was read for a while: the head comes from further away. */
async function afterWaiting(target: Target, names: readonly string[], seconds: number): Promise<Cost> {
  await eachOnce(target, names);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1_000));
  return eachOnce(target, names);
}

/** What one read of each of the servers takes, on average, with what it leaves to be done. */
async function eachOnce(target: Target, names: readonly string[]): Promise<Cost> {
  const [runtime = 0] = await runtimesBelow(process.pid);
  const caller = await target.callerOf([tenant]);
  const count = await counter(target);
  const [before, cpu] = [await count(), await cpuTime(runtime)];
  for (const name of names) {
    const path = `/api/mcp/capabilities/${tenant}/${name}`;
    await receive(target.url, { method: "GET", path, headers: caller });
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
  const [after, spent] = [await count(), (await cpuTime(runtime)) - cpu];
  return { operations: difference(before, after, names.length), cpuMs: places(spent / names.length) };
}

function difference(before: Operations, after: Operations, times = 1): Operations {
  const each = (name: string) => places(((after[name] ?? 0) - (before[name] ?? 0)) / times);
  return Object.fromEntries(Object.keys(after).map((name) => [name, each(name)]));
}

/** User and system time of a process, in milliseconds. */
async function cpuTime(id: number): Promise<number> {
  const stat = await readFile(`/proc/${id}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // Ticks of 10 ms on every Linux that Node runs on.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function runtimesBelow(parent: number): Promise<number[]> {
  const found: number[] = [];
  for (const id of (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name))) {
    const status = await readFile(`/proc/${id}/status`, "utf8").catch(() => "");
    if (!new RegExp(`^PPid:\\s*${parent}$`, "m").test(status)) continue;
    const program = await readlink(`/proc/${id}/exe`).catch(() => "");
    if (program.includes("workerd")) found.push(Number(id));
  }
  return found;
}

/** Bytes of a head, a body and a card, in the values that the registry has written to KV. */
async function storedBytes(data: string): Promise<Omit<BillInputs["bytes"], "cardInMemory">> {
  const sizes = new Map<string, number[]>();
  let root: { frequencies: { cards: number }; segments: { bytes: number }[] } | undefined;
  for await (const file of glob(join(data, "kv", "*", "*.sqlite"))) {
    if (basename(file) === "metadata.sqlite") continue;
    const store = new DatabaseSync(file, { readOnly: true });
    for (const row of store.prepare("SELECT key, blob_id FROM _mf_entries").all()) {
      const [key, blob] = [String(row["key"]), join(data, "kv", "REGISTRY", "blobs", String(row["blob_id"]))];
      const group = key.split("/")[0] ?? "";
      sizes.set(group, [...(sizes.get(group) ?? []), statSync(blob).size]);
      if (key === "directory/root") root = JSON.parse(readFileSync(blob, "utf8"));
    }
    store.close();
  }
  const mean = (group: string) => {
    const all = sizes.get(group) ?? [];
    return Math.round(all.reduce((sum, size) => sum + size, 0) / Math.max(1, all.length));
  };
  if (root === undefined) throw new CommandError("The directory has written no root to KV yet.");
  const segments = root.segments.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    head: mean("head"),
    body: mean("manifest"),
    card: places(segments / root.frequencies.cards),
    cardsPerServer: places(publishedTools / 61),
  };
}

function places(value: number): number {
  return Number(value.toPrecision(3));
}
