/**
 * What a deployment costs on paper. Pure: measured costs of each kind of request (`inputs.json`), prices and limits of the
 * platform, and a scenario that somebody chose go in; operations, dollars and the nearest wall come out.
 */

/** Written by `npm run bench:bill`. */
export interface BillInputs {
  measured: { at: string; command: string; machine: string };
  /** What one request touches, and the CPU time of the runtime's process for it. */
  requests: Record<string, { operations: Record<string, number>; cpuMs: number }>;
  /** Bytes in KV. */
  bytes: { head: number; body: number; card: number; cardsPerServer: number };
}

/** What nobody can measure beforehand: how the deployment is used. */
export interface Scenario {
  readsPerDay: number;
  servers: number;
  /** Publishes and webhooks of one server a day. */
  writesPerServer: number;
  /** Shares of the reads; the rest reads capabilities. */
  searchShare: number;
  catalogueShare: number;
  /** Share of the capability reads that are of public servers. */
  publicShare: number;
  /** Data centres that have traffic, each with the same share of it. */
  dataCentres: number;
  /** Requests a second that one isolate takes before there is a second one in a data centre. */
  perIsolate: number;
  platformCache: boolean;
}

export const usualScenario: Omit<Scenario, "readsPerDay" | "servers" | "platformCache"> = {
  writesPerServer: 1,
  searchShare: 0.1,
  catalogueShare: 0.05,
  publicShare: 0.7,
  dataCentres: 100,
  perIsolate: 300,
};

/** Dollars for a million, 2026; CPU for a million milliseconds. Storage, logs and the time that objects are awake are left out. */
export const prices = {
  requests: 0.3,
  cpuMs: 0.02,
  kvReads: 0.5,
  kvWrites: 5,
  objectCalls: 0.15,
  rowsRead: 0.001,
  rowsWritten: 1,
} as const;

export type Item = keyof typeof prices;
type Counts = Record<Item, number>;

/** Seconds that each layer answers for; src/registry/cache/heads.ts and bodies.ts have them. */
const memorySeconds = 2;
const edgeSeconds = 15;
const bodySeconds = 86_400;
const day = 86_400;
/** Of an isolate's caches (CACHE_MB), what rendered views can have. */
const viewBytes = 12 * 1024 * 1024;

export interface Wall {
  name: string;
  /** Load by limit: 1 is the wall. */
  use: number;
  moves: string;
}

export interface Bill {
  perDay: Counts;
  /** Dollars a month of 30 days, by item and in all. */
  dollars: Counts & { all: number };
  /** Share of the capability reads that each layer answers. */
  heads: { memory: number; edge: number; kv: number };
  bodies: { memory: number; cache: number; kv: number };
  /** Nearest first. */
  walls: Wall[];
}

export function billOf(inputs: BillInputs, scenario: Scenario): Bill {
  const { readsPerDay, servers, platformCache } = scenario;
  const searches = readsPerDay * scenario.searchShare;
  const pages = readsPerDay * scenario.catalogueShare;
  const reads = readsPerDay - searches - pages;
  const writes = servers * scenario.writesPerServer;
  const found = layersOf(inputs, scenario, reads);

  const perDay = none();
  const add = (kind: string, times: number) => addRequest(perDay, inputs, kind, times);
  add("hotRead", found.memory);
  add("readAfter2s", found.edge);
  add("readAfter15s", found.kv);
  add("search", searches);
  add("cataloguePage", pages);
  add("publish", writes / 2);
  add("webhook", writes / 2);
  // A body that is not in memory: read and rendered, in the data centre or, with the platform's cache, once for all of them.
  const render = Math.max(0, cpuOf(inputs, "readCold") - cpuOf(inputs, "readAfter15s"));
  perDay.kvReads += found.bodyKv;
  perDay.cpuMs += found.rendered * render;
  perDay.requests += platformCache ? found.inner : 0;

  const dollars = Object.fromEntries(
    (Object.keys(prices) as Item[]).map((item) => [item, (perDay[item] * 30 * prices[item]) / 1e6]),
  ) as Counts;
  const sum = Object.values(dollars).reduce((a, b) => a + b, 0);
  return {
    perDay,
    dollars: { ...dollars, all: sum },
    heads: { memory: found.memory / reads, edge: found.edge / reads, kv: found.kv / reads },
    bodies: {
      memory: 1 - found.bodyMisses / reads,
      cache: (found.bodyMisses - found.bodyKv) / reads,
      kv: found.bodyKv / reads,
    },
    walls: wallsOf(inputs, scenario, searches + pages, writes),
  };
}

/**
 * How often heads and bodies are found in each layer. Servers are read by Zipf's law; each layer is asked again at most once in its
 * time by whoever stands before it: with a rate r a second and a time T, r / (1 + r T) times a second.
 */
function layersOf(inputs: BillInputs, scenario: Scenario, reads: number) {
  const { servers, dataCentres, perIsolate, publicShare, platformCache } = scenario;
  const isolates = dataCentres * Math.max(1, Math.round(scenario.readsPerDay / day / dataCentres / perIsolate));
  const inMemory = Math.floor(viewBytes / inputs.bytes.body);
  const found = { memory: 0, edge: 0, kv: 0, bodyMisses: 0, bodyKv: 0, inner: 0, rendered: 0 };
  const asked = (rate: number, seconds: number) => rate / (1 + rate * seconds);
  const groups = [...ranks(servers)];
  const whole = groups.reduce((sum, { from, to }) => sum + Math.log(to / from), 0);
  for (const { from, to } of groups) {
    const count = to - from;
    // The mean rate of the servers of these ranks.
    const rate = ((reads / day) * Math.log(to / from)) / whole / count;
    const misses = isolates * asked(rate / isolates, memorySeconds);
    const kv = Math.min(misses, dataCentres * asked(rate / dataCentres, edgeSeconds));
    found.memory += (rate - misses) * count * day;
    found.edge += (misses - kv) * count * day;
    found.kv += kv * count * day;
    // What fits is rendered once a day in each isolate; the rest at every read.
    const bodyMisses = from <= inMemory ? isolates * asked(rate / isolates, bodySeconds) : rate;
    const perCentre = Math.min(bodyMisses, dataCentres * asked(rate / dataCentres, bodySeconds));
    const once = Math.min(perCentre, asked(rate, bodySeconds));
    const shared = platformCache ? publicShare : 0;
    found.bodyMisses += bodyMisses * count * day;
    found.bodyKv += ((1 - shared) * perCentre + shared * once) * count * day;
    found.inner += shared * bodyMisses * count * day;
    found.rendered += ((1 - shared) * bodyMisses + shared * once) * count * day;
  }
  return found;
}

/** Ranks 1 to n in groups that grow, so that a million servers are as quick to reckon as a thousand. */
function* ranks(servers: number): Generator<{ from: number; to: number }> {
  for (let from = 1; from <= servers; ) {
    const to = Math.min(servers + 1, Math.max(from + 1, Math.ceil(from * 1.05)));
    yield { from, to };
    from = to;
  }
}

/** Cards that an isolate keeps of the directory (56 MB), requests a second that one object takes, and so on. */
export const limits = {
  directoryBytes: 56 * 1024 * 1024,
  objectPerSecond: 1_000,
  purgesPerDay: 5 * 60 * 24 * 100,
  sqliteBytes: 10 * 1024 ** 3,
} as const;

function wallsOf(inputs: BillInputs, scenario: Scenario, discovery: number, writes: number): Wall[] {
  const cards = scenario.servers * inputs.bytes.cardsPerServer;
  const calls = Math.max(operation(inputs, "search", "objectCalls"), operation(inputs, "cataloguePage", "objectCalls"));
  // One object for the deployment: every write of a public server tells it, and discovery asks it where the bench saw a call.
  const perSecond = (discovery * calls + writes * scenario.publicShare) / day;
  return [
    {
      name: "memory for the directory in an isolate",
      use: (cards * inputs.bytes.card) / limits.directoryBytes,
      moves: "the object answers what does not fit; then objects by region that rank, each with a part of the cards",
    },
    {
      name: "calls of the one directory object",
      use: perSecond / limits.objectPerSecond,
      moves:
        "answer discovery from segments in the isolate, so that only writes come to the object; then several directories",
    },
    {
      name: "storage of the one directory object",
      use: (cards * 2 * inputs.bytes.card) / limits.sqliteBytes,
      moves: "several directories, by tenant",
    },
    {
      name: "purges of the platform's cache, if a hundredth of the writes narrows or deletes",
      use: (writes * scenario.publicShare * 0.01) / limits.purgesPerDay,
      moves: "nothing has to: no promise rests on a purge",
    },
  ].sort((a, b) => b.use - a.use);
}

function addRequest(counts: Counts, inputs: BillInputs, kind: string, times: number): void {
  counts.requests += times;
  counts.cpuMs += times * cpuOf(inputs, kind);
  for (const item of ["kvReads", "kvWrites", "objectCalls", "rowsRead", "rowsWritten"] as const) {
    counts[item] += times * operation(inputs, kind, item);
  }
}

function operation(inputs: BillInputs, kind: string, name: string): number {
  return inputs.requests[kind]?.operations[name] ?? 0;
}

function cpuOf(inputs: BillInputs, kind: string): number {
  return inputs.requests[kind]?.cpuMs ?? 0;
}

function none(): Counts {
  return { requests: 0, cpuMs: 0, kvReads: 0, kvWrites: 0, objectCalls: 0, rowsRead: 0, rowsWritten: 0 };
}
