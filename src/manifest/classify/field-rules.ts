import { pointer } from "../../kernel/issue.ts";
import { isObject, type JsonObject, ownMember } from "../../kernel/json.ts";
import { compareSchemas } from "./compare-schema.ts";
import { fromTo } from "./keywords.ts";
import type { ReasonCollector } from "./reasons.ts";
import { memberNames, type Values } from "./value-ids.ts";
import type { Budget, Side } from "./walk.ts";

/** A field that differs between two versions. An absent value is undefined. */
export interface Field {
  before: unknown;
  after: unknown;
  path: string;
  values: Values;
  ledger: ReasonCollector;
  budget: Budget;
}

export type FieldRule = (field: Field) => void;

/** Applies to each differing member the rule for its name, or else `otherwise`. */
export function members(rules: Readonly<Record<string, FieldRule>>, otherwise: FieldRule = unknown): FieldRule {
  return (field) => {
    const [before, after] = [field.before ?? {}, field.after ?? {}];
    if (!isObject(before) || !isObject(after)) {
      unknown(field);
      return;
    }
    for (const name of memberNames(before, after)) {
      const [was, is] = [ownMember(before, name), ownMember(after, name)];
      if (field.values.same(was, is)) continue;
      const rule = Object.hasOwn(rules, name) ? (rules[name] ?? otherwise) : otherwise;
      rule({ ...field, before: was, after: is, path: pointer(field.path, name) });
    }
  };
}

/** For fields whose use by readers is unknown: only an addition is safe. */
export const unknown: FieldRule = ({ before, after, path, ledger: reasons }) => {
  if (before === undefined) reasons.additive(path, "was added");
  else reasons.breaking(path, after === undefined ? "was removed" : `changed ${fromTo(before, after)}`);
};

export const cosmeticRule: FieldRule = ({ path, ledger: reasons }) => reasons.cosmetic(path, "changed");

export const breakingRule: FieldRule = ({ path, ledger: reasons }) => reasons.breaking(path, "changed");

/** Requirements on callers, as lists read as sets or as maps of such lists. An added requirement is breaking. */
export const requirementRule: FieldRule = (field) => {
  const { before, after, path, ledger: reasons } = field;
  if (isListOrAbsent(before) && isListOrAbsent(after)) {
    for (const entry of missing(after, before, field.values)) reasons.breaking(path, `${entry} was added`);
    for (const entry of missing(before, after, field.values)) reasons.additive(path, `${entry} was removed`);
  } else if (isObject(before ?? after) && isObject(after ?? before)) {
    members({}, requirementRule)(field);
  } else if (after === undefined) {
    reasons.additive(path, "was removed");
  } else {
    reasons.breaking(path, before === undefined ? "was added" : "changed");
  }
};

/** Offers to callers, as a list read as a set. A removed offer is breaking. */
export const offerRule: FieldRule = (field) => {
  const { before, after, path, ledger: reasons } = field;
  if (!isListOrAbsent(before) || !isListOrAbsent(after)) {
    unknown(field);
    return;
  }
  for (const entry of missing(after, before, field.values)) reasons.additive(path, `${entry} was added`);
  for (const entry of missing(before, after, field.values)) reasons.breaking(path, `${entry} was removed`);
};

function isListOrAbsent(value: unknown): value is unknown[] | undefined {
  return value === undefined || Array.isArray(value);
}

/** The entries of `list` that `other` lacks, as text for messages. */
function missing(list: unknown[] | undefined, other: unknown[] | undefined, values: Values): string[] {
  const known = new Set(other?.map(values.id));
  return (list ?? []).filter((entry) => !known.has(values.id(entry))).map(named);
}

function named(entry: unknown): string {
  return typeof entry === "string" && entry.length <= 100 ? JSON.stringify(entry) : "an entry";
}

/** A safety hint: `safe` is the value that promises more, `absent` the protocol's default. */
export function safetyHintRule(safe: boolean, absent: boolean): FieldRule {
  return (field) => {
    const { before, after, path, ledger: reasons } = field;
    const [was, is] = [before ?? absent, after ?? absent];
    if (typeof was !== "boolean" || typeof is !== "boolean") unknown(field);
    else if (was === safe && is !== safe) reasons.breaking(path, `promises less: changed ${fromTo(before, after)}`);
    else reasons.additive(path, `changed ${fromTo(before, after)}`);
  };
}

/** A boolean promise, false if absent. Withdrawing the promise is breaking. */
export const promiseRule: FieldRule = safetyHintRule(true, false);

export function schema(side: Side): FieldRule {
  return (field) => {
    if (side === "output" && field.before === undefined)
      field.ledger.additive(field.path, "the output is now described");
    else if (side === "output" && field.after === undefined) field.ledger.breaking(field.path, "was removed");
    else compareSchemas({ ...field, before: field.before ?? noInput, after: field.after ?? noInput, side });
  };
}

/** Input schema if none is declared: the arguments of a call are always an object. */
const noInput: JsonObject = { type: "object" };

/** Prompt arguments and template parameters: a list of named inputs whose order does not matter. */
export const inputs: FieldRule = (field) => {
  const [before, after] = [byName(field.before), byName(field.after)];
  if (before === undefined || after === undefined) {
    breakingRule(field);
    return;
  }
  for (const [name, { input, index }] of after) {
    const path = pointer(field.path, index);
    const old = before.get(name)?.input;
    const [wasRequired, isRequired] = [old?.required === true, input.required === true];
    if (old === undefined && isRequired) field.ledger.breaking(path, `${name} is new and required`);
    else if (old === undefined) field.ledger.additive(path, `${name} is new`);
    else if (isRequired && !wasRequired) field.ledger.breaking(path, `${name} became required`);
    else if (wasRequired && !isRequired) field.ledger.additive(path, `${name} became optional`);
    if (old !== undefined) {
      const [was, is] = [described(old), described(input)];
      compareSchemas({ ...field, before: was, after: is, path, side: "input", wasRequired });
    }
  }
  for (const name of before.keys()) {
    if (!after.has(name)) field.ledger.breaking(field.path, `${name} was removed`);
  }
};

/** undefined if the list cannot be indexed by name, for example because two inputs have the same name. */
function byName(list: unknown): Map<string, { input: JsonObject; index: number }> | undefined {
  const found = new Map<string, { input: JsonObject; index: number }>();
  if (!Array.isArray(list)) return list === undefined ? found : undefined;
  for (const [index, input] of list.entries()) {
    if (!isObject(input) || typeof input.name !== "string" || found.has(input.name)) return undefined;
    found.set(input.name, { input, index });
  }
  return found;
}

function described({ name: _, required: __, ...input }: JsonObject): JsonObject {
  return input;
}
