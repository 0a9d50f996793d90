import { z } from "zod";
import { isObject } from "../kernel/json.ts";

/**
 * A schema of an object that accepts other spellings of its members: `{task: ["q"]}`. They are not described, and an
 * object with two spellings of one member is refused.
 */
export function withOtherSpellings<Schema extends z.ZodType>(
  schema: Schema,
  others: Readonly<Record<string, readonly string[]>>,
): z.ZodPreprocess<Schema> {
  const members = new Map(
    Object.entries(others).flatMap(([name, spellings]) => spellings.map((one) => [one, name] as const)),
  );
  return z.preprocess((value, context) => {
    if (!isObject(value) || !Object.keys(value).some((key) => members.has(key))) return value;
    const renamed: Record<string, unknown> = {};
    for (const [key, member] of Object.entries(value)) {
      const name = members.get(key) ?? key;
      if (Object.hasOwn(renamed, name)) {
        const message = `is the same as ${name}, which is given as well: send one`;
        context.addIssue({ code: "custom", path: [key === name ? spellingIn(value, others[name]) : key], message });
      }
      renamed[name] = member;
    }
    return renamed;
  }, schema);
}

function spellingIn(value: Record<string, unknown>, spellings: readonly string[] = []): string {
  return spellings.find((one) => Object.hasOwn(value, one)) ?? "";
}
