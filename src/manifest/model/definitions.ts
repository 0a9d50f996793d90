import { definitionOf } from "../definition.ts";
import type { Flag, Shown } from "../flag.ts";
import type { CapabilityKind } from "../schema/capability.ts";
import type { CountTokens } from "../tokens.ts";
import { type NameRule, sendableNames } from "./names.ts";
import { anySchema, type SchemaRule, sendableSchema } from "./parameters.ts";

/**
 * Definitions in the form that the API of a model takes as its `tools`. What the registry knows of an item is never
 * inside a definition, where a model would read it and a publisher could imitate it, but beside it in `names`.
 */

export const definitionFormats = ["mcp", "openai", "openai-chat", "anthropic"] as const;
export type DefinitionFormat = (typeof definitionFormats)[number];

/** More tools than this make a model choose worse, and each is paid for in every request. */
export const maxDefinitions = 20;

/** A chosen item by its name. */
export interface ChosenName {
  tenant: string;
  server: string;
  kind: CapabilityKind;
  name: string;
}

/** A chosen item with all that is known of it. */
export interface DefinableItem extends ChosenName {
  id: string;
  digest: string;
  /** Cost of the definition as stored; absent if it must be counted anew. */
  tokens?: number;
  flags: readonly Shown<Flag>[];
  /** Why a choice leaves the item out. */
  obstacle?: { reason: "flagged" | "withdrawn"; message: string };
  declared: Record<string, unknown>;
}

/** What a sent name stands for. */
export interface SentItem extends ChosenName {
  id: string;
  digest: string;
  flags: Shown<Flag>[];
}

export interface LeftOutDefinition {
  tenant: string;
  server: string;
  name: string;
  reason: "kind" | "limit" | "flagged" | "withdrawn" | "schema" | "changed";
  message: string;
}

export interface ModelDefinitions {
  definitions: Record<string, unknown>[];
  /** Of all definitions together, as they are sent. */
  tokens: number;
  /** By the name that was sent. */
  names: Record<string, SentItem>;
  leftOut: LeftOutDefinition[];
}

interface Format {
  names: NameRule;
  schema: SchemaRule;
  wrap(name: string, description: unknown, schema: Record<string, unknown>): Record<string, unknown>;
}

const openaiRules = {
  names: { maxLength: 64, replaceOthers: true },
  schema: { notAtRoot: ["oneOf", "anyOf", "allOf", "enum", "const", "not"], needsProperties: true },
};

const formats: Record<DefinitionFormat, Format> = {
  mcp: {
    names: { maxLength: 128, replaceOthers: false },
    schema: anySchema,
    wrap: (name, description, inputSchema) => definitionOf("tool", { name, description, inputSchema }),
  },
  openai: {
    ...openaiRules,
    // Strict mode takes a subset of JSON Schema, which few publishers keep to.
    wrap: (name, description, parameters) => ({ type: "function", name, description, parameters, strict: false }),
  },
  "openai-chat": {
    ...openaiRules,
    wrap: (name, description, parameters) => ({ type: "function", function: { name, description, parameters } }),
  },
  anthropic: {
    names: { maxLength: 128, replaceOthers: true },
    schema: {
      notAtRoot: ["oneOf", "anyOf", "allOf"],
      needsProperties: false,
      propertyName: /^[A-Za-z0-9_.-]{1,64}$/,
    },
    wrap: (name, description, input_schema) => ({ name, description, input_schema }),
  },
};

/** Kinds that a model can call. */
export const callableKinds: readonly CapabilityKind[] = ["tool", "operation"];

/** Chosen items that are read: enough to find twenty that can be sent among them. */
export const maxCandidates = 100;

/** The chosen that a model can call, in order; only these need to be read. */
export function selectForModel<Item extends ChosenName>(
  chosen: readonly Item[],
): { selected: Item[]; leftOut: LeftOutDefinition[] } {
  const selected: Item[] = [];
  const leftOut: LeftOutDefinition[] = [];
  for (const item of chosen) {
    if (!callableKinds.includes(item.kind))
      leftOut.push(left(item, "kind", `A model calls tools and operations; this is a ${item.kind}`));
    else if (selected.length === maxCandidates)
      leftOut.push(left(item, "limit", `Only the first ${maxCandidates} were looked at; choose fewer`));
    else selected.push(item);
  }
  return { selected, leftOut };
}

/**
 * The definitions of selected items, in their order. What cannot be sent takes no place of the twenty. The tokenizer is
 * large, so it is loaded only if it is needed.
 */
export async function modelDefinitions(
  items: readonly DefinableItem[],
  format: DefinitionFormat,
  loadTokenizer: () => Promise<CountTokens>,
): Promise<ModelDefinitions> {
  const { names: nameRule, schema: schemaRule, wrap } = formats[format];
  const leftOut: LeftOutDefinition[] = [];
  const sent: { item: DefinableItem; schema: Record<string, unknown> }[] = [];
  for (const item of items) {
    const { obstacle } = item;
    const schema = sendableSchema(item.declared.inputSchema, schemaRule);
    if (obstacle !== undefined) leftOut.push(left(item, obstacle.reason, obstacle.message));
    else if (!schema.ok) leftOut.push(left(item, "schema", schema.error));
    else if (sent.length === maxDefinitions)
      leftOut.push(left(item, "limit", `${maxDefinitions} are in already; choose fewer`));
    else sent.push({ item, schema: schema.value });
  }
  const names = sendableNames(
    sent.map(({ item }) => item),
    nameRule,
  );
  const result: ModelDefinitions = { definitions: [], tokens: 0, names: {}, leftOut };
  for (const [index, { item, schema }] of sent.entries()) {
    const name = names[index] ?? item.name;
    const definition = wrap(name, item.declared.description, schema);
    const isAsStored = format === "mcp" && name === item.name && schema === item.declared.inputSchema;
    const known = isAsStored ? item.tokens : undefined;
    result.definitions.push(definition);
    result.tokens += known ?? (await loadTokenizer())(JSON.stringify(definition));
    result.names[name] = sentItem(item);
  }
  return result;
}

function sentItem({ tenant, server, kind, name, id, digest, flags }: DefinableItem): SentItem {
  return { tenant, server, kind, name, id, digest, flags: [...flags] };
}

/** An entry of `leftOut`; of those that are not left out here, the caller says why. */
export function left(
  { tenant, server, name }: ChosenName,
  reason: LeftOutDefinition["reason"],
  message: string,
): LeftOutDefinition {
  return { tenant, server, name, reason, message };
}
