import { expect } from "vitest";
import type { ImportFault } from "../../src/formats/imported.ts";
import { importOpenApi } from "../../src/formats/openapi/import-openapi.ts";
import { defaultBounds } from "../../src/kernel/bounds.ts";
import { withoutPauses } from "../../src/kernel/pace/pace.ts";
import { parseStrictJson } from "../../src/kernel/strict-json.ts";
import { readIntake } from "../../src/manifest/intake/intake.ts";
import { prepareManifest } from "../../src/manifest/prepare.ts";

export type Json = Record<string, unknown>;

export interface Operation extends Json {
  name: string;
  inputSchema: { properties: Json; required?: string[]; $defs?: Json };
  outputSchema?: Json;
  effects: string[];
  metadata: { openapi: Json; graphql: Json; discovery: Json };
}

/** What a publish asks of a manifest, and that its text is no more than a parser takes. */
export async function expectPublishable(manifest: Json): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(manifest));
  expect(bytes.byteLength).toBeLessThan(defaultBounds.manifestBytes);
  const strict = parseStrictJson(bytes, { maxDepth: defaultBounds.depth });
  expect(strict.ok && strict.value.issues).toEqual([]);
  const intake = readIntake({ value: manifest, issues: [] });
  if (!intake.ok) throw new Error(intake.error.message);
  const prepared = await prepareManifest(intake.value, {
    server: "pets",
    partial: false,
    bounds: defaultBounds,
    knownTokens: async () => new Map(),
    charactersBeforeLookup: 0,
    loadTokenizer: async () => (text) => text.length,
    pace: withoutPauses,
  });
  expect(prepared.ok ? [] : prepared.error).toEqual([]);
}

const maps = new Set(["properties", "patternProperties", "dependentSchemas", "$defs"]);
const schemas = new Set(["items", "additionalProperties", "allOf", "anyOf", "oneOf", "not", "contains"]);

/** References of an operation that lead nowhere inside their schema. */
export function dangling({ inputSchema, outputSchema }: Operation): string[] {
  return [inputSchema, outputSchema ?? {}].flatMap((schema: Json) => {
    const names = Object.keys((schema.$defs ?? {}) as Json);
    const defined = new Set(names.map((name) => `#/$defs/${name}`));
    return referencesIn(schema).filter((target) => !defined.has(target));
  });
}

function referencesIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap(referencesIn);
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === "$ref") return [String(value)];
    if (maps.has(keyword)) return Object.values((value ?? {}) as Json).flatMap(referencesIn);
    return schemas.has(keyword) ? referencesIn(value) : [];
  });
}

export const range = (length: number) => Array.from({ length }, (_, index) => index);

/** An object with one member per index. */
export function membersOf<T>(length: number, name: (index: number) => string, value: (index: number) => T) {
  return Object.fromEntries(range(length).map((index) => [name(index), value(index)]));
}

export function importedApi(document: unknown, sourceUrl?: string) {
  const result = importOpenApi(document, { server: "pets", ...(sourceUrl === undefined ? {} : { sourceUrl }) });
  if (!result.ok) throw new Error(JSON.stringify(result.error));
  const { manifest, counts, warnings } = result.value;
  return { manifest, counts, warnings, operations: manifest.operations as Operation[] };
}

export function refusedApi(document: unknown): ImportFault {
  const result = importOpenApi(document, { server: "pets" });
  if (result.ok) throw new Error("was accepted");
  return result.error;
}

/** The only operation of a document, with the warnings. */
export function only(document: Json, sourceUrl?: string): Operation & { warnings: string[] } {
  const { operations, warnings } = importedApi(document, sourceUrl);
  const [operation] = operations;
  if (operation === undefined || operations.length > 1) throw new Error(`${operations.length} operations`);
  return { ...operation, warnings };
}

const info = { title: "Pets", version: "1.2" };
export const v20 = (rest: Json): Json => ({ swagger: "2.0", info, ...rest });
export const v30 = (rest: Json): Json => ({ openapi: "3.0.3", info, ...rest });
export const v31 = (rest: Json): Json => ({ openapi: "3.1.0", info, ...rest });
export const v32 = (rest: Json): Json => ({ openapi: "3.2.0", info, ...rest });

export const at = (operation: unknown, method = "get") => ({ paths: { "/pets": { [method]: operation } } });
export const json = (schema: unknown) => ({ content: { "application/json": { schema } } });
export const answering = (schema: unknown) => at({ responses: { 200: json(schema) } });
/** Where the schema of `answering` stands. */
export const answer = "/paths/~1pets/get/responses/200/content/application~1json/schema";
export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
export const schemasOf = (all: Json) => ({ components: { schemas: all } });
