import { pointer } from "../../kernel/issue.ts";
import { isObject, type JsonObject, ownMember } from "../../kernel/json.ts";
import { compareLater, report, type Walk } from "./walk.ts";

/** Compares `properties` and `required` together, because neither has a meaning without the other. */
export function compareMembers(walk: Walk, before: JsonObject, after: JsonObject, path: string): void {
  const [was, is] = [propertiesOf(before), propertiesOf(after)];
  const [wasRequired, isRequired] = [requiredOf(before), requiredOf(after)];
  const at = pointer(path, "properties");
  if (was === undefined || is === undefined) {
    if (!walk.values.same(ownMember(before, "properties"), ownMember(after, "properties"))) {
      walk.ledger.breaking(at, "properties changed in a way that cannot be compared");
    }
  } else {
    for (const name of Object.keys(was)) {
      if (!Object.hasOwn(is, name)) walk.ledger.breaking(pointer(at, name), `${name} was removed`);
      else compareLater(walk, was[name], is[name], pointer(at, name), wasRequired?.has(name) ?? false);
    }
    for (const name of Object.keys(is).filter((name) => !Object.hasOwn(was, name))) {
      const isDemanded = walk.side === "input" && isRequired?.has(name) && !wasRequired?.has(name);
      if (isDemanded) walk.ledger.breaking(pointer(at, name), `${name} is new and required`);
      else walk.ledger.additive(pointer(at, name), `${name} is new`);
    }
  }
  if (wasRequired === undefined || isRequired === undefined) {
    if (walk.values.same(ownMember(before, "required"), ownMember(after, "required"))) return;
    walk.ledger.breaking(pointer(path, "required"), "required changed in a way that cannot be compared");
    return;
  }
  // Added and removed properties are already reported above.
  const stays = (name: string) => Object.hasOwn(was ?? {}, name) === Object.hasOwn(is ?? {}, name);
  for (const name of isRequired) {
    if (!wasRequired.has(name) && stays(name))
      report(walk, "narrowed", pointer(path, "required"), `${name} became required`);
  }
  for (const name of wasRequired) {
    if (!isRequired.has(name) && stays(name))
      report(walk, "widened", pointer(path, "required"), `${name} became optional`);
  }
}

function propertiesOf(schema: JsonObject): JsonObject | undefined {
  const properties = ownMember(schema, "properties") ?? {};
  return isObject(properties) ? properties : undefined;
}

function requiredOf(schema: JsonObject): Set<string> | undefined {
  const required = ownMember(schema, "required") ?? [];
  if (!Array.isArray(required) || !required.every((name) => typeof name === "string")) return undefined;
  return new Set(required);
}

/**
 * Compares whether further properties are allowed. In an output either change is additive: like a new property, it does
 * not affect readers of the named properties.
 */
export function compareOpenness(walk: Walk, was: unknown, is: unknown, path: string): void {
  if ((was === false) === (is === false)) {
    compareLater(walk, was, is, path);
  } else {
    const message = is === false ? "further properties are no longer accepted" : "further properties are now accepted";
    if (walk.side === "output") walk.ledger.additive(path, message);
    else report(walk, is === false ? "narrowed" : "widened", path, message);
  }
}

export function comparePatterns(walk: Walk, was: unknown, is: unknown, path: string, wasClosed: boolean): void {
  const [before, after] = [was ?? {}, is ?? {}];
  if (!isObject(before) || !isObject(after)) {
    if (!walk.values.same(before, after)) walk.ledger.breaking(path, "changed in a way that cannot be compared");
    return;
  }
  for (const pattern of Object.keys(before)) {
    const at = pointer(path, pattern);
    if (Object.hasOwn(after, pattern)) compareLater(walk, before[pattern], after[pattern], at);
    else walk.ledger.breaking(at, "properties of this pattern were removed");
  }
  for (const pattern of Object.keys(after).filter((pattern) => !Object.hasOwn(before, pattern))) {
    // If other names were allowed before, a new pattern restricts the values of matching names.
    const message = "properties of this pattern are new";
    if (wasClosed || walk.side === "output") walk.ledger.additive(pointer(path, pattern), message);
    else walk.ledger.breaking(pointer(path, pattern), message);
  }
}

/** Compares items by position. Older drafts have the array in `items`. */
export function compareTuple(walk: Walk, was: unknown, is: unknown, path: string): void {
  if (!Array.isArray(was) || !Array.isArray(is) || was.length !== is.length) {
    walk.ledger.breaking(path, "the number of positions changed");
    return;
  }
  was.forEach((before, index) => {
    compareLater(walk, before, is[index], pointer(path, index));
  });
}

/** Matches equal branches regardless of position, and the remaining branches in order. */
export function compareBranches(walk: Walk, was: unknown[], is: unknown[], path: string, areAllNeeded = false): void {
  walk.budget.steps -= was.length + is.length;
  const places = Map.groupBy(is.keys(), (index) => walk.values.id(is[index]));
  const unmatched: unknown[] = [];
  const taken = new Set<number>();
  for (const before of was) {
    const index = places.get(walk.values.id(before))?.shift();
    if (index === undefined) {
      unmatched.push(before);
    } else {
      taken.add(index);
      compareLater(walk, before, is[index], pointer(path, index));
    }
  }
  const open = [...is.keys()].filter((index) => !taken.has(index));
  unmatched.forEach((before, order) => {
    const index = open[order];
    if (index !== undefined) compareLater(walk, before, is[index], pointer(path, index));
    else if (areAllNeeded) walk.ledger.breaking(path, "a branch was removed");
    else report(walk, "narrowed", path, "a branch was removed");
  });
  for (const index of open.slice(unmatched.length)) {
    report(walk, areAllNeeded ? "narrowed" : "widened", pointer(path, index), "a branch was added");
  }
}
