import { isObject, type JsonObject } from "../../kernel/json.ts";
import type { Shift } from "./keywords.ts";
import type { References } from "./local-refs.ts";
import type { ReasonCollector } from "./reasons.ts";
import type { Values } from "./value-ids.ts";

/** Callers send inputs and read outputs, so a change that is safe on one side is breaking on the other. */
export type Side = "input" | "output";

export interface SchemaComparison {
  before: unknown;
  after: unknown;
  /** Path of the schema in its capability. */
  path: string;
  side: Side;
  /** True if every old call contained a value for the whole schema. */
  wasRequired?: boolean;
  values: Values;
  ledger: ReasonCollector;
  budget: Budget;
}

/** Comparison steps left, shared by all comparisons that use this budget. */
export interface Budget {
  steps: number;
}

/** Two schemas to compare. `path` is the location of the second schema. */
export interface Pair {
  before: JsonObject;
  after: JsonObject;
  path: string;
  /** The property was required, so no old call relied on its default. */
  wasRequired: boolean;
}

/** State of one schema comparison. */
export interface Walk extends SchemaComparison {
  references: References;
  pending: Pair[];
  seen: Map<JsonObject, Set<JsonObject>>;
  withoutAnnotations: Map<JsonObject, JsonObject>;
  /** True if a reference was found that is not followed: it may use a definition that was not compared. */
  hasUnresolvedRef: boolean;
  changedDefinitions: string[];
}

const anything: JsonObject = {};

/** Queues two schemas for comparison. Booleans are schemas too, and an absent schema accepts anything. */
export function compareLater(walk: Walk, before: unknown, after: unknown, path: string, wasRequired = false): void {
  if (before === false || after === false) {
    if (before !== false) walk.ledger.breaking(path, "accepts nothing any more");
    else if (after !== false) report(walk, "widened", path, "accepts values where there were none");
    return;
  }
  const [was, is] = [before, after].map((schema) => (schema === undefined || schema === true ? anything : schema));
  if (isObject(was) && isObject(is)) walk.pending.push({ before: was, after: is, path, wasRequired });
  else if (!walk.values.same(was, is)) walk.ledger.breaking(path, "is not a schema that can be compared");
}

/** Narrowing breaks callers that send inputs; widening breaks callers that read outputs. */
export function report(walk: Walk, shift: Shift, path: string, message: string): void {
  if (shift === "same") return;
  const harmless = walk.side === "input" ? "widened" : "narrowed";
  if (shift === harmless) walk.ledger.additive(path, message);
  else walk.ledger.breaking(path, message);
}
