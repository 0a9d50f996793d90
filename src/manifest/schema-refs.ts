import { httpToken, pathSegment } from "../kernel/characters.ts";
import { type Issue, pointer, unescapeSegment } from "../kernel/issue.ts";
import type { Flag } from "./flag.ts";

type Schema = Record<string, unknown>;

interface Place {
  schema: Schema;
  path: string;
}

/** A step to a schema that applies to the same value (`$ref`, `allOf` …), or to a value inside it (`properties` …). */
interface Step extends Place {
  /** Path of the keyword or entry that makes the step. */
  from: string;
  inPlace: boolean;
}

const maxFound = 100;

const inPlaceKeywords = new Set("allOf anyOf oneOf not if then else dependentSchemas dependencies".split(" "));
const subschemaKeywords = new Set([
  ...["properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames"],
  ...["items", "prefixItems", "additionalItems", "unevaluatedItems", "contains", "contentSchema"],
  ...["$defs", "definitions"],
]);
/** Keywords whose value maps arbitrary names to schemas; those names are not keywords. */
const schemaMapKeywords = new Set(
  "properties patternProperties dependentSchemas dependencies $defs definitions".split(" "),
);

/**
 * Errors that make a JSON Schema unusable: references that only lead back to themselves, and header names that are not
 * a `token` of RFC 9110, section 5.6.2.
 */
export function schemaIssues(schema: unknown, path: string): Issue[] {
  const issues: Issue[] = [];
  const { places, steps } = explore(schema, path);
  for (const place of places) {
    const header = place.schema["x-mcp-header"];
    if (header === undefined || (typeof header === "string" && httpToken.test(header))) continue;
    const at = pointer(place.path, "x-mcp-header");
    issues.push({ path: at, rule: "header-token", message: "x-mcp-header must be a valid HTTP header name" });
  }
  for (const at of cycles(places, steps)) {
    issues.push({ path: at, rule: "cyclic-ref", message: "Circular $ref that never reaches a schema" });
  }
  return issues.slice(0, maxFound);
}

/** Flags references to other documents. They are never fetched, so nobody reviewed their content. */
export function schemaFlags(schema: unknown, path: string): Flag[] {
  const flags: Flag[] = [];
  const { places, names } = explore(schema, path);
  for (const place of places) {
    for (const keyword of ["$ref", "$dynamicRef"]) {
      const ref = place.schema[keyword];
      if (typeof ref !== "string" || isLocal(ref, names)) continue;
      const message = "The schema refers to another document, which is not fetched";
      flags.push({ rule: "remote-ref", path: pointer(place.path, keyword), message });
    }
  }
  return flags.slice(0, maxFound);
}

/**
 * Visits every schema of the document once, by keyword and by local reference, and collects the steps out of each. Data
 * (`default`, `enum` …) is not a schema. References resolve against the document; a nested `$id` only gives its schema
 * a name.
 */
function explore(schema: unknown, path: string) {
  const steps = new Map<Schema, Step[]>();
  const names = new Map<string, Place>();
  const places: Place[] = [];
  const visit = (from: Place) => {
    const todo = [from];
    for (let place = todo.pop(); place !== undefined; place = todo.pop()) {
      if (steps.has(place.schema)) continue;
      const found = keywordSteps(place);
      steps.set(place.schema, found);
      places.push(place);
      for (const name of declaredNames(place.schema)) if (!names.has(name)) names.set(name, place);
      for (const step of found.toReversed()) todo.push(step);
    }
  };
  const root: Place = { schema: isSchema(schema) ? schema : {}, path };
  visit(root);
  // `places` grows during the loop: a reference may lead to a part of the document that no keyword reaches.
  for (const place of places) {
    const ref = place.schema["$ref"];
    const target = typeof ref === "string" ? resolve(ref, root, names) : undefined;
    if (target === undefined) continue;
    steps.get(place.schema)?.push({ ...target, from: pointer(place.path, "$ref"), inPlace: true });
    visit(target);
  }
  return { places, steps, names };
}

function keywordSteps(place: Place): Step[] {
  const steps: Step[] = [];
  for (const [keyword, value] of Object.entries(place.schema)) {
    const inPlace = inPlaceKeywords.has(keyword);
    if (!(inPlace || subschemaKeywords.has(keyword)) || typeof value !== "object" || value === null) continue;
    const at = pointer(place.path, keyword);
    if (!Array.isArray(value) && !schemaMapKeywords.has(keyword)) {
      steps.push({ schema: value as Schema, path: at, from: at, inPlace });
      continue;
    }
    for (const [name, child] of Object.entries(value)) {
      const childPath = pointer(at, pathSegment(name));
      if (isSchema(child)) steps.push({ schema: child, path: childPath, from: childPath, inPlace });
    }
  }
  return steps;
}

function declaredNames({ $id, $anchor, $dynamicAnchor }: Schema): string[] {
  const names: string[] = [];
  if (typeof $id === "string") names.push(withoutFragment($id));
  for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === "string") names.push(`#${anchor}`);
  return names;
}

function resolve(ref: string, root: Place, names: Map<string, Place>): Place | undefined {
  const document = withoutFragment(ref);
  const base = document === "" ? root : names.get(document);
  const fragment = decoded(ref.slice(document.length + 1));
  if (base === undefined || fragment === "") return base;
  if (!fragment.startsWith("/")) return names.get(`#${fragment}`);
  let value: unknown = base.schema;
  let path = base.path;
  for (const segment of fragment.slice(1).split("/")) {
    const key = unescapeSegment(segment);
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
    path = pointer(path, pathSegment(key));
  }
  return isSchema(value) ? { schema: value, path } : undefined;
}

/** Paths of in-place steps that lead back to a schema still being visited. Depth-first, without recursion. */
function cycles(places: Place[], steps: Map<Schema, Step[]>): string[] {
  const found: string[] = [];
  const state = new Map<Schema, "open" | "done">();
  for (const { schema: start } of places) {
    const trail = [{ schema: start, next: 0 }];
    if (state.has(start)) continue;
    state.set(start, "open");
    for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
      const step = steps.get(top.schema)?.[top.next];
      top.next += 1;
      if (step === undefined) {
        state.set(top.schema, "done");
        trail.pop();
      } else if (step.inPlace && state.get(step.schema) === "open") {
        found.push(step.from);
      } else if (step.inPlace && !state.has(step.schema)) {
        state.set(step.schema, "open");
        trail.push({ schema: step.schema, next: 0 });
      }
    }
  }
  return found;
}

function isLocal(ref: string, names: Map<string, Place>): boolean {
  const document = withoutFragment(ref);
  return document === "" || names.has(document);
}

function withoutFragment(ref: string): string {
  return ref.split("#", 1)[0] ?? "";
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
