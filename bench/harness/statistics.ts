import { percentile } from "../../scripts/eval/metrics.ts";

export interface Spread {
  median: number;
  lowest: number;
  highest: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  const median = sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
  return { median, lowest: sorted[0] ?? 0, highest: sorted.at(-1) ?? 0 };
}

export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** Milliseconds, to the hundredth. */
export function percentilesOf(latencies: readonly number[]): Percentiles {
  const at = (share: number) => Number(percentile(latencies, share).toFixed(2));
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
