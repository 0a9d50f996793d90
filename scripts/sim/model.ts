import { confirmMs, edgeMs, freshMs } from "../../src/kernel/platform/freshness.ts";
import { type Item, items, limits, priceList } from "./platform.ts";

/**
 * What a deployment costs on paper. Pure: measured costs of each kind of request (`inputs.json`), prices and limits of the
 * platform (`platform.ts`), and a scenario that somebody chose go in; operations, dollars and the nearest wall come out.
 */

/** What one request touches, and the CPU time of the runtime's process for it. */
export interface Cost {
  operations: Record<string, number>;
  cpuMs: number;
}

/** What finds servers, from the isolate's copy of the directory and by the directory's object. */
export type Discovery = Record<"cataloguePage" | "search" | "pageByObject" | "searchByObject", Cost>;

/** Written by `npm run bench:bill`. */
export interface BillInputs {
  measured: { at: string; command: string; machine: string };
  requests: Record<string, Cost>;
  /** Measured with so many cards in the directory, the fewest first: it grows with them. */
  discovery: [Discovery & { cards: number }, Discovery & { cards: number }];
  /** Of the values in KV; `cardInMemory` is what a card takes in an isolate, with what is derived from it. */
  bytes: { head: number; body: number; card: number; cardInMemory: number; cardsPerServer: number };
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
  /** Share of the servers, and of the capability reads, that are public. */
  publicShare: number;
  /** Data centres that have traffic, each with the same share of it. */
  dataCentres: number;
  /** Requests a second that one isolate takes before there is a second one in a data centre. */
  perIsolate: number;
  /** Megabytes of an isolate's caches (CACHE_MB) that rendered views have. */
  viewMegabytes: number;
  /** Different questions that are searched for, by Zipf's law. */
  questions: number;
  platformCache: boolean;
}

export const usualScenario: Omit<Scenario, "readsPerDay" | "servers" | "platformCache"> = {
  writesPerServer: 1,
  searchShare: 0.1,
  catalogueShare: 0.05,
  publicShare: 0.7,
  dataCentres: 100,
  perIsolate: 300,
  viewMegabytes: 12,
  questions: 10_000,
};

type Counts = Record<Item, number>;

const day = 86_400;
/** Seconds that each layer answers for. The cached answers of the platform are kept as long as bodies. */
const memorySeconds = freshMs / 1_000;
const edgeSeconds = edgeMs / 1_000;
const confirmSeconds = confirmMs / 1_000;
const bodySeconds = day;
/** The directory's object writes to KV at most this often. */
const buildSeconds = 10;

export interface Wall {
  /** Two words, for the head of a table. */
  short: string;
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
  /** Always in the same order. */
  walls: Wall[];
}

export function billOf(inputs: BillInputs, scenario: Scenario): Bill {
  const { readsPerDay, servers, platformCache } = scenario;
  const searches = readsPerDay * scenario.searchShare;
  const pages = readsPerDay * scenario.catalogueShare;
  const reads = readsPerDay - searches - pages;
  const writes = servers * scenario.writesPerServer;
  const found = layersOf(inputs, scenario, reads);
  const directory = directoryOf(inputs, scenario);

  const perDay = none();
  add(perDay, costOf(inputs, "publicRead"), found.memory * scenario.publicShare);
  add(perDay, costOf(inputs, "hotRead"), found.memory * (1 - scenario.publicShare));
  add(perDay, costOf(inputs, "readAfter2s"), found.edge);
  add(perDay, costOf(inputs, "readAfter15s"), found.kv);
  add(perDay, directory.search, searches);
  add(perDay, directory.page, pages);
  add(perDay, costOf(inputs, "publish"), writes / 2);
  add(perDay, costOf(inputs, "webhook"), writes / 2);
  perDay.requests += readsPerDay + writes + (platformCache ? found.inner : 0);
  // In the background: heads that only their tenant's object can confirm, and the directory's way into isolates.
  const confirmation = less(costOf(inputs, "privateReadAfter60s"), costOf(inputs, "readAfter15s"));
  add(perDay, confirmation, found.confirmed);
  add(perDay, costOf(inputs, "directoryBuild"), directory.builds);
  add(perDay, costOf(inputs, "directorySync"), directory.syncs);
  // A body that is not in memory: read and rendered, in the data centre or, with the platform's cache, once for all of them.
  const render = Math.max(0, costOf(inputs, "readCold").cpuMs - costOf(inputs, "readAfter15s").cpuMs);
  perDay.kvReads += found.bodyKv;
  perDay.cpuMs += found.rendered * render;

  const dollars = Object.fromEntries(items.map((item) => [item, perDay[item] * 30 * price(item)])) as Counts;
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
    walls: wallsOf(inputs, scenario, directory, { searches, pages, writes }),
  };
}

/** What searches would cost behind the platform's cache, each answer under its question and the directory's generation. */
export interface CachedSearches {
  /** Share of what isolates do not have in memory that the platform would have. */
  hits: number;
  /** Dollars for a million searches. */
  with: number;
  without: number;
}

export function cachedSearches(inputs: BillInputs, scenario: Scenario): CachedSearches {
  const rate = (scenario.readsPerDay * scenario.searchShare) / day;
  const publicWrites = (scenario.servers * scenario.writesPerServer * scenario.publicShare) / day;
  // Each public change makes another generation.
  const life = Math.min(day, 1 / publicWrites);
  const isolates = isolatesOf(scenario);
  const { search, fits } = directoryOf(inputs, scenario);
  let [missed, once] = [0, 0];
  for (const { count, share } of popularity(scenario.questions)) {
    const each = rate * share;
    const misses = isolates * repeated(each / isolates, life);
    missed += misses * count;
    once += Math.min(misses, repeated(each, life)) * count;
  }
  const dollars = items.reduce((sum, item) => sum + countOf(search, item) * price(item), 0);
  // The key has the generation in it. An isolate without a copy of the directory has to ask the object for that.
  const asked = price("requests") + (fits ? 0 : price("objectCalls"));
  return {
    hits: 1 - once / missed,
    with: ((missed * asked + once * dollars) / rate) * 1e6,
    without: ((missed * dollars) / rate) * 1e6,
  };
}

interface Directory {
  cards: number;
  /** Whether isolates have a copy of it; if not, its object answers. */
  fits: boolean;
  search: Cost;
  page: Cost;
  builds: number;
  syncs: number;
}

function directoryOf(inputs: BillInputs, scenario: Scenario): Directory {
  const cards = scenario.servers * scenario.publicShare * inputs.bytes.cardsPerServer;
  const fits = cards * inputs.bytes.cardInMemory <= limits.directoryBytes.value;
  const writes = (scenario.servers * scenario.writesPerServer * scenario.publicShare) / day;
  const isolates = isolatesOf(scenario);
  const asked = (scenario.readsPerDay * (scenario.searchShare + scenario.catalogueShare)) / day / isolates;
  // Once a minute, and after each write of its data centre that an isolate notices.
  const between = Math.max(memorySeconds, 1 / (1 / confirmSeconds + writes / scenario.dataCentres));
  return {
    cards,
    fits,
    search: costAt(inputs, fits ? "search" : "searchByObject", cards),
    page: costAt(inputs, fits ? "cataloguePage" : "pageByObject", cards),
    builds: repeated(writes, buildSeconds) * day,
    syncs: fits ? isolates * repeated(asked, between) * day : 0,
  };
}

function isolatesOf({ readsPerDay, dataCentres, perIsolate }: Scenario): number {
  return dataCentres * Math.max(1, Math.round(readsPerDay / day / dataCentres / perIsolate));
}

/** How often a second a layer is asked again that is asked `rate` times a second and keeps an answer for so long. */
function repeated(rate: number, seconds: number): number {
  return rate / (1 + rate * seconds);
}

/**
 * How often heads and bodies are found in each layer. Servers are read by Zipf's law; each layer is asked again at most once in its
 * time by whoever stands before it.
 */
function layersOf(inputs: BillInputs, scenario: Scenario, reads: number) {
  const { servers, dataCentres, publicShare, platformCache } = scenario;
  const isolates = isolatesOf(scenario);
  const inMemory = Math.floor((scenario.viewMegabytes * 1024 * 1024) / inputs.bytes.body);
  const shared = platformCache ? publicShare : 0;
  // What is public is confirmed with the isolate's copy of the directory, if there is one.
  const unconfirmed = directoryOf(inputs, scenario).fits ? 1 - publicShare : 1;
  const found = { memory: 0, edge: 0, kv: 0, confirmed: 0, bodyMisses: 0, bodyKv: 0, inner: 0, rendered: 0 };
  for (const { from, count, share } of popularity(servers)) {
    const rate = (reads / day) * share;
    const perDay = count * day;
    const misses = isolates * repeated(rate / isolates, memorySeconds);
    const kv = Math.min(misses, dataCentres * repeated(rate / dataCentres, edgeSeconds));
    found.memory += (rate - misses) * perDay;
    found.edge += (misses - kv) * perDay;
    found.kv += kv * perDay;
    found.confirmed +=
      unconfirmed * Math.min(misses, dataCentres * repeated(rate / dataCentres, confirmSeconds)) * perDay;
    // What fits is rendered once a day in each isolate; the rest at every read.
    const bodyMisses = from <= inMemory ? isolates * repeated(rate / isolates, bodySeconds) : rate;
    const perCentre = Math.min(bodyMisses, dataCentres * repeated(rate / dataCentres, bodySeconds));
    const once = Math.min(perCentre, repeated(rate, bodySeconds));
    found.bodyMisses += bodyMisses * perDay;
    found.bodyKv += ((1 - shared) * perCentre + shared * once) * perDay;
    found.inner += shared * bodyMisses * perDay;
    found.rendered += ((1 - shared) * bodyMisses + shared * once) * perDay;
  }
  return found;
}

/**
 * Zipf's law: ranks 1 to n in groups that grow, so that a million are as quick to reckon as a thousand. `share` is that of one
 * of the group's.
 */
function* popularity(n: number): Generator<{ from: number; count: number; share: number }> {
  const whole = Math.log(n + 1);
  for (let from = 1; from <= n; ) {
    const to = Math.min(n + 1, Math.max(from + 1, Math.ceil(from * 1.05)));
    yield { from, count: to - from, share: Math.log(to / from) / whole / (to - from) };
    from = to;
  }
}

function wallsOf(
  inputs: BillInputs,
  scenario: Scenario,
  { cards, fits, search, page, syncs }: Directory,
  { searches, pages, writes }: { searches: number; pages: number; writes: number },
): Wall[] {
  const answered = (countsOf: (cost: Cost) => number) =>
    fits ? 0 : searches * countsOf(search) + pages * countsOf(page);
  const calls = answered((cost) => countOf(cost, "objectCalls")) + syncs + writes * scenario.publicShare;
  return [
    {
      short: "memory",
      name: "the directory in an isolate's memory",
      use: (cards * inputs.bytes.cardInMemory) / limits.directoryBytes.value,
      moves:
        "nothing stops: the directory's object answers what does not fit. Next: parts of the cards in objects by region",
    },
    {
      short: "object calls",
      name: "calls of the one directory object",
      use: calls / day / limits.objectCallsPerSecond.value,
      moves:
        "isolates that answer discovery themselves, so that only writes come to the object; then several directories",
    },
    {
      short: "object CPU",
      name: "computing of the one directory object, which does one thing at a time",
      use: answered(({ cpuMs }) => cpuMs) / day / limits.cpuMsPerSecond.value,
      moves: "as above; or copies of the object by region",
    },
    {
      short: "one search",
      name: "CPU time of one search, which weighs every card",
      use: search.cpuMs / limits.requestCpuMs.value,
      moves: "objects that each rank a part of the cards",
    },
    {
      short: "storage",
      name: "storage of the one directory object: rows and segments",
      use: (cards * 2 * inputs.bytes.card) / limits.objectBytes.value,
      moves: "several directories, by tenant",
    },
    {
      short: "purges",
      name: "purges of the platform's cache, if a hundredth of the writes narrows or deletes",
      use: (writes * scenario.publicShare * 0.01) / limits.purgedTagsPerDay.value,
      moves: "nothing has to: no promise rests on a purge",
    },
  ];
}

const price = (item: Item): number => priceList[item].dollars / 1e6;

function costOf(inputs: BillInputs, kind: string): Cost {
  const cost = inputs.requests[kind];
  if (cost === undefined) throw new Error(`The measured inputs lack ${kind}.`);
  return cost;
}

/** On the line through what was measured with few cards and with many; never below what was measured with few. */
function costAt({ discovery: [few, many] }: BillInputs, kind: keyof Discovery, cards: number): Cost {
  const at = (less: number, more: number) =>
    less + Math.max(0, ((more - less) * (cards - few.cards)) / (many.cards - few.cards));
  const names = Object.keys(few[kind].operations);
  return {
    operations: Object.fromEntries(
      names.map((name) => [name, at(few[kind].operations[name] ?? 0, many[kind].operations[name] ?? 0)]),
    ),
    cpuMs: at(few[kind].cpuMs, many[kind].cpuMs),
  };
}

/** What one does beyond the other. */
function less(one: Cost, other: Cost): Cost {
  const rest = (a: number, b = 0) => Math.max(0, a - b);
  return {
    operations: Object.fromEntries(
      Object.entries(one.operations).map(([name, count]) => [name, rest(count, other.operations[name])]),
    ),
    cpuMs: rest(one.cpuMs, other.cpuMs),
  };
}

/** Of one request. Requests are counted by whoever sends them. */
function countOf({ operations, cpuMs }: Cost, item: Item): number {
  return item === "cpuMs" ? cpuMs : (operations[item] ?? 0);
}

function add(counts: Counts, cost: Cost, times: number): void {
  for (const item of items) counts[item] += times * countOf(cost, item);
}

function none(): Counts {
  return { requests: 0, cpuMs: 0, kvReads: 0, kvWrites: 0, objectCalls: 0, rowsRead: 0, rowsWritten: 0 };
}
