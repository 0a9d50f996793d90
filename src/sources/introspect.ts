import { err, ok, type Result } from "../kernel/result.ts";
import type { Era, RememberedEra } from "../registry/contract.ts";
import {
  defaultSourceBounds,
  listNames,
  type SourceBounds,
  type SourceFailure,
  type SourceReading,
  type SourceRequest,
} from "./contract.ts";
import { type Connection, connect } from "./mcp-connection.ts";
import { stopsDetection } from "./mcp-failure.ts";
import { jsonValueError } from "./mcp-items.ts";
import { type ListReading, readList } from "./mcp-lists.ts";
import { createTraffic, type Fetch } from "./mcp-traffic.ts";

export interface IntrospectionDeps {
  /** Guarded: it is given addresses that somebody else wrote. It need not bound time or size. */
  fetch: Fetch;
  /** Milliseconds. */
  now: () => number;
  bounds?: Partial<SourceBounds>;
}

/** A server may learn a newer revision while it still speaks the old one: that is looked for once a day. */
const eraLifetimeMs = 24 * 60 * 60 * 1_000;
/** However long a server wants its own description to be believed. */
const maxDiscoverMs = 60 * 60 * 1_000;
/** A description that is larger is asked for each time. */
const maxDiscoverLength = 64 * 1_024;

interface Step {
  era: Era;
  /** Where this step comes from memory. */
  memory?: RememberedEra;
  /** Taken from memory instead of asking. */
  discover?: Record<string, unknown>;
}

/**
 * Everything an MCP server offers. It is asked in the newest way first, then in older ones, but what worked the last
 * time goes before that. A refusal for lack of permission, silence and a broken connection end it: they would be the
 * same in any other way of asking.
 */
export async function introspectSource(
  request: SourceRequest,
  deps: IntrospectionDeps,
): Promise<Result<SourceReading, SourceFailure>> {
  if (!URL.canParse(request.url)) return err({ reason: "refused", message: "Its address is not a URL" });
  const bounds = { ...defaultSourceBounds, ...deps.bounds };
  const traffic = createTraffic(deps.fetch, bounds);
  const failures = new Map<Era, SourceFailure>();
  try {
    for (const step of stepsFor(request, deps.now())) {
      const { era, discover } = step;
      const connected = await connect(request, { era, discover, traffic, requestMs: bounds.requestMs });
      const read = connected.ok ? await readAll(connected.value, step, bounds, deps.now) : connected;
      // It answered a handshake just now, so this is how it speaks, and a failure is its own.
      const isSettled = connected.ok && discover === undefined;
      if (read.ok || isSettled || stopsDetection(read.error)) return read;
      failures.set(era, read.error);
    }
  } finally {
    traffic.end();
  }
  // Every way failed; what is wrong with the one it is said to speak tells most.
  const declared = failures.get(request.type === "sse" ? "sse" : "2025-streamable");
  return err(declared ?? { reason: "not-mcp", message: "It does not speak MCP" });
}

function stepsFor({ type, remembered }: SourceRequest, now: number): Step[] {
  const newestFirst: Era[] = ["2026-07-28", "2025-streamable"];
  const eras: Era[] = type === "sse" ? ["sse", ...newestFirst] : [...newestFirst, "sse"];
  const steps = eras.map((era): Step => ({ era }));
  if (remembered === undefined || !isWithin(remembered.at, eraLifetimeMs, now)) return steps;

  const { era, at, discover } = remembered;
  const ttlMs = typeof discover?.ttlMs === "number" ? Math.min(discover.ttlMs, maxDiscoverMs) : 0;
  if (discover !== undefined && isWithin(at, ttlMs, now)) return [{ era, memory: remembered, discover }, ...steps];
  // Asked anew, the newest revision is also detected anew.
  const first: Step = era === "2026-07-28" ? { era } : { era, memory: remembered };
  return [first, ...steps.filter((step) => step.era !== era)];
}

function isWithin(at: number, milliseconds: number, now: number): boolean {
  return at <= now && now < at + milliseconds;
}

/** What one connection gives, which is closed in the end: a failure only where none of its lists can be read. */
async function readAll(
  connection: Connection,
  { memory }: Step,
  bounds: SourceBounds,
  now: () => number,
): Promise<Result<SourceReading, SourceFailure>> {
  try {
    const offered = listNames.filter((list) => connection.offers(list));
    // Four at once, and one event stream at most beside them: a Worker has six connections.
    const lists = await Promise.all(offered.map((list) => readList(connection, list, bounds)));
    const answered = lists.filter(({ isAbsent }) => !isAbsent);
    const failure = answered.every((list) => list.failure !== undefined) ? answered[0]?.failure : undefined;
    if (failure !== undefined) return err(failure);
    return ok(readingOf(connection, lists, memory ?? remember(connection, now()), bounds));
  } finally {
    await connection.close();
  }
}

function remember({ era, discover }: Connection, at: number): RememberedEra {
  if (discover === undefined || jsonValueError(discover) !== undefined) return { era, at };
  return JSON.stringify(discover).length > maxDiscoverLength ? { era, at } : { era, at, discover };
}

function readingOf(
  connection: Connection,
  lists: ListReading[],
  remembered: RememberedEra,
  bounds: SourceBounds,
): SourceReading {
  const { era, protocolVersion, session, serverInfo, instructions, listChanged } = connection;
  const ttls = lists.flatMap(({ ttlMs }) => ttlMs ?? []);
  const scopes = lists.flatMap(({ cacheScope }) => cacheScope ?? []);
  const reading: SourceReading = {
    ...{ era, remembered, protocolVersion, session, listChanged },
    serverInfo,
    instructions,
    ttlMs: ttls.length === 0 ? undefined : Math.min(...ttls),
    cacheScope: scopes.length === 0 ? undefined : scopes.includes("private") ? "private" : "public",
    ...{ tools: [], prompts: [], resources: [], resourceTemplates: [], incomplete: [], warnings: [] },
  };
  let room = bounds.items;
  for (const { list, items, isComplete, warnings } of lists) {
    reading[list] = items.slice(0, room);
    room -= reading[list].length;
    const isCut = reading[list].length < items.length;
    if (isCut || !isComplete) reading.incomplete.push(list);
    const cut = isCut ? [`All lists together have more than ${bounds.items} items; the rest was left out`] : [];
    reading.warnings.push(...[...warnings, ...cut].map((message) => ({ list, message })));
  }
  return reading;
}
