import type { z } from "zod";
import { type Failure, failure } from "../domain/failure.ts";
import type { Issue } from "../domain/issue.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { schemaViolations } from "../domain/schema-violations.ts";

/** A name in the arguments can be as long as they are, and what is said about it must not be. */
const longestMessage = 300;

/** Arguments as a tool takes them, or every reason why not, with path and rule. None given is the same as none needed. */
export function readArguments<Input extends z.ZodObject>(
  tool: string,
  input: Input,
  value: unknown,
): Result<z.output<Input>, Failure> {
  const given = value === undefined ? {} : value;
  const parsed = input.safeParse(given);
  if (parsed.success) return ok(parsed.data);
  const known = Object.keys(input.shape).join(", ");
  const issues = schemaViolations(input, given, "").map(({ path, rule, message }): Issue => {
    const hint = rule === "unrecognized_keys" && path === "" ? `; known: ${known}` : "";
    return { path, rule, message: `${message.slice(0, longestMessage).toWellFormed()}${hint}` };
  });
  const [first] = issues;
  const where = first === undefined || first.path === "" ? "" : `${first.path} `;
  return err(failure("ErrorToolArguments", `Invalid arguments for ${tool}: ${where}${first?.message}`, { issues }));
}
