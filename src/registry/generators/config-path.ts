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

/** What one check of a config may cost, and what it has found so far. */
export interface PathCheck {
  /** Values that may still be looked at. One budget serves every path: they are the publisher's, the config the caller's. */
  left: number;
  /** Concrete paths without a usable value, as they are written below the config: `.patterns[1].specification`. */
  lacking: Set<string>;
}

/** Values that one check looks at. */
export const maxVisited = 10_000;

export const startCheck = (left = maxVisited): PathCheck => ({ left, lacking: new Set() });

/** Paths listed of what one requirement lacks: a list of the config may have many elements. */
export const maxListedPaths = 20;

/** Where a required path has no usable value. */
export interface MissingPaths {
  /** The first concrete paths, such as `patterns[1].specification`; the path itself if the config has no such list. */
  paths: string[];
  /** How many there are beyond those. */
  more: number;
  /** True if not everything was looked at: a list is too long, or the budget is spent. */
  isPartial: boolean;
}

/**
 * Where the path lacks a usable value. `[]`, and a key below a list, ask it of every element; a list without elements
 * lacks it. What is below a path that the check has found lacking already is not a second problem.
 */
export function missingAt(config: unknown, path: string, check: PathCheck = startCheck()): MissingPaths {
  const missing: MissingPaths = { paths: [], more: 0, isPartial: false };
  requireAt(config, { steps: stepsOf(path), next: 0, at: "" }, check, missing);
  return missing;
}

interface Position {
  steps: readonly Step[];
  next: number;
  /** The concrete path that led here. */
  at: string;
}

function requireAt(value: unknown, { steps, next, at }: Position, check: PathCheck, missing: MissingPaths): void {
  if (check.left === 0) {
    missing.isPartial = true;
    return;
  }
  check.left -= 1;
  if (check.lacking.has(at)) return;
  const step = steps[next];
  if (step === undefined) {
    if (isUsable(value)) return;
    check.lacking.add(at);
    if (missing.paths.length < maxListedPaths) missing.paths.push(at.replace(/^\./, ""));
    else missing.more += 1;
    return;
  }
  if (Array.isArray(value) && value.length > 0 && (step === "any" || "key" in step)) {
    if (value.length > maxElements) missing.isPartial = true;
    const below = step === "any" ? next + 1 : next;
    for (const [index, element] of value.slice(0, maxElements).entries()) {
      requireAt(element, { steps, next: below, at: `${at}[${index}]` }, check, missing);
      if (check.left === 0 && index + 1 < value.length) missing.isPartial = true;
      if (check.left === 0) return;
    }
    return;
  }
  // Where there is nothing the rest of the path is walked all the same: a part of it may be known to be lacking.
  const [found] = step === "any" ? [] : follow(value, step);
  requireAt(found, { steps, next: next + 1, at: at + pathOf(step) }, check, missing);
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
