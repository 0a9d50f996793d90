import { type FailureCode, statusOf } from "../../kernel/failure.ts";
import type { Operation, Shape } from "../operation.ts";
import { traits } from "../parameters.ts";
import { innerOf } from "../read-parameters.ts";

/**
 * Every failure that an operation may answer with: what follows from its access, parameters and body, and what it
 * declares. Read by the OpenAPI document and by the tests, never while a request is served.
 */
export function declaredFailures(operation: Operation): FailureCode[] {
  const { access, parameters = {}, body, fails = [] } = operation;
  const found = new Set<FailureCode>(["ErrorBadRequest", "ErrorInternalServer", "ErrorUnavailable"]);
  const add = (codes: readonly FailureCode[] = []) => {
    for (const code of codes) found.add(code);
  };
  if (access.token !== "none") {
    add(["ErrorUnauthorized", "ErrorInsufficientScope", "ErrorTooManyRequests", "ErrorNotConfigured"]);
  }
  if (access.tenant !== undefined) add(["ErrorTenantPermissionError", ...access.tenant.fails]);
  if (operation.method !== "get" && access.token !== "none") add(["ErrorNewerData"]);
  add(access.fails);
  for (const shape of [parameters.path, parameters.query, parameters.headers]) add(parameterFailures(shape));
  if (body !== undefined) {
    add(["ErrorInvalidBody", "ErrorTooLarge", "ErrorUnsupportedMediaType"]);
    if (body.read !== "text" && body.read !== "bytes") add([body.invalid ?? "ErrorMCPServerValidation"]);
  }
  add(fails);
  return [...found];
}

function parameterFailures(shape: Shape = {}): FailureCode[] {
  return Object.values(shape).flatMap((schema) => {
    const { schema: inner } = innerOf(schema);
    const { element } = inner._zod.def as { element?: typeof inner };
    return [...(traits.get(inner)?.fails ?? []), ...((element && traits.get(element)?.fails) ?? [])];
  });
}

/** The failures by the status they answer with. */
export function failuresByStatus(operation: Operation): Map<number, FailureCode[]> {
  return Map.groupBy(declaredFailures(operation), statusOf);
}
