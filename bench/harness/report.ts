import type { CaseFigures } from "./measure.ts";
import type { TrafficFigures } from "./measure-traffic.ts";
import type { Operations } from "./operations.ts";
import type { PeerFigures } from "./peers.ts";
import { layers, percentOf } from "./traffic-tally.ts";

/** What is touched, in one word each; what is not touched is left out. */
const short: Record<string, string> = {
  memory: "memory",
  cacheReads: "cache",
  cacheWrites: "cache put",
  kvReads: "KV",
  kvWrites: "KV put",
  objectCalls: "object",
  rowsRead: "rows",
  rowsWritten: "rows put",
};

function touchedText(operations: Operations): string {
  const touched = Object.entries(operations).filter(([, count]) => count > 0);
  return touched.length === 0
    ? "nothing"
    : touched.map(([name, count]) => `${count} ${short[name] ?? name}`).join(", ");
}

const heading = ["case", "ratio", "spread", "per s", "p50", "p95", "p99", "bytes", "touches"];

function caseRow(figures: CaseFigures): string[] {
  const { name, ratio, ratioLowest, ratioHighest, perSecond, p50, p95, p99, bytes, operations } = figures;
  const times = [p50, p95, p99].map((milliseconds) => milliseconds.toFixed(1));
  const spread = `${ratioLowest}–${ratioHighest}`;
  return [name, String(ratio), spread, String(perSecond), ...times, String(bytes), touchedText(operations)];
}

export function caseTable(cases: readonly CaseFigures[]): string {
  return table([heading, ...cases.map(caseRow)]);
}

export function peerTable(peers: readonly PeerFigures[]): string {
  const rows = peers.map(({ question, name, ratio, perSecond, p50, p95, p99, bytes }) => [
    ...[question, name, String(ratio), String(perSecond)],
    ...[p50, p95, p99].map((milliseconds) => milliseconds.toFixed(1)),
    String(bytes),
  ]);
  return table([["question", "server", "ratio", "per s", "p50", "p95", "p99", "bytes"], ...rows]);
}

/** A row for each kind of request: how often, how long, and from which layer in percent. */
export function trafficTable(figures: TrafficFigures): string {
  const { kinds, ratioToHotRead, hotRead, responseCacheHitRate, requests, dropped } = figures;
  const rows = kinds.map(({ kind, requests: count, p50, p95, p99, layers: shares }) => [
    ...[kind, `${percentOf(kind)} %`, String(count)],
    ...[p50, p95, p99].map((milliseconds) => milliseconds.toFixed(1)),
    ...layers.map((layer) => percent(shares[layer] ?? 0)),
  ]);
  const spread = `${ratioToHotRead.lowest}–${ratioToHotRead.highest}`;
  return [
    `Of this run's hot read (${hotRead.perSecond} a second, ${hotRead.ratio} of the floor): ${ratioToHotRead.median}, ${spread}`,
    `Reads answered by the response cache: ${percent(responseCacheHitRate)}`,
    `Responses: ${requests}; dropped connections: ${dropped}`,
    table([["kind", "share", "count", "p50", "p95", "p99", ...layers], ...rows]),
  ].join("\n");
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

/** Columns as wide as their widest cell; what comes last is as long as it is. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return rows.map(line).join("\n");
}
