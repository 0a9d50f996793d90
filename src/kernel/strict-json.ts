import { pathSegment } from "./characters.ts";
import { type Issue, pointer } from "./issue.ts";
import {
  type Cursor,
  readLiteral,
  readNumber,
  readString,
  type SyntaxMessage,
  skipSpace,
  type Token,
} from "./json-tokens.ts";
import { readingUnits, type Steps } from "./pace/pace.ts";
import { maxPartLength, readEscapedKeys, readPlainKeys, readSteps, type TextPart, unquote } from "./read-json.ts";
import { err, ok, type Result } from "./result.ts";

export interface StrictJson {
  value: unknown;
  /**
   * In document order, at most 100. If there are more, the last issue has the path "" (the whole document): a caller
   * that leaves out only the damaged items must not accept items that were never checked.
   */
  issues: Issue[];
}

export type JsonFault = {
  kind: "syntax" | "encoding" | "depth";
  message: string;
  line?: number;
  column?: number;
  path?: string;
};

const maxIssues = 100;

/**
 * An open array or object. Frames are reused by depth, so allocation grows with the depth of a document, not its size.
 */
interface Frame {
  isObject: boolean;
  /** Position of the opening bracket. */
  start: number;
  keys: Set<string>;
  key: string;
  index: number;
}

interface Scan extends Cursor {
  frames: Frame[];
  depth: number;
  issues: Issue[];
  hasEscapedKey: boolean;
  isStarted: boolean;
  /** The largest containers that are small enough for `JSON.parse`, in order; collected if the list is there. */
  parts?: TextPart[];
}

/**
 * JSON.parse accepts input that two parsers may read differently: duplicate keys, numbers that a double cannot hold,
 * half of a surrogate pair. One pass over the text finds these, and syntax and depth errors, before JSON.parse builds
 * the value. JSON.parse cannot fail afterwards, as both follow the grammar of RFC 8259.
 */
export function parseStrictJson(bytes: Uint8Array, limits: { maxDepth: number }): Result<StrictJson, JsonFault> {
  const text = decoded(bytes);
  if (!text.ok) return text;
  const scan = newScan(text.value);
  const fault = scanUntil(scan, limits.maxDepth, text.value.length);
  if (fault !== "more" && fault !== undefined) return err(fault);
  const { hasEscapedKey, issues } = scan;
  return ok({ value: hasEscapedKey ? readEscapedKeys(text.value) : readPlainKeys(text.value), issues });
}

/** Up to here a document is parsed in one step, faster. */
const oneStepBytes = 64 * 1024;
const charactersPerStep = 64 * 1024;

/**
 * `parseStrictJson` in steps. Large documents are built by the reader of `read-json.ts`, which leaves only small parts to
 * `JSON.parse`: that takes 0.12 s for 16 MiB and cannot pause.
 */
export function* strictJsonSteps(
  bytes: Uint8Array,
  limits: { maxDepth: number },
): Steps<Result<StrictJson, JsonFault>> {
  if (bytes.byteLength <= oneStepBytes) {
    const read = parseStrictJson(bytes, limits);
    yield 2 * readingUnits(bytes.byteLength);
    return read;
  }
  const text = decoded(bytes);
  if (!text.ok) return text;
  const scan = newScan(text.value);
  scan.parts = [];
  for (;;) {
    const start = scan.at;
    const fault = scanUntil(scan, limits.maxDepth, scan.at + charactersPerStep);
    yield readingUnits(scan.at - start);
    if (fault === undefined) break;
    if (fault !== "more") return err(fault);
  }
  const parts = scan.hasEscapedKey ? [] : scan.parts;
  return ok({ value: yield* readSteps(text.value, parts), issues: scan.issues });
}

function decoded(bytes: Uint8Array): Result<string, JsonFault> {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return err({ kind: "encoding", message: "The document starts with a byte order mark; send plain UTF-8" });
  }
  try {
    return ok(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return err({ kind: "encoding", message: "The document is not valid UTF-8" });
  }
}

function newScan(text: string): Scan {
  return { text, at: 0, frames: [], depth: 0, issues: [], hasEscapedKey: false, isStarted: false };
}

/** Scans on to `until` or a little farther. "more" if the document has not ended there; undefined at its end. */
function scanUntil(scan: Scan, maxDepth: number, until: number): JsonFault | "more" | undefined {
  if (!scan.isStarted) {
    scan.isStarted = true;
    skipSpace(scan);
    if (scan.at === scan.text.length) return located(scan, "syntax", "The document is empty");
  }
  for (;;) {
    const first = scan.text[scan.at];
    let wrong: SyntaxMessage;
    if (first === "{" || first === "[") {
      if (scan.depth === maxDepth) {
        return { ...located(scan, "depth", `Nested deeper than ${maxDepth} levels`), path: currentPath(scan) };
      }
      open(scan, first === "{");
      skipSpace(scan);
      const isEmpty = scan.text[scan.at] === (first === "{" ? "}" : "]");
      if (!isEmpty && first === "[") continue;
      wrong = isEmpty ? closeOrAdvance(scan) : readKey(scan);
    } else {
      wrong = readScalar(scan) ?? closeOrAdvance(scan);
    }
    if (wrong !== undefined) return located(scan, "syntax", wrong);
    if (scan.depth === 0) return undefined;
    if (scan.at > until) return "more";
  }
}

/**
 * After a value, or at the closing bracket of an empty container: closes the containers that end here and moves to the
 * next value.
 */
function closeOrAdvance(scan: Scan): SyntaxMessage {
  for (;;) {
    skipSpace(scan);
    const frame = scan.frames[scan.depth - 1];
    if (scan.depth === 0 || frame === undefined) {
      return scan.at === scan.text.length ? undefined : "Unexpected text after the document";
    }
    const next = scan.text[scan.at];
    if (next === (frame.isObject ? "}" : "]")) {
      scan.at += 1;
      scan.depth -= 1;
      if (scan.parts !== undefined) addPart(scan.parts, frame.start, scan.at);
    } else if (next === ",") {
      scan.at += 1;
      skipSpace(scan);
      if (frame.isObject) return readKey(scan);
      frame.index += 1;
      return undefined;
    } else {
      return frame.isObject ? "Expected ',' or '}'" : "Expected ',' or ']'";
    }
  }
}

/** Keeps a container that has just closed, in place of those inside it. */
function addPart(parts: TextPart[], start: number, end: number): void {
  if (end - start > maxPartLength) return;
  let last = parts.at(-1);
  while (last !== undefined && last.start > start) {
    parts.pop();
    last = parts.at(-1);
  }
  parts.push({ start, end });
}

function open(scan: Scan, isObject: boolean): void {
  const frame = scan.frames[scan.depth];
  if (frame === undefined) {
    scan.frames.push({ isObject, start: scan.at, keys: new Set(), key: "", index: 0 });
  } else {
    frame.isObject = isObject;
    frame.start = scan.at;
    frame.index = 0;
    if (frame.keys.size > 0) frame.keys.clear();
  }
  scan.depth += 1;
  scan.at += 1;
}

function readKey(scan: Scan): SyntaxMessage {
  const frame = scan.frames[scan.depth - 1];
  if (frame === undefined || scan.text[scan.at] !== '"') {
    const isTrailingComma = scan.text[scan.at] === "}";
    return `Expected a key in double quotes${isTrailingComma ? ", found }: remove the comma before it" : ""}`;
  }
  const start = scan.at;
  const token = readString(scan);
  if (typeof token === "string") return token;
  const quoted = scan.text.slice(start, scan.at);
  if (token.escaped) scan.hasEscapedKey = true;
  const key = token.escaped ? unquote(quoted) : quoted.slice(1, -1);
  frame.key = key;
  if (frame.keys.has(key)) report(scan, "duplicate-key", "This key appears twice in its object");
  frame.keys.add(key);
  if (key === "__proto__") report(scan, "forbidden-key", "The key __proto__ is not allowed");
  if (key === "prototype" && isInsideConstructor(scan)) {
    report(scan, "forbidden-key", "The key prototype is not allowed inside constructor");
  }
  if (token.loneSurrogate) report(scan, "lone-surrogate", "The key holds half of a surrogate pair");
  skipSpace(scan);
  if (scan.text[scan.at] !== ":") return "Expected ':'";
  scan.at += 1;
  skipSpace(scan);
  return undefined;
}

function isInsideConstructor(scan: Scan): boolean {
  const parent = scan.frames[scan.depth - 2];
  return scan.depth > 1 && parent?.isObject === true && parent.key === "constructor";
}

function readScalar(scan: Scan): SyntaxMessage {
  const token = scalarToken(scan);
  if (typeof token === "string") return token;
  if (token.loneSurrogate) report(scan, "lone-surrogate", "The string holds half of a surrogate pair");
  if (token.infinite) report(scan, "infinite-number", "Number is too large for JSON (over 1.8e308)");
  else if (token.lossy) report(scan, "lossy-number", "Number loses precision as a 64-bit float; send it as a string");
  return undefined;
}

function scalarToken(scan: Scan): Token | string {
  switch (scan.text[scan.at]) {
    case '"':
      return readString(scan);
    case "t":
      return readLiteral(scan, "true");
    case "f":
      return readLiteral(scan, "false");
    case "n":
      return readLiteral(scan, "null");
    default:
      return readNumber(scan);
  }
}

function report(scan: Scan, rule: string, message: string): void {
  const room = maxIssues - scan.issues.length;
  if (room > 1) {
    scan.issues.push({ path: currentPath(scan), rule, message });
  } else if (room === 1) {
    scan.issues.push({ path: "", rule: "too-many-issues", message: "Too many problems; the rest was not checked" });
  }
}

function currentPath(scan: Scan): string {
  let path = "";
  for (const frame of scan.frames.slice(0, scan.depth)) {
    path = pointer(path, frame.isObject ? pathSegment(frame.key) : frame.index);
  }
  return path;
}

/** Lines and columns count from 1; a column is a UTF-16 unit, as in most editors. */
function located(scan: Scan, kind: JsonFault["kind"], what: string): JsonFault {
  let line = 1;
  let lineStart = 0;
  for (let at = scan.text.indexOf("\n"); at !== -1 && at < scan.at; at = scan.text.indexOf("\n", lineStart)) {
    line += 1;
    lineStart = at + 1;
  }
  const column = scan.at - lineStart + 1;
  return { kind, message: `${what} (line ${line}, column ${column})`, line, column };
}
