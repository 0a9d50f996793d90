import type { ImportFault } from "./imported.ts";

/** What the importers say to their reader, and the text and names they take over: all of it within the bounds. */

export interface Warnings {
  add: (message: string) => void;
  all: () => string[];
}

const maxWarnings = 100;
const maxWarningLength = 500;

/** A document can give rise to any number of warnings; a reader looks at the first ones. */
export function createWarnings(): Warnings {
  const messages: string[] = [];
  let omitted = 0;
  return {
    add: (message) => {
      // Names of the document stand in them, and those can be of any length.
      if (messages.length < maxWarnings) messages.push(message.slice(0, maxWarningLength).toWellFormed());
      else omitted += 1;
    },
    all: () => (omitted === 0 ? [...messages] : [...messages, `and ${omitted} more warnings like these`]),
  };
}

/** Windows line ends: the only refused characters that mean nothing but "new line". */
export function withLineFeeds(text: string): string {
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}

/** Text no longer than the limit in UTF-16 units, never ending in half a character; absent where there is none. */
export function clipText(value: unknown, limit: number, what: string, warnings: Warnings): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  const text = withLineFeeds(value);
  if (text.length <= limit) return text;
  warnings.add(`${what} has ${text.length} characters and was cut to ${limit}`);
  const end = text.slice(0, limit);
  return end.isWellFormed() ? end : end.slice(0, -1);
}

/** An address as it may be published: whoever gave it may have put a password in. */
export function withoutCredentials(url: string | undefined): string | undefined {
  if (url === undefined || !URL.canParse(url)) return url;
  const parsed = new URL(url);
  if (parsed.username === "" && parsed.password === "") return url;
  parsed.username = "";
  parsed.password = "";
  return parsed.href;
}

const maxNameLength = 128;
/** Leaves room for a number behind the name. */
const maxStemLength = 120;

/** Item names out of any text, each given once; a name that is taken gets a number. */
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

/** A copy as plain JSON data. Anything JSON has no word for becomes null, and so does what nests below the limit. */
export function plainCopy(value: unknown, levels: number, text: (text: string) => string = (same) => same): unknown {
  if (typeof value === "string") return text(value);
  if (typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) return value;
  if (typeof value !== "object" || value === null || levels <= 0) return null;
  if (Array.isArray(value)) return value.map((item) => plainCopy(item, levels - 1, text));
  return plainObject(Object.entries(value).map(([key, item]) => [key, plainCopy(item, levels - 1, text)]));
}

/** `__proto__` is not a key of plain data: readers disagree on what it does. */
export function plainObject(entries: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  return Object.fromEntries([...entries].filter(([key]) => key !== "__proto__"));
}

export function fault(message: string, path: string): ImportFault {
  return { message, path };
}
