import { isObject } from "../kernel/json.ts";
import { packTermWeights, type TermWeights } from "./term-weights.ts";
import { maxCharacters, termsOf } from "./terms.ts";

/** What a server lends its items: searching for it finds them. */
export interface ServerWords {
  name: string;
  title?: string;
}

/** A hit in the name counts most; in the server's words, which all its items share, least. */
const fieldWeights = { name: 4, title: 2, description: 1, parameters: 0.5, server: 0.5 } as const;
type Field = keyof typeof fieldWeights;

/** Terms of the parameters count half towards the length: many of them do not make an item say less. */
const parameterLength = 0.5;

/** What an item is found by, as the index keeps it. */
export function itemTermWeights(
  item: { key: string; declared: Record<string, unknown> },
  server: ServerWords,
): ArrayBuffer {
  const fields = fieldTerms(item, server);
  const weights = new Map<string, number>();
  let length = 0;
  for (const [field, terms] of Object.entries(fields) as [Field, string[]][]) {
    for (const term of terms) weights.set(term, (weights.get(term) ?? 0) + fieldWeights[field]);
    length += terms.length * (field === "parameters" ? parameterLength : 1);
  }
  return packTermWeights(weights, length, fields.name.length);
}

/** The terms as the full-text index takes them; those of the name a second time, told apart. */
export function tokensOf({ hashes, names }: TermWeights): string[] {
  return [...Array.from(hashes, tokenOf), ...Array.from(hashes.subarray(0, names), nameTokenOf)];
}

/**
 * A term as a token of the full-text index: its hash, as in the bag and in the table of meanings. So no tokenizer comes
 * between what was published and what is asked, in any script, and nothing that anyone writes is ever syntax.
 */
export function tokenOf(hash: number): string {
  return hash.toString(36);
}

/** The token of a term where it is in the name. */
export function nameTokenOf(hash: number): string {
  return `${tokenOf(hash)}_`;
}

/** The terms of a declared item by where they stand. */
export function fieldTerms(
  { key, declared }: { key: string; declared: Record<string, unknown> },
  server: ServerWords,
): Record<Field, string[]> {
  const annotations = isObject(declared.annotations) ? declared.annotations : {};
  // A resource is keyed by its URI and named apart from it.
  const name = declared.name === key ? key : `${key} ${textOf(declared.name)}`;
  return {
    name: distinct(termsOf(name)),
    title: termsOf(`${textOf(declared.title)} ${textOf(annotations.title)}`),
    description: termsOf(textOf(declared.description)),
    parameters: termsOf(parameterText(declared)),
    server: distinct(termsOf(`${server.name} ${server.title ?? ""}`)),
  };
}

/** Schemas looked into: enough for any real tool, and a bound for the others. */
const maxSchemas = 100;

/** Names of what an item takes with what is said of each; the outermost first. */
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
