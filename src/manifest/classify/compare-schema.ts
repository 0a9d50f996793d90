import { pointer } from "../../kernel/issue.ts";
import { type JsonObject, ownMember } from "../../kernel/json.ts";
import {
  compareBranches,
  compareMembers,
  compareOpenness,
  comparePatterns,
  compareTuple,
} from "./compare-subschemas.ts";
import {
  annotationKeywords,
  choiceShift,
  definitionKeywords,
  fromTo,
  isKnownDialect,
  leafKeywords,
  typeShift,
} from "./keywords.ts";
import { createReferences, type Target } from "./local-refs.ts";
import { memberNames, referenceKeywords } from "./value-ids.ts";
import { compareLater, type Pair, report, type SchemaComparison, type Walk } from "./walk.ts";

/**
 * Reports to the ledger the changes between two versions of a schema. Every pair of schemas is visited once, so
 * recursive schemas terminate. A comparison that exceeds the budget counts as breaking, because nothing shows that it
 * is not.
 */
export function compareSchemas(comparison: SchemaComparison): void {
  const walk: Walk = {
    ...comparison,
    references: createReferences(comparison.before, comparison.after),
    pending: [],
    seen: new Map(),
    withoutAnnotations: new Map(),
    hasUnresolvedRef: false,
    changedDefinitions: [],
  };
  compareLater(walk, walk.before, walk.after, walk.path, walk.wasRequired);
  for (let pair = walk.pending.pop(); pair !== undefined; pair = walk.pending.pop()) {
    visit(walk, pair);
    if (walk.budget.steps < 0) {
      walk.ledger.breaking(walk.path, "the schema is too complex to compare");
      return;
    }
  }
  if (!walk.hasUnresolvedRef) return;
  for (const path of walk.changedDefinitions) {
    walk.ledger.breaking(path, "changed, and a reference that is not followed may depend on it");
  }
}

function visit(walk: Walk, pair: Pair): void {
  const { before, after } = pair;
  const seen = walk.seen.get(before) ?? new Set();
  if (seen.has(after)) return;
  walk.seen.set(before, seen.add(after));
  walk.budget.steps -= 1 + Object.keys(before).length + Object.keys(after).length;

  const [was, is] = [walk.references.resolve("before", before), walk.references.resolve("after", after)];
  if (was !== undefined && is !== undefined) {
    compareLater(walk, was.target, is.target, is.path(walk.path));
    compareKeywords(walk, pair, new Set(["$ref"]));
  } else if (was !== undefined || is !== undefined) {
    compareWithReference(walk, pair, was, is);
  } else if (!compareAsUnion(walk, pair)) {
    compareKeywords(walk, pair, new Set());
  }
}

/** Compares a reference with an inline schema. Both are equivalent, unless other keywords stand beside `$ref`. */
function compareWithReference(walk: Walk, pair: Pair, was: Target | undefined, is: Target | undefined): void {
  const [before, after] = [withoutAnnotations(walk, pair.before), withoutAnnotations(walk, pair.after)];
  if (Object.keys(is === undefined ? before : after).length > 1) {
    walk.ledger.breaking(pair.path, "was moved between a reference and its place in a way that cannot be compared");
    return;
  }
  compareOuter(walk, pair);
  compareLater(walk, was === undefined ? before : was.target, is === undefined ? after : is.target, pair.path);
}

/** Compares a plain schema with a union that contains it, in either direction: `string` and `string or null`. */
function compareAsUnion(walk: Walk, pair: Pair): boolean {
  const before = branchesOf(withoutAnnotations(walk, pair.before));
  const after = branchesOf(withoutAnnotations(walk, pair.after));
  if (before === undefined && after !== undefined && isPlain(pair.before)) {
    compareOuter(walk, pair);
    compareBranches(walk, [withoutAnnotations(walk, pair.before)], after.list, pointer(pair.path, after.keyword));
    return true;
  }
  if (after === undefined && before !== undefined && isPlain(pair.after)) {
    compareOuter(walk, pair);
    compareBranches(walk, before.list, [withoutAnnotations(walk, pair.after)], pair.path);
    return true;
  }
  return false;
}

function branchesOf(schema: JsonObject): { keyword: string; list: unknown[] } | undefined {
  const [keyword, ...others] = Object.keys(schema);
  if (others.length > 0 || (keyword !== "anyOf" && keyword !== "oneOf")) return undefined;
  const list = schema[keyword];
  return Array.isArray(list) ? { keyword, list } : undefined;
}

function isPlain(schema: JsonObject): boolean {
  return ownMember(schema, "anyOf") === undefined && ownMember(schema, "oneOf") === undefined;
}

/**
 * The schema without annotations, definitions, `default` and `$schema`. Cached, because visited pairs are recognized by
 * identity.
 */
function withoutAnnotations(walk: Walk, schema: JsonObject): JsonObject {
  const found = walk.withoutAnnotations.get(schema);
  if (found !== undefined) return found;
  const kept = Object.entries(schema).filter(([keyword]) => !isAnnotation(keyword));
  const made = kept.length === Object.keys(schema).length ? schema : Object.fromEntries(kept);
  walk.withoutAnnotations.set(schema, made);
  return made;
}

function isAnnotation(keyword: string): boolean {
  return (
    annotationKeywords.has(keyword) || definitionKeywords.has(keyword) || keyword === "default" || keyword === "$schema"
  );
}

function compareOuter(walk: Walk, pair: Pair): void {
  const names = memberNames(pair.before, pair.after);
  compareKeywords(walk, pair, new Set(names.filter((name) => !isAnnotation(name))));
}

function compareKeywords(walk: Walk, pair: Pair, except: ReadonlySet<string>): void {
  const { before, after, path } = pair;
  const names = new Set(memberNames(before, after).filter((name) => !except.has(name)));
  if (names.has("properties") || names.has("required")) compareMembers(walk, before, after, path);
  if (names.has("enum") || names.has("const")) {
    const shift = choiceShift(before, after, walk.values);
    report(walk, shift, path, `the values to choose from ${shift}`);
  }
  for (const name of names) {
    const [was, is] = [ownMember(before, name), ownMember(after, name)];
    if (!compareStructure(walk, pair, name, was, is) && !walk.values.same(was, is)) {
      compareChanged(walk, pair, name, was, is);
    }
  }
}

/**
 * Compares keywords that contain schemas, even if their text is equal, because the targets of their references may
 * differ. Returns false if the keyword still has to be compared as text.
 */
function compareStructure(walk: Walk, pair: Pair, name: string, was: unknown, is: unknown): boolean {
  const at = pointer(pair.path, name);
  switch (name) {
    case "properties":
    case "required":
    case "enum":
    case "const":
      return true;
    case "items":
    case "prefixItems":
      if (Array.isArray(was) || Array.isArray(is)) compareTuple(walk, was, is, at);
      else compareLater(walk, was, is, at);
      return true;
    case "propertyNames":
    case "unevaluatedItems":
      compareLater(walk, was, is, at);
      return true;
    case "additionalProperties":
    case "unevaluatedProperties":
      compareOpenness(walk, was, is, at);
      return true;
    case "patternProperties":
      comparePatterns(walk, was, is, at, ownMember(pair.before, "additionalProperties") === false);
      return true;
    case "anyOf":
    case "oneOf":
    case "allOf":
      if (Array.isArray(was) && Array.isArray(is)) compareBranches(walk, was, is, at, name === "allOf");
      else if (was === undefined) report(walk, "narrowed", at, `${name} was added`);
      else if (is === undefined && name !== "allOf") report(walk, "widened", at, `${name} was removed`);
      else return false;
      return true;
    default:
      if (isUnfollowed(walk, pair, name, is)) walk.hasUnresolvedRef = true;
      return false;
  }
}

/**
 * True if the keyword has references that are not followed: to another document, to an anchor, below a nested `$id`, or
 * inside a keyword that is compared as text.
 */
function isUnfollowed(walk: Walk, pair: Pair, name: string, is: unknown): boolean {
  if (referenceKeywords.has(name)) return true;
  if (definitionKeywords.has(name)) return name === "$id" && pair.path !== walk.path;
  return walk.values.hasReference(is);
}

function compareChanged(walk: Walk, pair: Pair, name: string, was: unknown, is: unknown): void {
  const at = pointer(pair.path, name);
  const leaf = name === "type" ? typeShift : leafKeywords.get(name);
  if (leaf !== undefined) {
    const shift = leaf(was, is);
    report(walk, shift, at, `${name} ${shift} ${fromTo(was, is)}`);
  } else if (annotationKeywords.has(name)) {
    walk.ledger.cosmetic(at, `${name} changed`);
  } else if (definitionKeywords.has(name)) {
    walk.changedDefinitions.push(at);
  } else if (name === "default") {
    compareDefault(walk, at, was, is, pair.wasRequired);
  } else if (name === "$schema" && isKnownDialect(was) && isKnownDialect(is)) {
    walk.ledger.cosmetic(at, "the dialect changed");
  } else {
    walk.ledger.breaking(
      at,
      `${name} ${is === undefined ? "was removed" : was === undefined ? "was added" : "changed"}`,
    );
  }
}

function compareDefault(walk: Walk, at: string, was: unknown, is: unknown, wasRequired: boolean): void {
  const message = `default changed ${fromTo(was, is)}`;
  if (walk.side === "output") walk.ledger.cosmetic(at, message);
  else if (wasRequired) walk.ledger.additive(at, message);
  else walk.ledger.breaking(at, `${message}: a call that leaves it out now does something else`);
}
