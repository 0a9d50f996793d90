import { isObject } from "../../kernel/json.ts";
import { child, fail, follow, members, type OpenApiDocument, type Place } from "./document.ts";

export interface OperationPlace {
  /** Upper case for standard methods; as written for `additionalOperations`. */
  method: string;
  path: string;
  operation: Place;
  pathItem: Place;
}

const httpMethods = ["get", "put", "post", "delete", "options", "head", "patch"];

function methodsOf({ version }: OpenApiDocument): string[] {
  if (version === "2.0") return httpMethods;
  return version === "3.2" ? [...httpMethods, "trace", "query"] : [...httpMethods, "trace"];
}

/** Every operation of the document, in the order of its paths. */
export function* operations(source: OpenApiDocument, paths: Place): Generator<OperationPlace> {
  const methods = methodsOf(source);
  for (const [path, start] of members(source, paths)) {
    const pathItem = withReference(source, start, "a path holds an object of operations");
    if (pathItem === undefined) return;
    const standard = methods.map((method): [string, Place] => [method.toUpperCase(), child(pathItem, method)]);
    const additional = source.version === "3.2" ? members(source, child(pathItem, "additionalOperations")) : [];
    for (const [method, written] of [...standard, ...additional]) {
      if (written.value === undefined) continue;
      const operation = withReference(source, written, "an operation is an object");
      if (operation === undefined) return;
      yield { method, path, operation, pathItem };
    }
  }
}

/** Resolves the `$ref` of a path item or an operation, whose own fields override the target's. */
function withReference(source: OpenApiDocument, start: Place, expected: string): Place | undefined {
  const target = follow(source, start);
  if (target === undefined) return undefined;
  if (!isObject(target.value) || !isObject(start.value)) {
    fail(source, expected, start);
    return undefined;
  }
  if (target.value === start.value) return start;
  const { $ref: _, ...own } = start.value;
  source.steps += Object.keys(target.value).length;
  return { ...target, value: { ...target.value, ...own } };
}

/** Number of webhooks. Webhooks are requests that the server sends, so they are not imported. */
export function countWebhooks(source: OpenApiDocument): number {
  return members(source, child(source.top, "webhooks")).length;
}

export function countCallbacks(source: OpenApiDocument, operation: Place): number {
  return members(source, child(operation, "callbacks")).length;
}
