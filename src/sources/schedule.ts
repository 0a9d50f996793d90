import type { ProbeState } from "../registry/contract.ts";
import type { SourceFailureReason } from "./contract.ts";

/** Maps a failure to the state shown for the source. */
export function probeState(reason: SourceFailureReason): Exclude<ProbeState, "live" | "pending"> {
  switch (reason) {
    case "gated":
      return "gated";
    case "not-mcp":
    case "undeclared":
    case "unpublishable":
    case "unsupported-version":
      return "not-mcp";
    case "error":
    case "unavailable":
    case "refused":
    case "timeout":
    case "too-large":
    case "unreachable":
      return "unreachable";
  }
}

/** A reading counts as fresh for this long; the next one starts earlier. */
const freshMs = 300_000;
/** Lower limit for a source's `ttlMs`. */
const minMs = 60_000;
const firstRetryMs = 30_000;
const maxRetryMs = 3_600_000;

/** Milliseconds until the next refresh. Randomized, so that sources registered together spread out. */
export function nextRefreshMs(
  reading: { ok: true; ttlMs: number | undefined } | { ok: false; failures: number },
  random: number,
): number {
  if (reading.ok) {
    const lifetime = Math.min(freshMs, Math.max(minMs, reading.ttlMs ?? freshMs));
    return Math.round(lifetime * (0.7 + 0.2 * random));
  }
  const backoffMs = Math.min(maxRetryMs, firstRetryMs * 2 ** Math.max(0, reading.failures - 1));
  return Math.round(backoffMs * (1 + 0.2 * random));
}
