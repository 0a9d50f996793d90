import { httpToken } from "../kernel/characters.ts";
import { isObject } from "../kernel/json.ts";
import type { Era } from "../registry/contract.ts";
import type { DeclaredItem, ListName } from "./contract.ts";

/**
 * In revision 2026-07-28 a tool may require that an argument is repeated in an HTTP header (`x-mcp-header` in its input
 * schema). A client must exclude a tool whose annotation is invalid. The SDK does so without reporting why; these
 * checks follow the same rules.
 */

const headerAnnotation = "x-mcp-header";
const headerTypes: readonly unknown[] = ["string", "integer", "boolean"];

/** Keywords whose subschemas may not apply or may apply to several values: no header can be made from them. */
const unreachableKeywords = [
  ...["items", "prefixItems", "contains", "additionalProperties", "unevaluatedProperties", "unevaluatedItems"],
  ...["propertyNames", "patternProperties", "dependentSchemas", "oneOf", "anyOf", "allOf", "not", "if", "then", "else"],
  ...["$defs", "definitions"],
];
/** Those of the keywords above whose value maps names to schemas. */
const schemaMapKeywords = ["patternProperties", "dependentSchemas", "$defs", "definitions"];

/**
 * Describes the first invalid header annotation of an input schema; undefined if all are valid. Recursive: the caller
 * limits the depth of the schema first.
 */
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

/** The field that identifies an item within its list. */
const keys = { tools: "name", prompts: "name", resources: "uri", resourceTemplates: "uriTemplate" } as const;

/** Maximum nesting of a published document. */
const maxDepth = 64;

/** A hostile list can have an error in every item; the first few are enough. */
const maxNamedErrors = 5;

/** Splits a page into valid items, unchanged, and one message for each invalid item. */
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
 * Why a parsed JSON value cannot be stored: deep nesting overflows the stack of recursive code, and a number out of the
 * range of a double (parsed as Infinity) has no canonical form. The SDK parses messages with `JSON.parse`, which may
 * misread an escaped key (kernel/read-json.ts); a misread key always holds a backslash.
 */
export function jsonValueError(value: unknown, levels = maxDepth): string | undefined {
  if (typeof value === "number" && !Number.isFinite(value)) return "it has a number that is out of range";
  if (typeof value !== "object" || value === null) return undefined;
  if (levels === 0) return `it nests deeper than ${maxDepth} levels`;
  for (const [key, child] of Object.entries(value)) {
    if (key.includes("\\")) return "it has a key with a backslash, which this runtime may misread";
    const fault = jsonValueError(child, levels - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
