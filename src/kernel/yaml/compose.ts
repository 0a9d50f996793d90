import { Composer, type CST, type Document, isCollection, type Node, type Pair } from "yaml";
import type { Steps } from "../pace/pace.ts";

/**
 * The library composes a document in one piece. So a large collection is divided before: a part of its items is composed
 * as a document of its own, and what is left of it keeps its place. Every rule of the library is applied, because each
 * item is composed by it, in a collection of the same type and indentation.
 */

type Collection = CST.BlockMap | CST.BlockSequence | CST.FlowCollection;
type Item = CST.CollectionItem;

/** Characters of a document that are composed in one step. */
const charactersPerStep = 8 * 1024;
/** Composing takes some 60 times as long as looking at each character. */
const unitsPerCharacter = 0.6;

interface Problem {
  message: string;
  pos: readonly [number, number];
}

export interface ComposedDocuments {
  documents: Document[];
  /** What is wrong with all parts, in the order of the text. */
  problems: Problem[];
  divided: DividedCollections;
}

/** Items of collections that were composed elsewhere, by the token of what was left of the collection. */
export type DividedCollections = Map<CST.Token, { offset: number; parts: (Node | Pair)[][] }>;

interface Part {
  of: CST.Token;
  /** Some items, as a collection. */
  token: Collection;
}

type ComposeOptions = ConstructorParameters<typeof Composer>[0];

/** More than any document needs: each part is composed with all of them. */
const mostDirectives = 8;

/** Commas, anchors and tags before one item. More than five are a mistake, which the library would report once for each. */
const mostProperties = 8;

/** Tokens behind a value that are neither space nor comments. More than the bracket of a collection are a mistake. */
const mostAtEnd = 3;

/** More levels than JSON may have here: each step passes through all of those above it. */
const mostLevels = 128;

/** Composes the tokens of a stream with pauses. Throws if a large item has a collection as its key. */
export function* composeSteps(
  tokens: readonly CST.Token[],
  length: number,
  options: ComposeOptions,
): Steps<ComposedDocuments> {
  const directives = tokens.filter(({ type }) => type === "directive");
  if (directives.length > mostDirectives) throw new Error(`the YAML has more than ${mostDirectives} directives`);
  const waiting: Part[] = [];
  const divided: DividedCollections = new Map();
  const composer = new Composer({ ...options, keepSourceTokens: true });
  const documents: Document[] = [];
  for (const token of tokens) {
    if (token.type === "document") {
      token.start = withoutRepeats(token.start);
      cutEnd(token.value);
      if (token.value !== undefined) token.value = yield* divideSteps(token.value, length, { waiting, divided });
    }
    documents.push(...composer.next(token));
    // Several documents are refused, and only the first mistake is told.
    if (documents.length > 1 || token.type === "error") break;
    yield 1;
  }
  documents.push(...composer.end());
  const all = [...documents];
  for (const { of, token } of waiting.sort((a, b) => a.token.offset - b.token.offset)) {
    const document = composePart(token, directives, options);
    if (document === undefined) continue;
    if (isCollection(document.contents)) divided.get(of)?.parts.push(document.contents.items as (Node | Pair)[]);
    all.push(document);
    if (document.errors.length > 0) break;
    yield charactersPerStep * unitsPerCharacter;
  }
  const errors = all.flatMap((document) => document.errors).sort(byPlace);
  const warnings = all.flatMap((document) => document.warnings).sort(byPlace);
  const mistakes = documents.length === 0 ? mistakesOf(tokens) : [];
  return { documents, problems: [...mistakes, ...errors, ...warnings], divided };
}

function composePart(value: Collection, directives: readonly CST.Token[], options: ComposeOptions) {
  const { offset } = value;
  const composer = new Composer({ ...options, keepSourceTokens: true });
  for (const directive of directives) Array.from(composer.next(directive));
  const start: CST.SourceToken[] = [
    { type: "doc-start", offset, indent: 0, source: "---" },
    { type: "newline", offset, indent: 0, source: "\n" },
  ];
  Array.from(composer.next({ type: "document", offset, start, value }));
  return Array.from(composer.end())[0];
}

function byPlace({ pos: [a] }: Problem, { pos: [b] }: Problem) {
  return a - b;
}

interface Divided {
  waiting: Part[];
  divided: DividedCollections;
}

/** A token without most of its items if it is a large collection. `end` is where the text of the token ends. */
function* divideSteps(token: CST.Token, end: number, found: Divided, depth = 0): Steps<CST.Token> {
  if (!isCollectionToken(token) || end - token.offset <= charactersPerStep) return token;
  if (depth > mostLevels) throw new Error("the YAML is nested too deeply");
  const items = upToMistake(token);
  const starts = items.map((item) => startOf(item) ?? token.offset);
  yield items.length / 5;
  const isFlow = token.type === "flow-collection";
  // The place of what follows a block depends on its last value, so that stays. The end of a flow collection is a token.
  const kept = isFlow ? items.length : items.findLastIndex(hasContent);
  const rest = { ...token, offset: starts[kept] ?? token.offset, items: items.slice(Math.max(0, kept)) } as Collection;
  found.divided.set(rest, { offset: token.offset, parts: [] });
  let part: Item[] = [];
  let characters = 0;
  const flush = (upTo: number) => {
    if (part.length === 0) return;
    const offset = starts[upTo - part.length] ?? token.offset;
    found.waiting.push({ of: rest, token: { ...token, offset, items: part } as Collection });
    [part, characters] = [[], 0];
  };
  for (const [index, item] of items.entries()) {
    const length = (starts[index + 1] ?? end) - (starts[index] ?? end);
    if (length > charactersPerStep) {
      if (isCollectionToken(item.key))
        throw new Error("a key must be a plain value, neither an alias nor a collection");
      if (item.value) item.value = yield* divideSteps(item.value, starts[index + 1] ?? end, found, depth + 1);
    }
    if (index >= kept) continue;
    const before = items[index - 1];
    const mayStart = !isFlow || (hasComma(item) && before !== undefined && hasContent(before));
    if (mayStart && characters + length > charactersPerStep) flush(index);
    part.push(isFlow && part.length === 0 && index > 0 ? withoutComma(item) : item);
    characters += length;
    yield 1;
  }
  flush(Math.max(0, kept));
  return rest;
}

/** A stream without a document has nothing that could report what is wrong with it. */
function mistakesOf(tokens: readonly CST.Token[]): Problem[] {
  const mistake = tokens.find((token) => token.type === "error");
  return mistake === undefined ? [] : [{ message: mistake.message, pos: [mistake.offset, mistake.offset] }];
}

/**
 * The items up to the first that follows another without a comma, each without what it repeats: the library would report
 * every further one in one step.
 */
function upToMistake({ type, items }: Collection): Item[] {
  const mistake =
    type === "flow-collection"
      ? items.findIndex((item, index) => index > 0 && hasContent(item) && !hasComma(item))
      : -1;
  const kept: Item[] = mistake < 0 ? items : items.slice(0, mistake + 1);
  for (const item of kept) {
    item.start = withoutRepeats(item.start);
    if (item.sep) item.sep = withoutRepeats(item.sep);
    cutEnd(item.key);
    cutEnd(item.value);
  }
  return kept;
}

/** What stands behind a value without belonging there is a mistake, told once. A collection has its bracket there. */
function cutEnd(value: CST.Token | null | undefined): void {
  if (value == null || !("end" in value) || value.end === undefined) return;
  let found = 0;
  const end = value.end.findIndex(({ type }) => {
    if (type !== "space" && type !== "newline" && type !== "comment") found += 1;
    return found > mostAtEnd;
  });
  if (end >= 0) value.end = value.end.slice(0, end);
}

/** The tokens up to the last property that can be reported. With so many of them, one is a mistake. */
function withoutRepeats(tokens: CST.SourceToken[]): CST.SourceToken[] {
  let properties = 0;
  const end = tokens.findIndex(({ type }) => {
    if (type === "comma" || type === "anchor" || type === "tag") properties += 1;
    return properties > mostProperties;
  });
  return end < 0 ? tokens : tokens.slice(0, end);
}

function isCollectionToken(token: CST.Token | null | undefined): token is Collection {
  return token?.type === "block-map" || token?.type === "block-seq" || token?.type === "flow-collection";
}

function startOf({ start, key, sep, value }: Item): number | undefined {
  return (start[0] ?? key ?? sep?.[0] ?? value)?.offset;
}

/** Comments behind the last value are an item too. */
function hasContent({ start, key, sep, value }: Item): boolean {
  return (
    Boolean(key ?? sep ?? value) || start.some(({ type }) => type === "seq-item-ind" || type === "explicit-key-ind")
  );
}

function hasComma({ start }: Item): boolean {
  return start.some(({ type }) => type === "comma");
}

/** The first item of a flow collection has no comma before it. */
function withoutComma(item: Item): Item {
  const at = item.start.findIndex(({ type }) => type === "comma");
  return { ...item, start: item.start.filter((_, index) => index !== at) };
}
