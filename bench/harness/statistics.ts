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

export interface Point {
  x: number;
  y: number;
}

/** Of the straight line that lies nearest to the points; 0 where they have no width. */
export function slopeOf(points: readonly Point[]): number {
  const mean = (values: readonly number[]) =>
    values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  const [middle, level] = [mean(points.map(({ x }) => x)), mean(points.map(({ y }) => y))];
  const along = points.reduce((sum, { x, y }) => sum + (x - middle) * (y - level), 0);
  const across = points.reduce((sum, { x }) => sum + (x - middle) ** 2, 0);
  return across === 0 ? 0 : along / across;
}
