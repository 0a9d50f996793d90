import { readJson } from "../kernel/read-json.ts";
import type { CapabilityKind } from "./schema/capability.ts";

/**
 * The definition of an item: what a model is given of it, in the order of the members here; members that the item lacks
 * are undefined. Its cost is the number of tokens of its JSON. Takes the item as it is stored: the JSON of a schema, and
 * with it the count, depends on the order of its keys.
 */
export function definitionOf(kind: CapabilityKind, item: Record<string, unknown>): Record<string, unknown> {
  const { name, description } = item;
  switch (kind) {
    case "tool":
    case "operation":
      return { name, description, inputSchema: item.inputSchema };
    case "prompt":
      return { name, description, arguments: item.arguments };
    case "resource":
      return { uri: item.uri, name, description, mimeType: item.mimeType };
    case "resourceTemplate":
      return { uriTemplate: item.uriTemplate ?? firstOf(item.patterns), name, description, mimeType: item.mimeType };
    case "generator":
      return { type: item.type, name, bestFor: item.bestFor, requirements: item.requirements };
  }
}

/** The text whose tokens are counted. `text` is the stored item, as canonical JSON. */
export function definitionText(kind: CapabilityKind, text: string): string {
  return JSON.stringify(definitionOf(kind, readJson(text) as Record<string, unknown>));
}

function firstOf(list: unknown): unknown {
  return Array.isArray(list) ? list[0] : undefined;
}
