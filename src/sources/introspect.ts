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

interface IntrospectionDeps {
  /** Must check addresses: publishers choose the URLs. Time and size are bounded here. */
  fetch: Fetch;
  /** Current time in milliseconds. */
  now: () => number;
  bounds?: Partial<SourceBounds>;
  /** Ends the reading before its time. */
  hurry?: AbortSignal;
}

/** How long a detected era is reused. A server may add a newer revision while it still supports the old one. */
const eraLifetimeMs = 24 * 60 * 60 * 1_000;
/** Upper limit for the `ttlMs` of a cached discover result. */
const maxDiscoverMs = 60 * 60 * 1_000;
/** A larger discover result is not cached. */
const maxDiscoverLength = 64 * 1_024;

interface Step {
  era: Era;
  /** Set if this step comes from the remembered era. */
  memory?: RememberedEra;
  /** Cached discover result, used instead of a `server/discover` request. */
  discover?: Record<string, unknown>;
}

/**
 * Reads everything that an MCP server offers. Tries the era that worked last time, then the newest, then older ones; a
 * declared type of `sse` puts SSE before the newest. Stops at a failure that is the same in every era, such as missing
 * permission, a timeout or a broken connection.
 */
export async function introspectSource(
  request: SourceRequest,
  deps: IntrospectionDeps,
): Promise<Result<SourceReading, SourceFailure>> {
  if (!URL.canParse(request.url)) return err({ reason: "refused", message: "The address is not a URL" });
  const bounds = { ...defaultSourceBounds, ...deps.bounds };
  const traffic = createTraffic(deps.fetch, bounds, deps.hurry);
  const failures = new Map<Era, SourceFailure>();
  try {
    for (const step of stepsFor(request, deps.now())) {
      const { era, discover } = step;
      const connected = await connect(request, { era, discover, traffic, requestMs: bounds.requestMs });
      const read = connected.ok ? await readAll(connected.value, step, bounds, deps.now) : connected;
      // A handshake succeeded just now, so the era is known and the failure has another cause.
      const isSettled = connected.ok && discover === undefined;
      if (read.ok || isSettled || stopsDetection(read.error)) return read;
      failures.set(era, read.error);
    }
  } finally {
    traffic.end();
  }
  // Every era failed; the failure of the declared transport is the most useful.
  const declared = failures.get(request.type === "sse" ? "sse" : "2025-streamable");
  return err(
    declared ?? { reason: "not-mcp", message: "No MCP server at this URL (tried 2026-07-28, Streamable HTTP, SSE)" },
  );
}

function stepsFor({ type, remembered }: SourceRequest, now: number): Step[] {
  const newestFirst: Era[] = ["2026-07-28", "2025-streamable"];
  const eras: Era[] = type === "sse" ? ["sse", ...newestFirst] : [...newestFirst, "sse"];
  const steps = eras.map((era): Step => ({ era }));
  if (remembered === undefined || !isWithin(remembered.at, eraLifetimeMs, now)) return steps;

  const { era, at, discover } = remembered;
  const ttlMs = typeof discover?.ttlMs === "number" ? Math.min(discover.ttlMs, maxDiscoverMs) : 0;
  if (discover !== undefined && isWithin(at, ttlMs, now)) return [{ era, memory: remembered, discover }, ...steps];
  // A new discover request confirms the newest revision, so its date is renewed.
  const first: Step = era === "2026-07-28" ? { era } : { era, memory: remembered };
  return [first, ...steps.filter((step) => step.era !== era)];
}

function isWithin(at: number, milliseconds: number, now: number): boolean {
  return at <= now && now < at + milliseconds;
}

/** Reads all lists over one connection and closes it. Fails only if no list can be read. */
async function readAll(
  connection: Connection,
  { memory }: Step,
  bounds: SourceBounds,
  now: () => number,
): Promise<Result<SourceReading, SourceFailure>> {
  try {
    const offered = listNames.filter((list) => connection.offers(list));
    // Up to four lists in parallel plus at most one event stream: a Worker may have six open connections.
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
    declaresNothing: lists.length === 0,
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
