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
import { readEscapedKeys, readPlainKeys, unquote } from "./read-json.ts";
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
  keys: Set<string>;
  key: string;
  index: number;
}

interface Scan extends Cursor {
  frames: Frame[];
  depth: number;
  issues: Issue[];
  hasEscapedKey: boolean;
}

/**
 * JSON.parse accepts input that two parsers may read differently: duplicate keys, numbers that a double cannot hold,
 * half of a surrogate pair. One pass over the text finds these, and syntax and depth errors, before JSON.parse builds
 * the value. JSON.parse cannot fail afterwards, as both follow the grammar of RFC 8259.
 */
export function parseStrictJson(bytes: Uint8Array, limits: { maxDepth: number }): Result<StrictJson, JsonFault> {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    return err({ kind: "encoding", message: "The document starts with a byte order mark; send plain UTF-8" });
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return err({ kind: "encoding", message: "The document is not valid UTF-8" });
  }
  const scan: Scan = { text, at: 0, frames: [], depth: 0, issues: [], hasEscapedKey: false };
  const fault = scanDocument(scan, limits.maxDepth);
  if (fault !== undefined) return err(fault);
  return ok({ value: scan.hasEscapedKey ? readEscapedKeys(text) : readPlainKeys(text), issues: scan.issues });
}

function scanDocument(scan: Scan, maxDepth: number): JsonFault | undefined {
  skipSpace(scan);
  if (scan.at === scan.text.length) return located(scan, "syntax", "The document is empty");
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

function open(scan: Scan, isObject: boolean): void {
  const frame = scan.frames[scan.depth];
  if (frame === undefined) {
    scan.frames.push({ isObject, keys: new Set(), key: "", index: 0 });
  } else {
    frame.isObject = isObject;
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
  if (token.lossy) report(scan, "lossy-number", "Number loses precision as a 64-bit float; send it as a string");
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
