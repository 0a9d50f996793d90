import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isNode,
  isScalar,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  visit,
} from "yaml";
import { importBounds } from "./bounds.ts";
import type { Issue } from "./issue.ts";
import { runAtOnce, type Steps, unitsPerPause } from "./pace/pace.ts";
import { err, ok, type Result } from "./result.ts";
import { type StrictJson, strictJsonSteps } from "./strict-json.ts";

interface YamlFault {
  message: string;
  /** The document is valid but exceeds the size limit. */
  tooLarge?: true;
  /** The document is valid but exceeds another bound. */
  bound?: { name: string; limit: number; found: number };
  line?: number;
  column?: number;
}

interface YamlLimits {
  maxDepth: number;
  maxBytes: number;
}

/**
 * Parses the YAML 1.2 core schema to plain JSON data: no tags, no merge keys, few aliases, one document. The result
 * goes through the same strict parser as JSON, so that depth and key rules hold for both.
 */
export function parseYaml(bytes: Uint8Array, limits: YamlLimits): Result<StrictJson, YamlFault> {
  return runAtOnce(yamlSteps(bytes, limits));
}

/** `parseYaml` in steps. Composing and `toJS` are one step each, because the library cannot pause inside them. */
export function* yamlSteps(bytes: Uint8Array, limits: YamlLimits): Steps<Result<StrictJson, YamlFault>> {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return err({ message: "the YAML is not valid UTF-8" });
  }
  if (nestsTooDeeply(text)) return err({ message: "the YAML is nested too deeply" });
  try {
    return yield* readSteps(text, limits);
  } catch (cause) {
    // The parser recurses, so a stack overflow from deep nesting ends here, as does an alias bomb.
    return err({ message: firstLine(`${cause}`) });
  }
}

/**
 * The library's uniqueness check compares every pair of keys, and its pretty errors walk the text once per error. Both
 * are quadratic, so both are replaced by code here.
 */
const libraryOptions = {
  version: "1.2",
  schema: "core",
  merge: false,
  uniqueKeys: false,
  prettyErrors: false,
  intAsBigInt: true,
  resolveKnownTags: false,
} as const;

function* readSteps(text: string, limits: YamlLimits): Steps<Result<StrictJson, YamlFault>> {
  const lines = new LineCounter();
  const at = (offset: number | undefined): Pick<YamlFault, "line" | "column"> => {
    if (offset === undefined) return {};
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const tokens = yield* tokenSteps(text, lines);
  if (!tokens.ok) return err({ ...tokens.error, ...at(tokens.error.offset) });
  const composer = new Composer({ ...libraryOptions, lineCounter: lines });
  const documents: Document[] = [];
  for (const token of tokens.value) documents.push(...composer.next(token));
  documents.push(...composer.end());
  yield unitsPerPause;
  const [document] = documents;
  if (document === undefined) return err({ message: "the YAML is empty" });
  if (documents.length > 1) return err({ message: "the YAML holds more than one document" });
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) return err({ message: firstLine(problem.message), ...at(problem.pos[0]) });
  // The limit applies to the size with aliases expanded, computed before anything is expanded.
  const size = expandedSize(document, text.length);
  if (size > 100 * limits.maxBytes) return err({ message: "aliases expand to too much data" });
  if (size > limits.maxBytes) {
    return err({ message: `the YAML expands to more than ${limits.maxBytes} bytes`, tooLarge: true });
  }
  yield unitsPerPause;
  const odd = findInvalidKey(document);
  if (odd !== undefined) return err({ message: odd.message, ...at(odd.offset) });
  yield unitsPerPause;
  const issues: Issue[] = [];
  // The size was checked above, with aliases expanded.
  const value = document.toJS({ maxAliasCount: -1 });
  yield unitsPerPause;
  const json = new TextEncoder().encode(JSON.stringify(value, numberReplacer(issues)));
  yield unitsPerPause;
  const strict = yield* strictJsonSteps(json, limits);
  return strict.ok
    ? ok({ value: strict.value.value, issues: [...issues, ...strict.value.issues] })
    : err({ message: strict.error.message });
}

const lexemesPerStep = 500;
/** A token is made of a lexeme in several objects. */
const unitsPerLexeme = 2;
/** The lexer puts this before a scalar; without it a lexeme that starts with `*` is an alias. */
const scalarMark = "\u001f";

/** The tokens of all documents. Aliases are counted, because the work behind them grows with the square of their number. */
function* tokenSteps(text: string, lines: LineCounter): Steps<Result<CST.Token[], YamlFault & { offset: number }>> {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const tokens: CST.Token[] = [];
  let lexemes = 0;
  let aliases = 0;
  let before = "";
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme.startsWith("*") && before !== scalarMark) {
      aliases += 1;
      const limit = importBounds.yamlAliases;
      if (aliases > limit) {
        const message = `the YAML has more than ${limit} aliases (yamlAliases: ${limit})`;
        return err({ message, bound: { name: "yamlAliases", limit, found: aliases }, offset: parser.offset });
      }
    }
    before = lexeme;
    for (const token of parser.next(lexeme)) tokens.push(token);
    lexemes += 1;
    if (lexemes % lexemesPerStep === 0) yield lexemesPerStep * unitsPerLexeme;
  }
  for (const token of parser.end()) tokens.push(token);
  return ok(tokens);
}

/**
 * No real document has this many brackets open at once. Checked before parsing, as deep recursion runs for seconds
 * before it fails.
 */
const maxOpenBrackets = 1_000;

function nestsTooDeeply(text: string): boolean {
  let open = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x5b || code === 0x7b) open += 1;
    else if ((code === 0x5d || code === 0x7d) && open > 0) open -= 1;
    if (open > maxOpenBrackets) return true;
  }
  return false;
}

interface AliasUse {
  offset: number;
  target: Node;
}

/** Approximate length of the text with every alias expanded. */
function expandedSize(document: Document, length: number): number {
  const anchors = new Map<string, Node>();
  const uses: AliasUse[] = [];
  visit(document, (_, node) => {
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target !== undefined) uses.push({ offset: node.range?.[0] ?? 0, target });
    } else if (isNode(node) && "anchor" in node && node.anchor !== undefined) {
      anchors.set(node.anchor, node);
    }
  });
  const sizes = new Map<Node, number>();
  const sizeOf = (node: Node): number => {
    const known = sizes.get(node);
    if (known !== undefined) return known;
    // Until its size is known, a node counts as infinite, so that a node with an alias to itself is infinite.
    sizes.set(node, Number.POSITIVE_INFINITY);
    const [start = 0, end = 0] = node.range ?? [];
    const size = end - start + added(uses.filter(({ offset }) => offset >= start && offset < end));
    sizes.set(node, size);
    return size;
  };
  const added = (inside: readonly AliasUse[]): number => inside.reduce((size, { target }) => size + sizeOf(target), 0);
  return length + added(uses);
}

/** The first key that JSON cannot represent: a duplicate, or one that is not a scalar. */
function findInvalidKey(document: Document): { message: string; offset: number | undefined } | undefined {
  let found: { message: string; offset: number | undefined } | undefined;
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>();
      for (const { key } of map.items) {
        const offset = isNode(key) ? key.range?.[0] : undefined;
        if (key !== null && !isScalar(key)) {
          found = { message: "a key must be a plain value, neither an alias nor a collection", offset };
          return visit.BREAK;
        }
        const name = String(key?.value ?? "");
        if (seen.has(name)) {
          found = { message: `the key ${JSON.stringify(name.slice(0, 100))} is not unique`, offset };
          return visit.BREAK;
        }
        seen.add(name);
      }
      return undefined;
    },
  });
  return found;
}

/** JSON.stringify replacer for numbers: reports an integer that loses digits, throws on a number that is not finite. */
function numberReplacer(issues: Issue[]) {
  return (key: string, value: unknown): unknown => {
    if (typeof value === "number" && !Number.isFinite(value)) {
      throw new TypeError(`${JSON.stringify(key)} is not a finite number`);
    }
    if (typeof value !== "bigint") return value;
    const number = Number(value);
    if (!Number.isFinite(number)) throw new TypeError(`${JSON.stringify(key)} is larger than any number`);
    if (BigInt(number) !== value && issues.length < 100) {
      const message = `${JSON.stringify(key.slice(0, 100))} is an integer that loses digits`;
      issues.push({ path: "", rule: "lossy-number", message });
    }
    return number;
  };
}

/** The first line of a parser message, cut short: messages may quote the document over several lines. */
function firstLine(message: string): string {
  const line = (message.split("\n")[0] ?? "").replace(/^\w*Error: /, "").slice(0, 200);
  return line.includes("call stack") ? "the YAML is nested too deeply" : line;
}
