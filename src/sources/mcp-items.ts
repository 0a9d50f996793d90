import { isObject } from "../domain/manifest-parts.ts";
import type { DeclaredItem, Era, ListName } from "./introspection.ts";
import { headerAnnotationFault } from "./mcp-header-annotations.ts";

/** What tells an item from the others of its list. */
const keys = { tools: "name", prompts: "name", resources: "uri", resourceTemplates: "uriTemplate" } as const;

/** As deep as a document that is published may be. */
const MAX_DEPTH = 64;

/** A hostile list can be wrong in every item, and a reader looks at the first ones. */
const NAMED_FAULTS = 5;

/** The items of a list that something can be made of, as they are, and a word about each of the others. */
export function soundItems(list: ListName, era: Era, items: unknown[], firstNumber: number) {
  const sound: DeclaredItem[] = [];
  const faults: string[] = [];
  items.forEach((item, index) => {
    const fault = itemFault(list, era, item);
    if (fault === undefined) sound.push(item as DeclaredItem);
    else faults.push(`item ${firstNumber + index} was left out: ${fault}`);
  });
  return { sound, faults };
}

export function firstFaults(faults: string[]): string[] {
  const more = faults.length - NAMED_FAULTS;
  return more <= 0 ? faults : [...faults.slice(0, NAMED_FAULTS), `and ${more} more items were left out`];
}

function itemFault(list: ListName, era: Era, item: unknown): string | undefined {
  if (!isObject(item)) return "it is not an object";
  const key = keys[list];
  if (typeof item[key] !== "string" || item[key] === "") return `it has no ${key}`;
  const fault = valueFault(item);
  if (fault !== undefined || list !== "tools" || era !== "2026-07-28") return fault;
  const annotation = headerAnnotationFault(item.inputSchema);
  return annotation === undefined ? undefined : `${item.name}: ${annotation}`;
}

/**
 * Why a value that came as JSON cannot be kept, though JSON.parse takes it: whoever walks it by recursion dies of its
 * depth, and a number too large for a double has no canonical form.
 */
export function valueFault(value: unknown, levels = MAX_DEPTH): string | undefined {
  if (typeof value === "number" && !Number.isFinite(value)) return "it has a number that is out of range";
  if (typeof value !== "object" || value === null) return undefined;
  if (levels === 0) return `it nests deeper than ${MAX_DEPTH} levels`;
  for (const child of Object.values(value)) {
    const fault = valueFault(child, levels - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
