import { runAtOnce, type Steps } from "../../kernel/pace/pace.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { type Comment, type Form, type OffsetFault, quoted } from "./form.ts";
import { readPattern, readString } from "./string.ts";

/** Deeper than real code nests, and shallow enough for recursive functions over the forms. */
export const maxDepth = 512;

const charactersPerStep = 4_096;
/** Forms are small objects, made one by one. */
const unitsPerCharacter = 0.05;

interface Frame {
  kind: "list" | "vector" | "set" | "map";
  closer: string;
  start: number;
  items: Form[];
  lead: string[] | undefined;
  /** Forms still to be dropped here: `#_` drops the next one. */
  drops: number;
}

interface Scan {
  text: string;
  at: number;
  depth: number;
  frames: Frame[];
  top: Form[];
  /** Forms still to be dropped outside of all brackets. */
  drops: number;
  /** Forms behind `#_`. */
  dropped: Form[];
  /** The last form that ended on the current line, if only blanks follow it so far. */
  last: Form | undefined;
  /** Comments to attach to the next form. */
  comments: string[] | undefined;
  /** Every comment of the text. */
  all: Comment[];
}

const brackets = {
  "(": { kind: "list", closer: ")" },
  "[": { kind: "vector", closer: "]" },
  "{": { kind: "map", closer: "}" },
  "#{": { kind: "set", closer: "}" },
} as const;

/** Parses text into forms. */
export function readForms(text: string, depth = maxDepth): Result<Form[], OffsetFault> {
  const read = runAtOnce(formSteps(text, depth));
  return read.ok ? ok(read.value.forms) : read;
}

/**
 * Parses text into forms, in one pass and without recursion. Lists all comments too, in the order of the text, and the
 * forms that `#_` drops.
 */
export function* formSteps(
  text: string,
  depth = maxDepth,
): Steps<Result<{ forms: Form[]; comments: Comment[]; dropped: Form[] }, OffsetFault>> {
  const scan: Scan = {
    ...{ text, at: 0, depth, frames: [], top: [], drops: 0, dropped: [] },
    ...{ last: undefined, comments: undefined, all: [] },
  };
  let counted = 0;
  while (scan.at < text.length) {
    const fault = step(scan);
    if (fault !== undefined) return err(fault);
    if (scan.at - counted < charactersPerStep) continue;
    yield unitsPerCharacter * (scan.at - counted);
    counted = scan.at;
  }
  const unclosed = scan.frames.at(-1);
  if (unclosed === undefined) return ok({ forms: scan.top, comments: scan.all, dropped: scan.dropped });
  return err({ message: `the ${unclosed.kind} that starts here is never closed`, offset: unclosed.start });
}

function step(scan: Scan): OffsetFault | undefined {
  const { text, at } = scan;
  const character = text[at] ?? "";
  switch (character) {
    case "\n":
      scan.last = undefined;
      scan.at += 1;
      return undefined;
    case ";":
      readComment(scan);
      return undefined;
    case "(":
    case "[":
    case "{":
      return open(scan, character);
    case ")":
    case "]":
    case "}":
      return close(scan, character);
    case '"': {
      const string = readString(text, at);
      if (!string.ok) return string.error;
      const { value, end } = string.value;
      add(scan, { kind: "string", value, start: at, end }, takeComments(scan));
      return undefined;
    }
    default:
      if (isBlank(text.charCodeAt(at))) scan.at += 1;
      else if (text.startsWith("#{", at)) return open(scan, "#{");
      else if (text.startsWith('#"', at)) return addPattern(scan);
      else if (text.startsWith("#_", at)) drop(scan);
      else add(scan, readAtom(text, at), takeComments(scan));
      return undefined;
  }
}

/** `#_`, which comments out the next form. Several in a row drop as many forms. */
function drop(scan: Scan): void {
  (scan.frames.at(-1) ?? scan).drops += 1;
  scan.at += 2;
}

/** `#"…"`, a regular expression whose backslashes are its own. */
function addPattern(scan: Scan): OffsetFault | undefined {
  const pattern = readPattern(scan.text, scan.at);
  if (!pattern.ok) return pattern.error;
  const { value, end } = pattern.value;
  add(scan, { kind: "string", value, start: scan.at, end }, takeComments(scan));
  return undefined;
}

function readComment(scan: Scan): void {
  const newline = scan.text.indexOf("\n", scan.at);
  const end = newline === -1 ? scan.text.length : newline;
  const comment = scan.text.slice(scan.at, end).replace(/^;+/, "").trim();
  if (scan.last === undefined) {
    scan.comments ??= [];
    scan.comments.push(comment);
  } else {
    scan.last.note = comment;
    scan.last.noteAt = scan.at;
  }
  scan.all.push({ offset: scan.at, text: comment });
  scan.at = end;
}

function takeComments(scan: Scan): string[] | undefined {
  const { comments } = scan;
  scan.comments = undefined;
  return comments;
}

function open(scan: Scan, opener: keyof typeof brackets): OffsetFault | undefined {
  if (scan.frames.length === scan.depth) return { message: `nested deeper than ${scan.depth} levels`, offset: scan.at };
  scan.frames.push({ ...brackets[opener], start: scan.at, items: [], lead: takeComments(scan), drops: 0 });
  scan.last = undefined;
  scan.at += opener.length;
  return undefined;
}

function close(scan: Scan, closer: string): OffsetFault | undefined {
  const frame = scan.frames.pop();
  if (frame === undefined) return { message: `unmatched "${closer}"`, offset: scan.at };
  const { kind, start, items, lead } = frame;
  if (frame.closer !== closer) {
    return { message: `expected ${frame.closer} to close a ${kind}, found ${closer}`, offset: scan.at };
  }
  // Comments directly before a closing bracket precede no form; they are in the list of all comments only.
  scan.comments = undefined;
  const place = { start, end: scan.at + 1 };
  if (kind !== "map") {
    add(scan, { kind, items, ...place }, lead);
    return undefined;
  }
  const entries = pair(items, scan.text);
  if (!entries.ok) return entries.error;
  add(scan, { kind, entries: entries.value, ...place }, lead);
  return undefined;
}

function add(scan: Scan, form: Form, lead: string[] | undefined): void {
  if (lead !== undefined) form.lead = lead;
  const around = scan.frames.at(-1) ?? scan;
  if (around.drops > 0) {
    around.drops -= 1;
    scan.dropped.push(form);
    // What the author wrote inside belongs to no form that is read.
    while ((scan.all.at(-1)?.offset ?? -1) >= form.start) scan.all.pop();
  } else ("items" in around ? around.items : around.top).push(form);
  scan.last = form;
  scan.at = form.end;
}

function pair(items: Form[], text: string): Result<[Form, Form][], OffsetFault> {
  const entries: [Form, Form][] = [];
  const seen = new Set<string>();
  for (let index = 0; index < items.length; index += 2) {
    const [key, value] = [items[index], items[index + 1]];
    if (key === undefined) break;
    const source = text.slice(key.start, key.end);
    if (value === undefined) {
      return err({
        message: `the map holds an odd number of forms: ${quoted(source)} has no value`,
        offset: key.start,
      });
    }
    const identity = identityOf(key, source);
    if (identity !== undefined && seen.has(identity)) {
      return err({ message: `the key ${quoted(source)} is given twice`, offset: key.start });
    }
    if (identity !== undefined) seen.add(identity);
    entries.push([key, value]);
  }
  return ok(entries);
}

/** undefined for collections: comparing nested keys again at every level would be slow, so duplicates are allowed. */
function identityOf(key: Form, source: string): string | undefined {
  if ("items" in key || "entries" in key) return undefined;
  return key.kind === "string" ? `"${key.value}` : source;
}

const number = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Text that is not a literal becomes a symbol: some files contain prose that their writer forgot to comment out. */
function readAtom(text: string, start: number): Form {
  let end = start + 1;
  while (end < text.length && !isDelimiter(text.charCodeAt(end))) end += 1;
  const source = text.slice(start, end);
  const place = { start, end };
  if (source === "nil") return { kind: "nil", ...place };
  if (source === "true" || source === "false") return { kind: "boolean", value: source === "true", ...place };
  if (source.length > 1 && source.startsWith(":")) return { kind: "keyword", name: source.slice(1), ...place };
  if (number.test(source)) return { kind: "number", value: Number(source), ...place };
  return { kind: "symbol", name: source, ...place };
}

/** Control characters, commas and byte order marks count as blanks. */
function isBlank(code: number): boolean {
  return code <= 0x20 || code === 0x2c || code === 0xfeff;
}

const delimiters = new Set(Array.from('()[]{}";', (character) => character.charCodeAt(0)));

function isDelimiter(code: number): boolean {
  return isBlank(code) || delimiters.has(code);
}
