import { isObject } from "../kernel/json.ts";
import { packTermWeights } from "./term-weights.ts";
import { maxCharacters, termsOf } from "./terms.ts";

/** Words of a server that its items are also found by. */
export interface ServerWords {
  name: string;
  title?: string;
}

/** Weight of a term by field: highest in the name, lowest in parameters. */
const fieldWeights = { name: 4, title: 2, description: 1, parameters: 0.5 } as const;
type Field = keyof typeof fieldWeights;

/** Parameter terms count half towards the text length: many parameters do not make an item less relevant. */
const parameterLength = 0.5;

/**
 * Terms and weights that an item is found by, packed for the index. The server's words are kept apart: all its items share
 * them, so they say little of any one.
 */
export function itemTermWeights(
  item: { key: string; declared: Record<string, unknown> },
  server: ServerWords,
): ArrayBuffer {
  const weights = new Map<string, number>();
  let length = 0;
  for (const [field, terms] of Object.entries(fieldTerms(item)) as [Field, string[]][]) {
    for (const term of terms) weights.set(term, (weights.get(term) ?? 0) + fieldWeights[field]);
    length += terms.length * (field === "parameters" ? parameterLength : 1);
  }
  return packTermWeights(weights, length, termsOf(`${server.name} ${server.title ?? ""}`));
}

/** Terms of a declared item by field. */
export function fieldTerms({
  key,
  declared,
}: {
  key: string;
  declared: Record<string, unknown>;
}): Record<Field, string[]> {
  const annotations = isObject(declared.annotations) ? declared.annotations : {};
  // The key of a resource is its URI; its name is separate.
  const name = declared.name === key ? key : `${key} ${textOf(declared.name)}`;
  return {
    name: distinct(termsOf(name)),
    title: termsOf(`${textOf(declared.title)} ${textOf(annotations.title)}`),
    description: termsOf(textOf(declared.description)),
    parameters: termsOf(parameterText(declared)),
  };
}

/** Limit of schemas read per item, and of entries read per argument list: enough for any real tool. */
const maxSchemas = 100;

/** Names, titles and descriptions of an item's parameters, outermost first. */
function parameterText(declared: Record<string, unknown>): string {
  const said: string[] = [];
  let length = 0;
  const say = (name: string, about: Record<string, unknown>) => {
    const text = `${name} ${textOf(about.title)} ${textOf(about.description)}`.slice(0, maxCharacters);
    said.push(text);
    length += text.length;
  };
  for (const list of [declared.arguments, declared.parameters]) {
    if (!Array.isArray(list)) continue;
    for (const item of list.slice(0, maxSchemas)) if (isObject(item)) say(textOf(item.name), item);
  }
  const schemas: unknown[] = [declared.inputSchema];
  for (let at = 0; at < schemas.length && at < maxSchemas && length < maxCharacters; at += 1) {
    const schema = schemas[at];
    if (!isObject(schema)) continue;
    for (const [name, about] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
      if (length >= maxCharacters) break;
      say(name, isObject(about) ? about : {});
      schemas.push(about);
    }
    schemas.push(schema.items);
  }
  return said.join(" ");
}

function distinct(terms: readonly string[]): string[] {
  return [...new Set(terms)];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
