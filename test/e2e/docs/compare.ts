/**
 * What a page shows is compared with what a command prints. "…" stands for anything: a line or part of a line of text;
 * in JSON a value, the rest of a string, the rest of a list, or (as a member `"…": "…"`) other members, of
 * which there must be some. Digests, times,
 * tokens, ids and the registry's address differ from run to run and count as equal.
 */

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** Numbers that depend on what was published before. */
const counters = /^(?:generation|.*Generation|score|offset|created_at|last_activity|expires_at|[a-z]*[mM]s)$/;

const varying: [RegExp, string][] = [
  [/http:\/\/127\.0\.0\.1:\d+/g, "http://127.0.0.1:8787"],
  [/sha256-[0-9a-f]{64}/g, "sha256-…"],
  [/sha256-[0-9a-f]{6,63}…/g, "sha256-…"],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?/g, "<time>"],
  [/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? \d\d[^"\n]*(?:GMT)?/g, "<time>"],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "<token>"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<id>"],
  [/\b(hook|sub|msg|whsec|evt|sess?|rs?t?)_[\w+/=-]{8,}/g, "$1_<id>"],
  [/\b[0-9a-f]{32,64}\b/g, "<hex>"],
  [/"[A-Za-z0-9_-]{40,}"/g, '"<opaque>"'],
];

function settled(text: string): string {
  return varying.reduce((result, [pattern, name]) => result.replaceAll(pattern, name), text);
}

/** Whether one text is the other, with "…" for anything. */
function sameText(shown: string, printed: string): boolean {
  const parts = settled(shown).split("…");
  const literal = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${literal.join(".*")}$`, "s").test(settled(printed));
}

function isObject(value: Json): value is { [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * `printed` as the page should show it: what the page leaves out stays out, and what only differs as every run does stays
 * as it is. The page is right if the result is what it shows.
 */
function asShown(shown: Json | undefined, printed: Json, name = ""): Json {
  if (shown === "…") return shown;
  if (typeof shown === "string" && typeof printed === "string") return sameText(shown, printed) ? shown : printed;
  if (typeof shown === "number" && typeof printed === "number") return counters.test(name) ? shown : printed;
  if (Array.isArray(shown) && Array.isArray(printed)) {
    const isOpen = shown.at(-1) === "…";
    const length = isOpen ? shown.length - 1 : printed.length;
    const items = printed.slice(0, length).map((item, index) => asShown(shown[index], item, name));
    return isOpen && printed.length > length ? [...items, "…"] : items;
  }
  if (shown !== undefined && isObject(shown) && isObject(printed)) {
    const isOpen = "…" in shown;
    const kept = Object.keys(shown).filter((key) => key in printed);
    const others = isOpen ? [] : Object.keys(printed).filter((key) => !(key in shown));
    const members = [...kept, ...others].map((key) => [key, asShown(shown[key], printed[key] ?? null, key)]);
    const hasMore = Object.keys(printed).some((key) => !(key in shown));
    return Object.fromEntries(isOpen && hasMore ? [...members, ["…", "…"]] : members);
  }
  return printed;
}

export interface Comparison {
  isSame: boolean;
  /** The answer block as it should read. */
  text: string;
}

export function compare(language: string, shown: string, printed: string): Comparison {
  return language === "json" ? compareJson(shown, printed) : compareLines(shown, printed);
}

function compareJson(shown: string, printed: string): Comparison {
  let actual: Json;
  try {
    actual = JSON.parse(printed);
  } catch {
    return { isSame: false, text: printed.trim() };
  }
  let expected: Json | undefined;
  try {
    expected = JSON.parse(shown);
  } catch {
    expected = undefined;
  }
  const text = asShown(expected, actual);
  const isSame = expected !== undefined && JSON.stringify(text) === JSON.stringify(expected);
  return { isSame, text: isSame ? shown : printJson(text) };
}

/** Lines that are "…" alone stand for any number of lines. */
function compareLines(shown: string, printed: string): Comparison {
  const lines = printed.replaceAll("\r", "").trimEnd();
  const pattern = shown.replaceAll(/^…\n/gm, "…").replaceAll(/\n…$/g, "…");
  const isSame = sameText(pattern.trimEnd(), lines);
  return { isSame, text: isSame ? shown : lines };
}

const width = 110;

/** As JSON.stringify with two spaces, but what fits on a line stays on it. */
function printJson(value: Json, indent = ""): string {
  const oneLine = flat(value);
  if (indent.length + oneLine.length <= width || typeof value !== "object" || value === null) return oneLine;
  const inner = `${indent}  `;
  const [open, close, parts] = Array.isArray(value)
    ? ["[", "]", value.map((item) => printJson(item, inner))]
    : ["{", "}", Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${printJson(item, inner)}`)];
  return `${open}\n${parts.map((part) => `${inner}${part}`).join(",\n")}\n${indent}${close}`;
}

function flat(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(flat).join(", ")}]`;
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${flat(item)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
