import type { z } from "zod";
import { type FailureCode, failure } from "../domain/failure.ts";
import { characterIssues } from "../domain/scan.ts";
import { schemaViolations } from "../domain/schema-violations.ts";
import type { StrictJson } from "../domain/strict-json.ts";
import { RequestFailed } from "./context.ts";

/** The document as its schema's type, or every reason why not. */
export function validated<Schema extends z.ZodType>(
  schema: Schema,
  document: StrictJson,
  code: FailureCode = "ErrorMCPServerValidation",
): z.infer<Schema> {
  const [damage] = document.issues;
  if (damage !== undefined) {
    throw new RequestFailed(
      failure("ErrorInvalidBody", `${damage.path} ${damage.message}`, { issues: document.issues }),
    );
  }
  const issues = [...schemaViolations(schema, document.value, ""), ...characterIssues(document.value, "")];
  const [first] = issues;
  if (first !== undefined) {
    const message = `${failure(code).message}: ${first.path === "" ? "" : `${first.path} `}${first.message}`;
    throw new RequestFailed(failure(code, message, { issues: issues.slice(0, 100) }));
  }
  return schema.parse(document.value);
}
