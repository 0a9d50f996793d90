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
  return valuesAt(config, path).some(isUsable);
}

function isUsable(value: unknown): boolean {
  return value !== null && value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0);
}

/** Where a required path has no usable value. */
export interface MissingPaths {
  /** Concrete paths, such as `patterns[1].specification`; the path itself if the config has no such list. */
  paths: string[];
  /** True if a list is longer than what is looked at. */
  isPartial: boolean;
}

/**
 * Where the path lacks a usable value. `[]`, and a key below a list, ask it of every element; a list without elements
 * lacks it.
 */
export function missingAt(config: unknown, path: string): MissingPaths {
  const missing: MissingPaths = { paths: [], isPartial: false };
  requireAt(config, stepsOf(path), "", missing);
  return { ...missing, paths: missing.paths.map((found) => found.replace(/^\./, "")) };
}

function requireAt(value: unknown, steps: readonly Step[], at: string, missing: MissingPaths): void {
  const [step, ...rest] = steps;
  if (step === undefined) {
    if (!isUsable(value)) missing.paths.push(at);
    return;
  }
  if (Array.isArray(value) && value.length > 0 && (step === "any" || "key" in step)) {
    if (value.length > maxElements) missing.isPartial = true;
    const below = step === "any" ? rest : steps;
    for (const [index, element] of value.slice(0, maxElements).entries())
      requireAt(element, below, `${at}[${index}]`, missing);
    return;
  }
  const [found] = step === "any" ? [] : follow(value, step);
  if (found === undefined) missing.paths.push(at + steps.map(pathOf).join(""));
  else requireAt(found, rest, at + pathOf(step), missing);
}

function pathOf(step: Step): string {
  if (step === "any") return "[]";
  return "key" in step ? `.${step.key}` : `[${step.index}]`;
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
