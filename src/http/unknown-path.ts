import { type Failure, failure } from "../kernel/failure.ts";
import { nearest } from "../kernel/nearest.ts";
import type { Operation } from "./operation.ts";

/** The failure of a path that no operation has, with the path that was probably meant. */
export function unknownPath(method: string, path: string, operations: readonly Operation[]): Failure {
  const segments = path.split("/");
  const known = new Map(operations.map((operation) => [filledIn(operation.path, segments), operation.path]));
  known.delete(path);
  const meant = known.get(nearest(path, [...known.keys()]) ?? "");
  const hint = "GET /openapi.json lists every path";
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return failure("ErrorNotFound", `No route matches ${method} ${shown}; see /openapi.json`, {
    hint: meant === undefined ? hint : `Did you mean ${meant}? ${hint}`,
  });
}

/** A path with the request's own segments as its parameters, so that only its fixed part is compared. */
function filledIn(path: string, segments: readonly string[]): string {
  return path
    .split("/")
    .map((segment, index) => (segment.startsWith("{") ? segments[index] || segment : segment))
    .join("/");
}
