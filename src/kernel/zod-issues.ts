import type { z } from "zod";
import { type Issue, pointer } from "./issue.ts";
import { nearest } from "./nearest.ts";
import { err, ok, type Result } from "./result.ts";

/** Issues reported of one document. */
const maxIssues = 100;

/** Validates a value against a schema; returns at most 100 issues, with paths below `path`. */
export function zodIssues(schema: z.ZodType, value: unknown, path: string): Issue[] {
  const parsed = parseWith(schema, value, path);
  return parsed.ok ? [] : parsed.error;
}

/** The value as the schema's type, or at most 100 issues with paths below `path`. */
export function parseWith<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  path: string,
): Result<z.output<Schema>, Issue[]> {
  const parsed = schema.safeParse(value, { error: issueMessage });
  if (parsed.success) return ok(parsed.data);
  return err(
    parsed.error.issues.slice(0, maxIssues).map((issue) => ({
      path: issue.path.reduce<string>((at, segment) => pointer(at, String(segment)), path),
      rule: issue.code,
      message: issue.message,
    })),
  );
}

type RawIssue = z.core.$ZodRawIssue;

/**
 * What is wrong with a value, worded to follow its path: "/tools/0/name is missing (a string)". Messages that a schema
 * gives itself are kept. undefined leaves the wording to zod.
 */
export function issueMessage(issue: RawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return wanted(noun(issue.expected), issue.input);
    case "invalid_value":
      return wanted(oneOf(issue.values), issue.input);
    case "invalid_union":
      return issue.input === undefined ? "is missing" : undefined;
    case "unrecognized_keys":
      return unknownKeys(issue.keys, knownKeys(issue.inst));
    case "too_small":
      return `must ${sized(issue.origin, "at least", Number(issue.minimum))}`;
    case "too_big":
      return `must ${sized(issue.origin, "at most", Number(issue.maximum))}`;
    default:
      return undefined;
  }
}

/** Never quotes the value: it may be a secret in the wrong place. */
function wanted(kind: string, input: unknown): string {
  return input === undefined ? `is missing (${kind})` : `must be ${kind}`;
}

const nouns: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

function noun(expected: string): string {
  return nouns[expected] ?? expected;
}

function oneOf(values: readonly unknown[]): string {
  const texts = values.map((value) => (typeof value === "string" ? value : JSON.stringify(value)));
  return texts.length === 1 ? `${texts[0]}` : `one of ${texts.join(", ")}`;
}

function sized(origin: string, bound: string, size: number): string {
  if (origin === "string") return `have ${bound} ${size} ${size === 1 ? "character" : "characters"}`;
  if (origin === "array" || origin === "set") return `have ${bound} ${size} ${size === 1 ? "item" : "items"}`;
  return `be ${bound} ${size}`;
}

function unknownKeys(keys: readonly string[], known: readonly string[]): string {
  const names = keys.map((key) => JSON.stringify(key)).join(", ");
  const meant = keys.length === 1 ? nearest(keys[0] ?? "", known) : undefined;
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
  return `Unrecognized key${keys.length === 1 ? "" : "s"}: ${names}${hint}`;
}

function knownKeys(schema: unknown): string[] {
  const { shape } = (schema as { _zod?: { def?: { shape?: object } } } | undefined)?._zod?.def ?? {};
  return shape === undefined ? [] : Object.keys(shape);
}
