import { z } from "zod";
import { named } from "../../http/named.ts";
import type { Generator } from "../../manifest/schema/capability.ts";
import { isPresent, valuesAt } from "./config-path.ts";

const Confidence = z.enum(["high", "medium", "low"]);
type Confidence = z.infer<typeof Confidence>;

/** The four selection rules, in order of priority. */
const SelectionRule = z.enum(["explicit-type", "template-syntax", "structure", "fallback"]);
type SelectionRule = z.infer<typeof SelectionRule>;

const Match = z.object({ type: z.string(), confidence: Confidence, rule: SelectionRule, reason: z.string() });
type Match = z.infer<typeof Match>;

export const Selection = named(
  "Selection",
  z
    .object({ ...Match.shape, candidates: z.array(Match).describe("The other matches, best first.") })
    .describe("The generator for a config, and why."),
);
export type Selection = z.infer<typeof Selection>;

const order: Record<SelectionRule, number> = { "explicit-type": 0, "template-syntax": 1, structure: 2, fallback: 3 };
const strength: Record<Confidence, number> = { high: 0, medium: 1, low: 2 };

/**
 * Selects a generator for a config: by the type it names, else by the syntax of its template, else by its structure,
 * else the fallback. All matches are returned, so that a caller sees how close the decision was.
 */
export function selectGenerator(config: unknown, generators: readonly Generator[], fallback: string): Selection {
  const sorted = [...generators].sort((a, b) => (a.type < b.type ? -1 : 1));
  const matches = [
    ...explicitType(config, sorted),
    ...templateSyntax(config, sorted),
    ...structure(config, sorted),
    { type: fallback, confidence: "low", rule: "fallback", reason: "nothing else matched" } satisfies Match,
  ].sort((a, b) => order[a.rule] - order[b.rule] || strength[a.confidence] - strength[b.confidence]);
  const [best, ...rest] = matches as [Match, ...Match[]];
  const seen = new Set([best.type]);
  const candidates = rest.filter(({ type }) => !seen.has(type) && seen.add(type));
  return { ...best, candidates };
}

function explicitType(config: unknown, generators: readonly Generator[]): Match[] {
  const [named] = valuesAt(config, "generation.patterns[0].type");
  return generators
    .filter(({ type }) => type === named)
    .map(({ type }) => ({
      type,
      confidence: "high",
      rule: "explicit-type",
      reason: "generation.patterns[0].type names it",
    }));
}

function templateSyntax(config: unknown, generators: readonly Generator[]): Match[] {
  const [template] = valuesAt(config, "generation.patterns[0].template");
  if (typeof template !== "string") return [];
  return generators.flatMap(({ type, indicators }): Match[] => {
    const rule = syntaxRules.get(type) ?? declaredSyntax(indicators);
    const reason = rule?.(template);
    if (reason === undefined) return [];
    return [{ type, confidence: confidenceOf(indicators, "high"), rule: "template-syntax", reason }];
  });
}

type SyntaxRule = (template: string) => string | undefined;

/** `{%` means jinja2, whatever else the template has; `{{` without `{%` means template_fill. */
const syntaxRules = new Map<string, SyntaxRule>([
  ["jinja2", (template) => (template.includes("{%") ? "the template has {% blocks" : undefined)],
  [
    "template_fill",
    (template) => (template.includes("{{") && !template.includes("{%") ? "the template has {{ and no {%" : undefined),
  ],
]);

/** Other generators declare the patterns they require and the patterns that exclude them. */
function declaredSyntax(indicators: Generator["indicators"]): SyntaxRule | undefined {
  const patterns = strings(indicators, "templatePatterns", "template_patterns");
  if (patterns.length === 0) return undefined;
  const excludes = strings(indicators, "excludes");
  return (template) => {
    const excluded = excludes.some((pattern) => template.includes(pattern));
    const missing = patterns.some((pattern) => !template.includes(pattern));
    return excluded || missing ? undefined : `the template has ${patterns.join(" and ")}`;
  };
}

function structure(config: unknown, generators: readonly Generator[]): Match[] {
  return generators.flatMap(({ type, indicators }): Match[] => {
    const reason = structureReason(config, type, indicators);
    if (reason === undefined) return [];
    return [{ type, confidence: confidenceOf(indicators, "medium"), rule: "structure", reason }];
  });
}

function structureReason(config: unknown, type: string, indicators: Generator["indicators"]): string | undefined {
  if (type === "demonstration" && isPresent(config, "elements[].example_output"))
    return "an element has example_output";
  const fields = strings(indicators, "configField", "config_field", "configFields", "config_fields");
  // The type field and template fields are covered by the earlier rules.
  const structural = fields.filter((field) => field !== "generation.patterns[0].type" && !field.endsWith(".template"));
  if (structural.length > 0 && structural.every((field) => isPresent(config, field))) {
    const values = strings(indicators, "configValues", "config_values");
    const subfields = strings(indicators, "requiredSubfields", "required_subfields");
    const fits =
      (values.length === 0 ||
        structural.some((field) => valuesAt(config, field).some((value) => values.includes(wordOf(value))))) &&
      subfields.every((subfield) =>
        structural.some(
          (field) => isPresent(config, `${field}.${subfield}`) || isPresent(config, `${field}[].${subfield}`),
        ),
      );
    if (fits) return `the config has ${structural.join(" and ")}`;
  }
  const [metadataField] = strings(indicators, "metadataField", "metadata_field");
  const metadataValues = strings(indicators, "metadataValues", "metadata_values");
  if (metadataField !== undefined) {
    const values = valuesAt(config, metadataField).map(wordOf);
    if (values.some((value) => metadataValues.length === 0 || metadataValues.includes(value)))
      return `${metadataField} says so`;
  }
  return undefined;
}

/** A scalar as indicators spell it; any other value matches none. */
function wordOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

function confidenceOf(indicators: Generator["indicators"], fallback: Confidence): Confidence {
  const declared = indicators?.confidence;
  return declared === "high" || declared === "medium" || declared === "low" ? declared : fallback;
}

/** Indicators are spelled in camelCase or snake_case, as one string or a list. */
function strings(indicators: Generator["indicators"], ...keys: string[]): string[] {
  return keys.flatMap((key) => {
    const value = indicators?.[key];
    if (typeof value === "string") return [value];
    return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
  });
}
