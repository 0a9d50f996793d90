import type { z } from "zod";
import { nearest } from "../kernel/nearest.ts";
import { issueMessage } from "../kernel/zod-issues.ts";
import { requestError } from "./context.ts";
import type { Operation, Shape } from "./operation.ts";
import { traits } from "./parameters.ts";

/** Reads one parameter from its texts: all values of that name, or undefined if there is none. */
export type ReadParameter = (texts: readonly string[] | undefined) => unknown;

/** What is known of a parameter without its wrappers. */
export interface Inner {
  schema: z.ZodType;
  optional: boolean;
  fallback?: unknown;
}

interface Definition {
  type: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
  element?: z.ZodType;
  defaultValue?: unknown;
  checks?: readonly { _zod: { def: { check: string; value?: number; maximum?: number } } }[];
  entries?: Readonly<Record<string, string>>;
}

function definitionOf(schema: z.ZodType): Definition {
  return schema._zod.def as unknown as Definition;
}

/** Below `optional` and `default`. */
export function innerOf(schema: z.ZodType): Inner {
  const { type, innerType, defaultValue } = definitionOf(schema);
  if (innerType === undefined) return { schema, optional: false };
  const inner = innerOf(innerType);
  return type === "default" ? { ...inner, fallback: defaultValue } : { ...inner, optional: true };
}

/**
 * Decides once how the texts of a parameter become its value: whole numbers, booleans and lists are such in the schema,
 * in OpenAPI and in the handler. zod's own coercion would take `1e1` for a number.
 */
export function parameterReader(name: string, declared: z.ZodType): ReadParameter {
  const { schema, optional, fallback } = innerOf(declared);
  const { type, element } = definitionOf(schema);
  const isList = type === "array" && element !== undefined;
  const one = textReader(name, isList ? element : schema);
  const most = isList ? (boundOf(schema, "max_length") ?? Number.POSITIVE_INFINITY) : 1;
  const { missing, commas, lenient, hidden: isRefused } = traits.get(schema) ?? {};
  // It has a failure of its own for a text that is empty, so for one that is absent too.
  const hasReader = traits.get(schema)?.read !== undefined;
  return (texts) => {
    const isEmpty = lenient ? texts?.[0] === "" : missing !== undefined && texts?.[0]?.trim() === "";
    if (texts === undefined || isEmpty) {
      if (optional || fallback !== undefined) return fallback;
      if (hasReader) return one("");
      throw requestError("ErrorBadRequest", `${name} is missing${missing === undefined ? "" : `: ${missing}`}`);
    }
    // What is refused says so, however often it was sent.
    if (texts.length > most && !lenient && !isRefused) {
      const bound = most === 1 ? "given once" : `repeated ${most} times at most`;
      throw requestError("ErrorBadRequest", `${name} may be ${bound}, not ${texts.length} times`);
    }
    if (!isList) return one(texts[0] ?? "");
    return (commas ? texts.flatMap((text) => text.split(",")) : texts).map(one);
  };
}

function textReader(name: string, schema: z.ZodType): (text: string) => unknown {
  const own = traits.get(schema)?.read;
  if (own !== undefined) return (text) => own(text, name);
  const { type, entries, checks } = definitionOf(schema);
  const refuse = (message: string): never => {
    throw requestError("ErrorBadRequest", `${name} ${message}`);
  };
  switch (type) {
    case "boolean":
      return (text) =>
        text === "true" || text === "" ? true : text === "false" ? false : refuse("must be true or false");
    case "number": {
      const [min, max] = [boundOf(schema, "greater_than") ?? 0, boundOf(schema, "less_than") ?? 1e15];
      return (text) => {
        const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
        return number >= min && number <= max ? number : refuse(`must be a whole number from ${min} to ${max}`);
      };
    }
    case "enum": {
      const values = Object.values(entries ?? {});
      return (text) => (values.includes(text) ? text : refuse(`must be one of ${values.join(", ")}`));
    }
    case "string":
      if (checks === undefined || checks.length === 0) return (text) => text;
  }
  return (text) => {
    const parsed = schema.safeParse(text, { error: issueMessage });
    return parsed.success ? parsed.data : refuse(parsed.error.issues[0]?.message ?? "is not valid");
  };
}

function boundOf(schema: z.ZodType, check: string): number | undefined {
  const found = definitionOf(schema).checks?.find(({ _zod: { def } }) => def.check === check)?._zod.def;
  return found?.value ?? found?.maximum;
}

/** Compiles the reader of an operation's query. */
export function queryReader({ parameters = {} }: Pick<Operation, "parameters">) {
  const { query = {}, aliases = {}, unknown } = parameters;
  const names = Object.keys(query);
  const readers = compile(query);
  const spellings = new Map<string, string>(names.map((name) => [name, name]));
  for (const [name, others] of Object.entries(aliases)) for (const other of others) spellings.set(other, name);
  return (given: URLSearchParams): Record<string, unknown> => {
    const texts: Record<string, string[]> = {};
    const spelled: Record<string, string> = {};
    for (const [spelling, text] of given) {
      const name = spellings.get(spelling);
      if (name === undefined) {
        if (unknown === "ignore") continue;
        throw unknownParameter(spelling, names);
      }
      const before = spelled[name];
      if (before !== undefined && before !== spelling)
        throw requestError("ErrorBadRequest", `${before} and ${spelling} are the same parameter: send one`);
      spelled[name] = spelling;
      texts[name] ??= [];
      texts[name].push(text);
    }
    return readAll(readers, (name) => texts[name]);
  };
}

function unknownParameter(name: string, known: readonly string[]) {
  const message = `Unknown query parameter ${JSON.stringify(name.slice(0, 100).toWellFormed())}; known: ${known.length === 0 ? "none" : known.join(", ")}`;
  const meant = nearest(name, known);
  return requestError("ErrorBadRequest", message, meant === undefined ? undefined : { hint: `Did you mean ${meant}?` });
}

type Readers = readonly (readonly [name: string, read: ReadParameter])[];

export function compile(shape: Shape): Readers {
  return Object.entries(shape).map(([name, schema]) => [name, parameterReader(name, schema)] as const);
}

/** Values of all parameters; `textsOf` gives the texts of one. */
export function readAll(
  readers: Readers,
  textsOf: (name: string) => readonly string[] | undefined,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, read] of readers) values[name] = read(textsOf(name));
  return values;
}
