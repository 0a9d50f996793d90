import { type Facts, type Flag, factsOf, isHigh } from "../../client/shapes.ts";
import type { Context } from "../context.ts";
import { printable } from "../terminal/printable.ts";

/** How the registry's record of a server or an item is shown: flags, status, freshness. */

export function flagMark(context: Context, row: object): string {
  const { flags } = factsOf(row);
  const { red, yellow, dim } = context.out.colours;
  if (flags.length === 0) return "";
  if (flags.some(isHigh)) return red("⚑");
  return flags.every(({ acknowledged }) => acknowledged) ? dim("⚐") : yellow("⚐");
}

export function flagLine(context: Context, { rule, severity, path, message, acknowledged }: Flag): string {
  const { red, yellow, dim } = context.out.colours;
  const level = severity === "high" ? "⚑ high" : "⚐ low";
  const mark = acknowledged ? dim(level) : severity === "high" ? red(level) : yellow(level);
  const by = acknowledged ? dim(`  acknowledged by ${printable(acknowledged.by ?? "an admin")}`) : "";
  return `    ${mark}  ${printable(rule)}  ${printable(path)}  ${printable(message)}${by}`;
}

/** Status, and whether what is shown may be old; empty for what is as it should be. */
export function stateOf({ status, isStale, isPending }: Facts): string {
  const states = [
    status === undefined || status === "active" ? "" : status,
    isStale ? "stale: its sources cannot be read" : "",
    isPending ? "a revision waits for review" : "",
  ];
  return printable(states.filter((one) => one !== "").join(", "));
}
