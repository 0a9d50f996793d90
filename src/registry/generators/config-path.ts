import { isObject } from "../../kernel/json.ts";
/**
 * The values at a path in a posted config. Generators declare paths such as `generation.patterns[0].template`, or
 * `elements[].example` for any element of a list.
 */
export function valuesAt(config: unknown, path: string): unknown[] {
  let found: unknown[] = [config];
  for (const step of stepsOf(path)) {
    found = found.flatMap((value) => follow(value, step));
    if (found.length === 0) return [];
  }
  return found;
}

/** True if the path has a usable value: not null, not an empty string, not an empty list. */
export function isPresent(config: unknown, path: string): boolean {
  return valuesAt(config, path).some(
    (value) => value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0),
  );
}

/** Elements of a list that `[]` visits. Bounded, because the caller chooses the config and the publisher the paths. */
const maxElements = 1_000;

type Step = { key: string } | { index: number } | "any";

function stepsOf(path: string): Step[] {
  return Array.from(path.matchAll(/([^.[\]]+)|\[(\d*)\]/g), ([, key, index]): Step => {
    if (key !== undefined) return { key };
    return index === undefined || index === "" ? "any" : { index: Number(index) };
  });
}

function follow(value: unknown, step: Step): unknown[] {
  if (step === "any") return Array.isArray(value) ? value.slice(0, maxElements) : [];
  if ("index" in step) return Array.isArray(value) && step.index < value.length ? [value[step.index]] : [];
  return isObject(value) && Object.hasOwn(value, step.key) ? [value[step.key]] : [];
}
