import { isObject, type JsonObject, ownMember } from "../../kernel/json.ts";
import {
  breakingRule,
  cosmeticRule,
  type Field,
  type FieldRule,
  inputs,
  members,
  offerRule,
  promiseRule,
  requirementRule,
  safetyHintRule,
  schema,
  unknown,
} from "./field-rules.ts";
import { fromTo } from "./keywords.ts";
import { type Classification, type Classified, createReasonCollector, type Reason } from "./reasons.ts";
import { createValues } from "./value-ids.ts";
import type { Budget } from "./walk.ts";

export type { Budget, Classification, Classified, Reason };

/** Far above any real capability within the size limit. Comparing a longer list of tiny values would take too long. */
const limits = { nodes: 200_000, depth: 100 };

/** Real schemas at the size limit need a fraction of this; pairs of cyclic schemas can multiply without end. */
const maxSteps = 200_000;

/** Fields that only describe a capability or server. */
const text: Record<string, FieldRule> = {
  title: cosmeticRule,
  description: cosmeticRule,
  version: cosmeticRule,
  icons: cosmeticRule,
  _meta: cosmeticRule,
  createdAt: cosmeticRule,
  updatedAt: cosmeticRule,
  lastSynced: cosmeticRule,
};

const annotations = members({
  title: cosmeticRule,
  readOnlyHint: safetyHintRule(true, false),
  destructiveHint: safetyHintRule(false, true),
  idempotentHint: safetyHintRule(true, false),
  openWorldHint: safetyHintRule(false, true),
  priority: cosmeticRule,
  lastModified: cosmeticRule,
});

/** Provider details define the target of calls; provenance (`discovery`) only says where the entry was found. */
const metadata = members({ discovery: cosmeticRule }, (field) => {
  if (isObject(field.before ?? {}) && isObject(field.after ?? {})) members({}, breakingRule)(field);
  else breakingRule(field);
});

const upstreamDependencies = (field: Field) =>
  // null means that the generator has no dependencies.
  members({
    services: requirementRule,
    credentialsRequired: requirementRule,
    optionalServices: ({ path, ledger: reasons }) => reasons.additive(path, "changed"),
    expectedLatencyMs: cosmeticRule,
    stability: cosmeticRule,
    concurrencySafe: promiseRule,
  })({ ...field, before: field.before ?? undefined, after: field.after ?? undefined });

const capability = members({
  ...text,
  examples: cosmeticRule,
  commonErrors: cosmeticRule,
  performance: cosmeticRule,
  bestFor: cosmeticRule,
  docsUri: cosmeticRule,
  implementation: cosmeticRule,
  category: cosmeticRule,
  status: cosmeticRule,
  size: cosmeticRule,
  inputSchema: schema("input"),
  outputSchema: schema("output"),
  arguments: inputs,
  parameters: inputs,
  annotations,
  permissions: requirementRule,
  effects: requirementRule,
  metadata,
  patterns: offerRule,
  capabilities: offerRule,
  indicators: members({}),
  requirements: requirementRule,
  upstreamDependencies,
});

/** Classifies the change between two versions of one capability. Equal content gives no reasons. */
export function classifyCapability(before: JsonObject, after: JsonObject, budget = createBudget()): Classified {
  return classify(before, after, isKeyedByName(before) && isKeyedByName(after) ? capability : labelled, budget);
}

/** Tools, prompts and operations are keyed by name. Other kinds have another key, and their name is only a label. */
function isKeyedByName(item: JsonObject): boolean {
  return ["uri", "uriTemplate", "patterns", "type"].every((key) => ownMember(item, key) === undefined);
}

const labelled: FieldRule = (field) => {
  const [before, after] = [field.before as JsonObject, field.after as JsonObject];
  if (!field.values.same(ownMember(before, "name"), ownMember(after, "name")))
    field.ledger.cosmetic("/name", "changed");
  const [{ name: _, ...was }, { name: __, ...is }] = [before, after];
  capability({ ...field, before: was, after: is });
};

const limit: FieldRule = (field) => {
  const { before, after, path, ledger: reasons } = field;
  const [was, is] = [before ?? Number.POSITIVE_INFINITY, after ?? Number.POSITIVE_INFINITY];
  if (typeof was !== "number" || typeof is !== "number") unknown(field);
  else if (is < was) reasons.breaking(path, `was lowered ${fromTo(before, after)}`);
  else reasons.additive(path, `was raised ${fromTo(before, after)}`);
};

const header = members({
  ...text,
  instructions: cosmeticRule,
  serverInfo: cosmeticRule,
  websiteUrl: cosmeticRule,
  repository: cosmeticRule,
  runtime: cosmeticRule,
  actionTriggers: cosmeticRule,
  relationships: cosmeticRule,
  semantic: cosmeticRule,
  semantic_data: cosmeticRule,
  features: members({}, promiseRule),
  limits: members({}, limit),
  concurrencyLimits: members({}, limit),
  selectionStrategy: members({ explanation: cosmeticRule }),
  remotes: offerRule,
  packages: offerRule,
});

/** Cost limit for comparisons, shared by all changes of a publish. Changes beyond the limit count as breaking. */
export function createBudget(steps = maxSteps): Budget {
  return { steps };
}

/** Classifies the change of a manifest's fields other than its capabilities. */
export function classifyHeader(before: JsonObject, after: JsonObject): Classified {
  return classify(before, after, header, createBudget());
}

function classify(before: JsonObject, after: JsonObject, rule: FieldRule, budget: Budget): Classified {
  const [values, reasons] = [createValues(limits), createReasonCollector()];
  if (!values.same(before, after) && !values.isOverflowing()) {
    rule({ before, after, path: "", values, ledger: reasons, budget });
    if (reasons.isEmpty()) reasons.cosmetic("", "nothing changed that a caller can notice");
  }
  if (values.isOverflowing()) reasons.breaking("", "too complex to compare");
  return reasons.verdict();
}
