import { httpToken } from "../kernel/characters.ts";
import { isObject } from "../kernel/json.ts";
import type { Era } from "../registry/contract.ts";
import type { DeclaredItem, ListName } from "./contract.ts";

/**
 * Revision 2026-07-28 lets a tool ask that an argument be repeated in an HTTP header (`x-mcp-header` in its input
 * schema). A client must leave out a tool that asks for it in a way that is not allowed. The SDK does so, but keeps its
 * judgement to itself; this is the same one.
 */

const headerAnnotation = "x-mcp-header";
const headerTypes: readonly unknown[] = ["string", "integer", "boolean"];

/** Where a property is not always there, or not alone: a header cannot be made from it. */
const unreachableKeywords = [
  ...["items", "prefixItems", "contains", "additionalProperties", "unevaluatedProperties", "unevaluatedItems"],
  ...["propertyNames", "patternProperties", "dependentSchemas", "oneOf", "anyOf", "allOf", "not", "if", "then", "else"],
  ...["$defs", "definitions"],
];
/** Of those, the ones that hold schemas by name. */
const schemaMapKeywords = ["patternProperties", "dependentSchemas", "$defs", "definitions"];

/** What is wrong with the header annotations of an input schema, if anything. The schema must not be deep. */
export function headerAnnotationFault(inputSchema: unknown): string | undefined {
  return faultOf(inputSchema, { isRoot: true, isReachable: true }, new Set());
}

function faultOf(
  schema: unknown,
  { isRoot, isReachable }: { isRoot: boolean; isReachable: boolean },
  taken: Set<string>,
): string | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  const fields = schema as Record<string, unknown>;
  if (headerAnnotation in fields) {
    if (isRoot || !isReachable) return `${headerAnnotation} stands where no header can be made from it`;
    const fault = nameFault(fields[headerAnnotation], taken);
    if (fault !== undefined) return fault;
    if (!headerTypes.includes(fields.type))
      return `${headerAnnotation} is on a property that is no string, integer or boolean`;
  }
  for (const child of childrenOf(fields.properties)) {
    const fault = faultOf(child, { isRoot: false, isReachable }, taken);
    if (fault !== undefined) return fault;
  }
  for (const keyword of unreachableKeywords) {
    const value = fields[keyword];
    const isSeveral = Array.isArray(value) || schemaMapKeywords.includes(keyword);
    for (const child of isSeveral ? childrenOf(value) : [value]) {
      const fault = faultOf(child, { isRoot: false, isReachable: false }, taken);
      if (fault !== undefined) return fault;
    }
  }
  return undefined;
}

function nameFault(name: unknown, taken: Set<string>): string | undefined {
  if (typeof name !== "string" || !httpToken.test(name)) return `${headerAnnotation} is not the name of a header`;
  if (taken.has(name.toLowerCase())) return `two properties have the same ${headerAnnotation}`;
  taken.add(name.toLowerCase());
  return undefined;
}

function childrenOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(value) : [];
}

/** What tells an item from the others of its list. */
const keys = { tools: "name", prompts: "name", resources: "uri", resourceTemplates: "uriTemplate" } as const;

/** As deep as a document that is published may be. */
const maxDepth = 64;

/** A hostile list can be wrong in every item, and a reader looks at the first ones. */
const maxNamedErrors = 5;

/** The items of a list that something can be made of, as they are, and a word about each of the others. */
export function validItems(list: ListName, era: Era, items: unknown[], firstNumber: number) {
  const sound: DeclaredItem[] = [];
  const faults: string[] = [];
  items.forEach((item, index) => {
    const fault = itemFault(list, era, item);
    if (fault === undefined) sound.push(item as DeclaredItem);
    else faults.push(`item ${firstNumber + index} was left out: ${fault}`);
  });
  return { sound, faults };
}

export function firstErrors(faults: string[]): string[] {
  const more = faults.length - maxNamedErrors;
  return more <= 0 ? faults : [...faults.slice(0, maxNamedErrors), `and ${more} more items were left out`];
}

function itemFault(list: ListName, era: Era, item: unknown): string | undefined {
  if (!isObject(item)) return "it is not an object";
  const key = keys[list];
  if (typeof item[key] !== "string" || item[key] === "") return `it has no ${key}`;
  const fault = jsonValueError(item);
  if (fault !== undefined || list !== "tools" || era !== "2026-07-28") return fault;
  const annotation = headerAnnotationFault(item.inputSchema);
  return annotation === undefined ? undefined : `${item.name}: ${annotation}`;
}

/**
 * Why a value that came as JSON cannot be kept, though JSON.parse takes it: whoever walks it by recursion dies of its
 * depth, and a number too large for a double has no canonical form.
 */
export function jsonValueError(value: unknown, levels = maxDepth): string | undefined {
  if (typeof value === "number" && !Number.isFinite(value)) return "it has a number that is out of range";
  if (typeof value !== "object" || value === null) return undefined;
  if (levels === 0) return `it nests deeper than ${maxDepth} levels`;
  for (const child of Object.values(value)) {
    const fault = jsonValueError(child, levels - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
