import { leafDifferences, wordDifference } from "../../../../../src/manifest/text-difference.ts";
import type { Context } from "../context.ts";
import { printable } from "../terminal/printable.ts";

/** How a change is shown: a mark by its class, its reasons, and the words that changed. */

/** `advisory`: status or flags moved, the content did not. */
export const changeClasses = ["breaking", "additive", "cosmetic", "removed", "advisory"];

export function classMark(context: Context, classification: string, text: string): string {
  const { red, green, yellow } = context.out.colours;
  switch (classification) {
    case "breaking":
      return red(`▲ ${text}`);
    case "removed":
      return red(`− ${text}`);
    case "additive":
      return green(`+ ${text}`);
    case "cosmetic":
      return yellow(`~ ${text}`);
    case "advisory":
      return yellow(`! ${text}`);
    default:
      return yellow(`? ${text}`);
  }
}

export interface ShownChange {
  reasons: readonly (string | { path: string; message: string })[];
  before?: unknown;
  after?: unknown;
}

const mostLines = 20;

export function changeLines(context: Context, { reasons, before, after }: ShownChange): string[] {
  const { dim } = context.out.colours;
  const leaves = before === undefined || after === undefined ? [] : leafDifferences(before, after);
  const shown = new Set(leaves.map(({ path }) => `${path} changed`));
  const lines = reasons
    .map((reason) => (typeof reason === "string" ? reason : `${reason.path} ${reason.message}`.trim()))
    // The words themselves say it better.
    .filter((reason) => !shown.has(reason))
    .map((reason) => `    ${dim(printable(reason))}`);
  for (const { path, before: old, after: now } of leaves.slice(0, mostLines)) {
    lines.push(`    ${printable(path)}`, ...leafLines(context, old, now));
  }
  if (leaves.length > mostLines) lines.push(`    … and ${leaves.length - mostLines} more places`);
  return lines;
}

/** Minus and plus lines; within them the words that differ are marked, by brackets where there are no colours. */
function leafLines(context: Context, old: unknown, now: unknown): string[] {
  const { red, green, isColorSupported } = context.out.colours;
  const shown = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value));
  if (old === undefined) return [`      ${green(`+ ${printable(shown(now))}`)}`];
  if (now === undefined) return [`      ${red(`- ${printable(shown(old))}`)}`];
  if (typeof old !== "string" || typeof now !== "string") {
    return [`      ${red(`- ${printable(shown(old))}`)}`, `      ${green(`+ ${printable(shown(now))}`)}`];
  }
  const parts = wordDifference(old, now);
  const mark = (text: string, [open, close]: [string, string]) =>
    isColorSupported ? context.out.colours.inverse(printable(text)) : `${open}${printable(text)}${close}`;
  const side = (kind: "gone" | "new", brackets: [string, string]) =>
    parts
      .filter((part) => part.kind === "same" || part.kind === kind)
      .map(({ kind: own, text }) => (own === "same" ? spaced(text) : mark(text, brackets)))
      .join("");
  return [`      ${red(`- ${side("gone", ["[-", "-]"])}`)}`, `      ${green(`+ ${side("new", ["{+", "+}"])}`)}`];
}

/** `printable` for a part of a line: blanks at its ends stay. */
function spaced(text: string): string {
  const [, start = "", middle = "", end = ""] = /^(\s*)([\s\S]*?)(\s*)$/.exec(text) ?? [];
  return `${start === "" ? "" : " "}${printable(middle)}${end === "" ? "" : " "}`;
}
