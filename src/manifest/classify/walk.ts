import { isObject, type JsonObject } from "../../kernel/json.ts";
import type { Shift } from "./keywords.ts";
import type { References } from "./local-refs.ts";
import type { ReasonCollector } from "./reasons.ts";
import type { Values } from "./value-ids.ts";

/** Callers send what an input schema accepts and read what an output schema promises, so the same change reverses. */
export type Side = "input" | "output";

export interface SchemaComparison {
  before: unknown;
  after: unknown;
  /** Where the schema is in its capability. */
  path: string;
  side: Side;
  /** Whether every old call carried a value for the schema as a whole. */
  wasRequired?: boolean;
  values: Values;
  ledger: ReasonCollector;
  budget: Budget;
}

/** Steps left for one capability, over all of its schemas. */
export interface Budget {
  steps: number;
}

/** Two schemas to compare, and where the second one is. */
export interface Pair {
  before: JsonObject;
  after: JsonObject;
  path: string;
  /** No old call left this property out, so its default never took effect. */
  wasRequired: boolean;
}

/** One comparison under way. */
export interface Walk extends SchemaComparison {
  references: References;
  pending: Pair[];
  seen: Map<JsonObject, Set<JsonObject>>;
  withoutAnnotations: Map<JsonObject, JsonObject>;
  /** A reference was met that is not followed, so a definition may be in use without having been compared. */
  hasUnresolvedRef: boolean;
  changedDefinitions: string[];
}

const anything: JsonObject = {};

/** A boolean is a schema too, and an absent one accepts anything. */
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

/** What accepts less breaks those who send; what accepts more breaks those who read. */
export function report(walk: Walk, shift: Shift, path: string, message: string): void {
  if (shift === "same") return;
  const harmless = walk.side === "input" ? "widened" : "narrowed";
  if (shift === harmless) walk.ledger.additive(path, message);
  else walk.ledger.breaking(path, message);
}
