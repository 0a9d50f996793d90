import type { z } from "zod";
import { type Issue, pointer } from "./issue.ts";

/** Validates a value against a schema; returns at most 100 issues, with paths below `path`. */
export function zodIssues(schema: z.ZodType, value: unknown, path: string): Issue[] {
  const parsed = schema.safeParse(value);
  if (parsed.success) return [];
  return parsed.error.issues.slice(0, 100).map((issue) => ({
    path: issue.path.reduce<string>((at, segment) => pointer(at, String(segment)), path),
    rule: issue.code,
    message: issue.message,
  }));
}
