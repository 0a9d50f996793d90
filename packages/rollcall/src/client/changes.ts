import { ChainBroken, type Change, checkLink, genesis } from "./chain.ts";
import { type Connection, dataOf, delay, segment } from "./connection.ts";
import { isRollcallError, RollcallError } from "./errors.ts";
import { readEvents } from "./sse.ts";
import type { components } from "./types.ts";

export type ChangePage = components["schemas"]["ChangePage"];

export interface ChangesOptions {
  /** Number of the last entry that is known; 0 for the whole log, absent for what comes from now on. */
  since?: number;
  /** Hash of that entry, for `verify`. */
  hash?: string;
  /** Checks that every entry follows the one before it, and throws ChainBroken if not. */
  verify?: boolean;
  signal?: AbortSignal;
  /** Told when a stream ended and the next connection waits. */
  onReconnect?: (error: unknown, waitMs: number) => void;
}

const silenceMs = 10_000;

export async function changePage(
  connection: Connection,
  tenant: string,
  options: { since?: number; limit?: number; signal?: AbortSignal } = {},
): Promise<ChangePage> {
  const { signal, ...query } = options;
  return dataOf<ChangePage>(await connection.send("GET", `/api/changes/${segment(tenant)}`, { query, signal }));
}

/**
 * Entries of a tenant's log as they happen, each once and in order, until the signal ends it. Reconnects where the last
 * entry was; if streams cannot be had, asks for pages.
 */
export async function* changes(
  connection: Connection,
  tenant: string,
  options: ChangesOptions = {},
): AsyncGenerator<Change, void, void> {
  const { signal } = options;
  let last = options.since;
  let hash = options.hash ?? (last === 0 ? genesis(tenant) : undefined);
  if (last === undefined) {
    const { head } = await changePage(connection, tenant, { limit: 1, signal });
    last = head.sequence;
    hash ??= head.hash;
  }
  let retry = 2_000;
  let failures = 0;
  let isPolling = false;

  const accepted = async (entry: Change): Promise<boolean> => {
    if (entry.sequence <= (last as number)) return false;
    // Entries below the oldest one are pruned: the first may follow anything, the others may not leave a gap.
    const isGap = entry.sequence !== (last as number) + 1;
    if (options.verify) {
      if (isGap && hash !== undefined && last !== 0)
        throw new ChainBroken(entry.sequence, "entries are missing before it");
      await checkLink(entry, isGap ? undefined : hash);
    }
    last = entry.sequence;
    hash = entry.hash;
    return true;
  };

  while (!signal?.aborted) {
    try {
      if (isPolling) {
        const page = await changePage(connection, tenant, { since: last, limit: 1_000, signal });
        for (const entry of page.items) if (await accepted(entry)) yield entry;
        if (page.items.length < 1_000) await delay(retry, signal);
        failures = 0;
        continue;
      }
      for await (const event of stream(connection, `/api/changes/${segment(tenant)}`, String(last), signal)) {
        failures = 0;
        if (event?.retry !== undefined) retry = event.retry;
        if (event?.event !== "change") continue;
        const entry = jsonOf<Change>(event.data);
        if (await accepted(entry)) yield entry;
      }
      await delay(retry, signal);
    } catch (error) {
      if (signal?.aborted) return;
      if (!isRollcallError(error) || !isTransient(error)) throw error;
      failures += 1;
      // A proxy that buffers streams never lets one begin.
      if (failures >= 3 && error.code === "ErrorSilent") isPolling = true;
      const wait = Math.min(60_000, retry * 2 ** Math.min(failures, 5)) * (0.5 + Math.random() / 2);
      options.onReconnect?.(error, wait);
      await delay(wait, signal).catch(() => {});
    }
  }
}

function jsonOf<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw new RollcallError("ErrorNotRegistry", "An event of the stream is not JSON", { cause });
  }
}

const isTransient = (error: RollcallError) => error.retryable || error.code === "ErrorSilent";

/** Events of one connection. Ten silent seconds count as its end: the registry sends a sign of life every second. */
export async function* stream(
  connection: Connection,
  path: string,
  lastId: string | undefined,
  signal?: AbortSignal,
  headers: Record<string, string> = {},
) {
  const controller = new AbortController();
  const stop = () => controller.abort(signal?.reason);
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new RollcallError("ErrorSilent", "The stream fell silent", { retryable: true });
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => controller.abort(silence), silenceMs);
  };
  try {
    alive();
    const accept = {
      Accept: "text/event-stream",
      ...headers,
      ...(lastId !== undefined && { "Last-Event-ID": lastId }),
    };
    const response = await connection.send("GET", path, { headers: accept, signal: controller.signal, stream: true });
    if (response.body === null) throw silence;
    for await (const event of readEvents(response.body)) {
      alive();
      yield event;
    }
  } catch (error) {
    if (isRollcallError(error) || signal?.aborted) throw error;
    throw controller.signal.aborted
      ? silence
      : new RollcallError("ErrorUnreachable", "The stream was cut off", { retryable: true, cause: error });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    controller.abort();
  }
}
