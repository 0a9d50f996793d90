/**
 * The only reader of JSON text. `JSON.parse` of V8 13.6 misreads escaped keys: for an object whose first keys equal
 * those of an object read before, it compares the raw text of the next key, cut to its unescaped length, with that
 * object's next key. After `{"a":1,"\\":2}` the text `{"a":1,"\n":3}` comes back with the key `\`. So one tenant's
 * document could change how another's is read in the same isolate. Texts without escaped keys are not affected.
 */

import { readingUnits, runAtOnce, type Steps } from "./pace/pace.ts";

/** Parses JSON text as `JSON.parse` should. Throws a SyntaxError if the text is not JSON. */
export function readJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasEscapedKey(text) ? readEscapedKeys(text) : value;
}

/** For text whose keys are known to have no escapes. */
export function readPlainKeys(text: string): unknown {
  return JSON.parse(text);
}

/** The value of a JSON string token, quotes included. */
export function unquote(token: string): string {
  return String(JSON.parse(token));
}

/**
 * True if a key of the text has an escape. Backslashes occur only inside strings, so the search goes from backslash to
 * backslash and looks for the end of each string that has one.
 */
function hasEscapedKey(text: string): boolean {
  let at = text.indexOf("\\");
  while (at !== -1) {
    const end = endOfString(text, at);
    if (text[skipSpace(text, end + 1)] === ":") return true;
    at = text.indexOf("\\", end + 1);
  }
  return false;
}

/** Position of the closing quote of the string that contains `at`, where no escape may have begun before `at`. */
function endOfString(text: string, at: number): number {
  let from = at;
  while (from < text.length) {
    const code = text.charCodeAt(from);
    if (code === quote) return from;
    from += code === backslash ? 2 : 1;
  }
  return text.length;
}

const quote = 0x22;
const backslash = 0x5c;

function skipSpace(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code === 0x20 || (code >= 0x09 && code <= 0x0d); code = text.charCodeAt(at)) {
    at += 1;
  }
  return at;
}

type Container = unknown[] | Record<string, unknown>;

/** A container in a text: from its opening bracket to behind its closing one. */
export interface TextPart {
  start: number;
  end: number;
}

/** Longest part that is left to `JSON.parse`; it takes about a tenth of a millisecond. */
export const maxPartLength = 16 * 1024;

/** For text with escaped keys. */
export function readEscapedKeys(text: string): unknown {
  return runAtOnce(readSteps(text, []));
}

const charactersPerStep = 16 * 1024;

/**
 * Builds the value token by token; only scalars, and the containers in `parts`, are left to `JSON.parse`. The text must
 * be valid JSON, and `parts` in the order of the text, apart from each other and without escaped keys. Not recursive,
 * because a stored document may be nested deeper than the stack allows.
 */
export function* readSteps(text: string, parts: readonly TextPart[]): Steps<unknown> {
  const open: { container: Container; key: string }[] = [];
  let at = 0;
  let counted = 0;
  let nextPart = 0;
  let values = 0;
  for (;;) {
    if (at - counted > charactersPerStep || values > valuesPerStep) {
      yield readingUnits(at - counted) + values / 5;
      counted = at;
      values = 0;
    }
    at = skipSpace(text, at);
    let value: unknown;
    const first = text[at];
    const part = parts[nextPart];
    if (part !== undefined && part.start === at) {
      value = JSON.parse(text.slice(at, part.end));
      at = part.end;
      nextPart += 1;
    } else if (first === "{" || first === "[") {
      open.push({ container: first === "{" ? {} : [], key: "" });
      at = skipSpace(text, at + 1);
      const isEmpty = text[at] === (first === "{" ? "}" : "]");
      if (!isEmpty) {
        if (first === "{") at = readKey(text, at, open);
        continue;
      }
      at += 1;
      value = open.pop()?.container;
    } else {
      const end = endOfScalar(text, at);
      value = JSON.parse(text.slice(at, end));
      at = end;
    }
    values += 1;
    for (;;) {
      const parent = open.at(-1);
      if (parent === undefined) return value;
      add(parent, value);
      at = skipSpace(text, at);
      const next = text[at];
      at += 1;
      if (next === ",") {
        if (!Array.isArray(parent.container)) at = readKey(text, skipSpace(text, at), open);
        break;
      }
      value = open.pop()?.container;
    }
  }
}

const valuesPerStep = 4_096;

/** Reads a key from its opening quote, and returns the position after its colon. */
function readKey(text: string, start: number, open: { key: string }[]): number {
  const end = endOfString(text, start + 1) + 1;
  const frame = open.at(-1);
  if (frame !== undefined) frame.key = unquote(text.slice(start, end));
  return skipSpace(text, end) + 1;
}

function add({ container, key }: { container: Container; key: string }, value: unknown): void {
  if (Array.isArray(container)) container.push(value);
  // Assigning to __proto__ would not create a member.
  else if (key === "__proto__") Object.defineProperty(container, key, { value, ...plain });
  else container[key] = value;
}

const plain = { enumerable: true, configurable: true, writable: true } as const;

function endOfScalar(text: string, at: number): number {
  if (text[at] === '"') return endOfString(text, at + 1) + 1;
  let end = at;
  while (end < text.length && !",]} \n\r\t".includes(text[end] ?? "")) end += 1;
  return end;
}
