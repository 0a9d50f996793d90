import { type CST, Lexer, LineCounter, Parser, Scalar } from "yaml";
import { importBounds } from "./bounds.ts";
import type { Issue } from "./issue.ts";
import { runAtOnce, type Steps } from "./pace/pace.ts";
import { err, ok, type Result } from "./result.ts";
import { type StrictJson, strictJsonSteps } from "./strict-json.ts";
import { composeSteps } from "./yaml/compose.ts";
import { inspectSteps, jsonTextSteps } from "./yaml/nodes.ts";

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

/** `parseYaml` in steps. */
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
  const composed = yield* composeSteps(tokens.value, text.length, { ...libraryOptions, lineCounter: lines });
  const [document] = composed.documents;
  if (composed.documents.length > 1) return err({ message: "the YAML holds more than one document" });
  const [problem] = composed.problems;
  if (problem !== undefined) return err({ message: firstLine(problem.message), ...at(problem.pos[0]) });
  if (document === undefined) return err({ message: "the YAML is empty" });
  const root = document.contents ?? new Scalar(null);
  const { size, fault, targets } = yield* inspectSteps(root, text.length, composed.divided);
  // The limit applies to the size with aliases expanded, computed before anything is expanded.
  if (size > 100 * limits.maxBytes) return err({ message: "aliases expand to too much data" });
  if (size > limits.maxBytes) {
    return err({ message: `the YAML expands to more than ${limits.maxBytes} bytes`, tooLarge: true });
  }
  if (fault !== undefined) return err({ message: fault.message, ...at(fault.offset) });
  const issues: Issue[] = [];
  const json = new TextEncoder().encode(yield* jsonTextSteps(root, targets, issues));
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

/** The first line of a parser message, cut short: messages may quote the document over several lines. */
function firstLine(message: string): string {
  const line = (message.split("\n")[0] ?? "").replace(/^\w*Error: /, "").slice(0, 200);
  return line.includes("call stack") ? "the YAML is nested too deeply" : line;
}
