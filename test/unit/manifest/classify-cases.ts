import { expect } from "vitest";
import { type Classified, classifyCapability } from "../../../src/manifest/classify/classify.ts";

export type Json = Record<string, unknown>;
export type Case = [behaviour: string, before: unknown, after: unknown, expected: Classified["classification"]];

export const tool = (fields: Json): Json => ({ name: "find", ...fields });
export const withInput = (schema: unknown) => tool({ inputSchema: schema });
export const withOutput = (schema: unknown) => tool({ outputSchema: schema });
/** A tool with one optional property of that schema. */
export const taking = (schema: unknown) => withInput({ type: "object", properties: { a: schema } });
export const returning = (schema: unknown) => withOutput({ type: "object", properties: { a: schema } });

export function expectClass(before: Json, after: Json, expected: string): void {
  const verdict = classifyCapability(before, after);
  expect(verdict, JSON.stringify(verdict.reasons)).toMatchObject({ classification: expected });
  expect(verdict.reasons.length).toBeGreaterThan(0);
}

export const object = (properties: Json, required: string[] = []) => ({ type: "object", properties, required });
