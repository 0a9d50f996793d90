import type { ImportFault } from "./imported.ts";

/** Warnings, text and names for all importers, bounded in size. */

export interface Warnings {
  add: (message: string) => void;
  all: () => string[];
}

const maxWarnings = 100;
const maxWarningLength = 500;

/** Keeps the first warnings and counts the rest: a document can cause any number of them. */
export function createWarnings(): Warnings {
  const messages: string[] = [];
  let omitted = 0;
  return {
    add: (message) => {
      // Messages quote names from the document, which can have any length.
      if (messages.length < maxWarnings) messages.push(message.slice(0, maxWarningLength).toWellFormed());
      else omitted += 1;
    },
    all: () => (omitted === 0 ? [...messages] : [...messages, `and ${omitted} more warnings like these`]),
  };
}

/** Replaces CRLF by LF: manifests must not contain carriage returns, and CRLF means only a line break. */
export function withLineFeeds(text: string): string {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}

/** Text cut to `limit` UTF-16 units, never inside a surrogate pair. undefined if the value is empty or not a string. */
export function clipText(value: unknown, limit: number, what: string, warnings: Warnings): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  const text = withLineFeeds(value);
  if (text.length <= limit) return text;
  warnings.add(`${what} has ${text.length} characters and was cut to ${limit}`);
  const end = text.slice(0, limit);
  return end.isWellFormed() ? end : end.slice(0, -1);
}

/** The URL without user name and password, which must not be published. */
export function withoutCredentials(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.username === "" && parsed.password === "") return url;
  parsed.username = "";
  parsed.password = "";
  return parsed.href;
}

const maxNameLength = 128;
/** Leaves room for a numeric suffix. */
const maxStemLength = 120;

/** Returns a function that converts any text to a unique item name; duplicates get a numeric suffix. */
export function createItemNames(warnings: Warnings): (wanted: string, what: string) => string {
  const taken = new Set<string>();
  const numbers = new Map<string, number>();
  return (wanted, what) => {
    let name = wanted.replace(/[^A-Za-z0-9_.\-/]+/g, "_").slice(0, maxNameLength);
    if (taken.has(name)) {
      const stem = name.slice(0, maxStemLength);
      let number = numbers.get(stem) ?? 2;
      while (taken.has(`${stem}_${number}`)) number += 1;
      numbers.set(stem, number + 1);
      warnings.add(`${what}: the name ${name} is taken, so it is called ${stem}_${number}`);
      name = `${stem}_${number}`;
    }
    taken.add(name);
    return name;
  };
}

/** A copy as plain JSON data. Values that JSON lacks, and objects or arrays deeper than `levels`, become null. */
export function plainCopy(value: unknown, levels: number, text: (text: string) => string = (same) => same): unknown {
  if (typeof value === "string") return text(value);
  if (typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) return value;
  if (typeof value !== "object" || value === null || levels <= 0) return null;
  if (Array.isArray(value)) return value.map((item) => plainCopy(item, levels - 1, text));
  return plainObject(Object.entries(value).map(([key, item]) => [key, plainCopy(item, levels - 1, text)]));
}

/** An object from entries, without the key `__proto__`: JSON readers disagree on its meaning. */
export function plainObject(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  return Object.fromEntries([...entries].filter(([key]) => key !== "__proto__"));
}

export function fault(message: string, path: string): ImportFault {
  return { message, path };
}
