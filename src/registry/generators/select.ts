import { z } from "zod";
import { named } from "../../http/named.ts";
import { nearest } from "../../kernel/nearest.ts";
import type { Generator } from "../../manifest/schema/capability.ts";
import { typesOf } from "../views/generators.ts";
import { isPresent, valuesAt } from "./config-path.ts";

const Confidence = z.enum(["high", "medium", "low"]);
type Confidence = z.infer<typeof Confidence>;

/** The four selection rules, in order of priority. */
const SelectionRule = z.enum(["explicit-type", "template-syntax", "structure", "fallback"]);
type SelectionRule = z.infer<typeof SelectionRule>;

const Match = z.object({
  type: z.string(),
  confidence: Confidence,
  rule: SelectionRule,
  reason: z.string(),
  deprecated: z.literal(true).optional().describe("Its publisher has deprecated the generator."),
});
type Match = z.infer<typeof Match>;

export const Selection = named(
  "Selection",
  z
    .object({
      ...Match.shape,
      type: z.string().nullable().describe("null if nothing matched and the server does not have the fallback."),
      notes: z
        .array(z.string())
        .describe("What to know before using it: a type that the server does not have, a deprecated generator."),
      candidates: z.array(Match).describe("The other matches, best first."),
    })
    .describe("The generator for a config, and why."),
);
export type Selection = z.infer<typeof Selection>;

const order: Record<SelectionRule, number> = { "explicit-type": 0, "template-syntax": 1, structure: 2, fallback: 3 };
const strength: Record<Confidence, number> = { high: 0, medium: 1, low: 2 };

const typeField = "generation.patterns[0].type";

/**
 * Selects a generator for a config: by the type it names, else by the syntax of its template, else by its structure,
 * else the fallback. A deprecated generator stands behind every other that matches, unless the config names it. All
 * matches are returned, so that a caller sees how close the decision was.
 */
export function selectGenerator(config: unknown, generators: readonly Generator[], fallback: string): Selection {
  const sorted = [...generators].sort((a, b) => (a.type < b.type ? -1 : 1));
  const deprecated = new Set(sorted.filter(({ status }) => status === "deprecated").map(({ type }) => type));
  const found = [...explicitType(config, sorted), ...templateSyntax(config, sorted), ...structure(config, sorted)];
  const matches = [...found, ...fallbackMatch(sorted, fallback, found.length === 0)].map((match) =>
    deprecated.has(match.type) ? { ...match, deprecated: true as const } : match,
  );
  matches.sort(
    (a, b) => tier(a) - tier(b) || order[a.rule] - order[b.rule] || strength[a.confidence] - strength[b.confidence],
  );
  const unknown = unknownType(config, sorted, found);
  const [best, ...rest] = matches;
  if (best === undefined) {
    const reason = `nothing matched, and the server does not have the fallback ${JSON.stringify(fallback)}`;
    const notes = [...unknown, `The server has ${typesOf(sorted)}; name one of these in ${typeField}`];
    return { type: null, confidence: "low", rule: "fallback", reason, notes, candidates: [] };
  }
  const seen = new Set([best.type]);
  const candidates = rest.filter(({ type }) => !seen.has(type) && seen.add(type));
  const notes = best.deprecated ? [...unknown, `${best.type} is deprecated`] : unknown;
  return { ...best, notes, candidates };
}

/** Named by the config, matching, matching but deprecated, fallback. */
function tier({ rule, deprecated }: Match): number {
  if (rule === "explicit-type") return 0;
  if (rule === "fallback") return 3;
  return deprecated ? 2 : 1;
}

function fallbackMatch(generators: readonly Generator[], fallback: string, isAlone: boolean): Match[] {
  if (!generators.some(({ type }) => type === fallback)) return [];
  const reason = isAlone ? "nothing else matched" : "the server's fallback for configs that nothing matches";
  return [{ type: fallback, confidence: "low", rule: "fallback", reason }];
}

/** A generator is named by its type, or by a value that it declares for the field of the type. */
function explicitType(config: unknown, generators: readonly Generator[]): Match[] {
  const [named] = valuesAt(config, typeField);
  if (typeof named !== "string") return [];
  return generators.flatMap(({ type, indicators }): Match[] => {
    const isDeclared =
      strings(indicators, ...fieldKeys).includes(typeField) && strings(indicators, ...valueKeys).includes(named);
    if (type !== named && !isDeclared) return [];
    const reason = type === named ? `${typeField} names it` : `${typeField} is one of its config_values`;
    // An own type comes before a value that another generator claims.
    const confidence = type === named ? "high" : "medium";
    return [{ type, confidence, rule: "explicit-type", reason }];
  });
}

/** The note about a type that the config names and no generator answers to. */
function unknownType(config: unknown, generators: readonly Generator[], found: readonly Match[]): string[] {
  const [named] = valuesAt(config, typeField);
  if (typeof named !== "string" || named === "" || found.some(({ rule }) => rule === "explicit-type")) return [];
  const meant = nearest(
    named.slice(0, 128),
    generators.map(({ type }) => type),
  );
  const wanted = JSON.stringify(named.slice(0, 128).toWellFormed());
  const hint = meant === undefined ? "" : `; was ${meant} meant?`;
  return [`${typeField} is ${wanted}, which the server does not have: it has ${typesOf(generators)}${hint}`];
}

function templateSyntax(config: unknown, generators: readonly Generator[]): Match[] {
  const [template] = valuesAt(config, "generation.patterns[0].template");
  if (typeof template !== "string") return [];
  const matches = generators.flatMap(({ type, indicators, status }) => {
    const { patterns, excludes } = syntaxOf(type, indicators);
    const pattern = patterns.find((candidate) => template.includes(candidate));
    if (pattern === undefined || excludes.some((excluded) => template.includes(excluded))) return [];
    // `{{` is the syntax of several generators; `{%` is what makes a template one of jinja2.
    return [{ type, indicators, status, pattern, isShared: type === "jinja2" && pattern === "{{" }];
  });
  const isContested = matches.some(({ isShared, status }) => !isShared && status !== "deprecated");
  return matches.map(({ type, indicators, pattern, isShared }): Match => {
    const behind = isShared && isContested;
    const confidence = behind ? "low" : confidenceOf(indicators, isShared ? "medium" : "high");
    const reason = behind ? "the template has {{, which it reads too" : `the template has ${pattern}`;
    return { type, confidence, rule: "template-syntax", reason };
  });
}

interface Syntax {
  /** Any one of them. */
  patterns: string[];
  /** None of them. */
  excludes: string[];
}

/** `{%` means jinja2, whatever else the template has; `{{` without `{%` means template_fill where the server has it. */
function syntaxOf(type: string, indicators: Generator["indicators"]): Syntax {
  // Every template contains the empty text, so it tells nothing.
  const patterns = strings(indicators, "templatePatterns", "template_patterns").filter((pattern) => pattern !== "");
  const excludes = strings(indicators, "excludes").filter((pattern) => pattern !== "");
  if (type === "jinja2") return { patterns: ["{%", ...(patterns.length === 0 ? ["{{"] : patterns)], excludes };
  if (type === "template_fill") return { patterns: ["{{", ...patterns], excludes: ["{%", ...excludes] };
  return { patterns, excludes };
}

function structure(config: unknown, generators: readonly Generator[]): Match[] {
  return generators.flatMap(({ type, indicators }): Match[] => {
    const reason = structureReason(config, type, indicators);
    if (reason === undefined) return [];
    return [{ type, confidence: confidenceOf(indicators, "medium"), rule: "structure", reason }];
  });
}

const fieldKeys = ["configField", "config_field", "configFields", "config_fields"];
const valueKeys = ["configValues", "config_values"];

function structureReason(config: unknown, type: string, indicators: Generator["indicators"]): string | undefined {
  if (type === "demonstration" && isPresent(config, "elements[].example_output"))
    return "an element has example_output";
  const fields = strings(indicators, ...fieldKeys);
  // The type field and template fields are covered by the earlier rules.
  const structural = fields.filter((field) => field !== typeField && !field.endsWith(".template"));
  if (structural.length > 0 && structural.every((field) => isPresent(config, field))) {
    const values = strings(indicators, ...valueKeys);
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
