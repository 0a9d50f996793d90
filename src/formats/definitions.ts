import { defaultBounds } from "../kernel/bounds.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { ImportFault } from "./imported.ts";
import type { Warnings } from "./text.ts";

/**
 * Every operation carries copies of the schemas it references as `$defs`. In a large API nearly every schema references
 * nearly every other, so full copies grow with the square of the document: definitions beyond the byte budget are
 * replaced by an open schema.
 */

export type Schema = Record<string, unknown> | boolean;

/** A schema that is referenced as `#/$defs/{name}`. */
export interface Definition {
  name: string;
  schema: Schema;
  /** Keys of the definitions that this schema references, without duplicates. */
  needs: readonly string[];
}

/** A converted schema and the keys of the definitions it references. */
export interface Converted {
  schema: Schema;
  needs: readonly string[];
}

/** An operation whose schemas do not contain their `$defs` yet. */
export interface Draft {
  operation: Record<string, unknown>;
  inputNeeds: readonly string[];
  outputNeeds: readonly string[];
}

/**
 * Byte budgets for the definitions of one operation, tried in order; the first that keeps the manifest within its size
 * limit is used.
 */
const definitionBudgets = [384, 192, 96, 48, 24, 12, 6, 3, 0].map((kibibytes) => kibibytes * 1_024);

/** Upper bound for the bytes of the key, brackets and commas around one part. */
const separatorBytes = 16;

const encoder = new TextEncoder();

function jsonBytes(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).byteLength;
}

/** Collects operations. Reports a fault once they exceed a manifest's limits, before definitions are copied. */
export function createDrafts(header: Record<string, unknown>) {
  const drafts: Draft[] = [];
  let total = jsonBytes(header) + separatorBytes;
  return {
    add(draft: Draft): ImportFault | undefined {
      if (drafts.length === defaultBounds.capabilities) {
        return { message: `there are more than ${defaultBounds.capabilities} operations` };
      }
      total += jsonBytes(draft.operation) + separatorBytes;
      drafts.push(draft);
      return total > defaultBounds.manifestBytes ? tooLarge : undefined;
    },

    finish(
      definitions: ReadonlyMap<string, Definition>,
      warnings: Warnings,
    ): Result<Record<string, unknown>[], ImportFault> {
      const sized = new Map<string, SizedDefinition>();
      for (const [key, definition] of definitions) sized.set(key, withSizes(definition));
      for (const room of definitionBudgets) {
        const filled = fill(drafts, defaultBounds.manifestBytes - total, room, sized);
        if (filled === undefined) continue;
        if (filled.cut > 0) {
          const limit = `more than ${room} bytes of definitions`;
          warnings.add(`${filled.cut} operations need ${limit}; what goes beyond is left as an open schema`);
        }
        return ok(filled.operations);
      }
      return err(tooLarge);
    },
  };
}

const tooLarge: ImportFault = { message: `the manifest would be larger than ${defaultBounds.manifestBytes} bytes` };

/** A definition, the outline that replaces it when the budget is exhausted, and the size of both. */
interface SizedDefinition extends Definition {
  bytes: number;
  outline: Schema;
  outlineBytes: number;
}

function withSizes(definition: Definition): SizedDefinition {
  const { name, schema } = definition;
  const type = typeof schema === "object" ? schema.type : undefined;
  const isType = typeof type === "string" || (Array.isArray(type) && type.length < 8);
  const outline = isType ? { type, title: name } : { title: name };
  const entryBytes = jsonBytes(name) + 2;
  return {
    ...definition,
    bytes: entryBytes + jsonBytes(schema),
    outline,
    outlineBytes: entryBytes + jsonBytes(outline),
  };
}

function fill(
  drafts: readonly Draft[],
  totalRoom: number,
  room: number,
  definitions: ReadonlyMap<string, SizedDefinition>,
): { operations: Record<string, unknown>[]; cut: number } | undefined {
  const operations: Record<string, unknown>[] = [];
  let bytes = 0;
  let cut = 0;
  for (const { operation, inputNeeds, outputNeeds } of drafts) {
    // Definitions of the input use the budget first: a caller needs them to make the call.
    const input = definitionsNeeded(inputNeeds, room, definitions);
    const output = definitionsNeeded(outputNeeds, room - input.bytes, definitions);
    bytes += input.bytes + output.bytes;
    if (bytes > totalRoom) return undefined;
    if (input.cut || output.cut) cut += 1;
    operations.push({
      ...operation,
      ...withDefinitions(operation, "inputSchema", input.entries),
      ...withDefinitions(operation, "outputSchema", output.entries),
    });
  }
  return { operations, cut };
}

function withDefinitions(operation: Record<string, unknown>, field: string, entries: [string, Schema][]) {
  const schema = operation[field];
  if (entries.length === 0 || typeof schema !== "object") return {};
  return { [field]: { ...schema, $defs: Object.fromEntries(entries) } };
}

/**
 * All reachable definitions, breadth first. A definition that exceeds `room` bytes is replaced by its outline, and its
 * own references are not followed.
 */
function definitionsNeeded(needs: readonly string[], room: number, definitions: ReadonlyMap<string, SizedDefinition>) {
  const entries: [string, Schema][] = [];
  const found = new Set(needs);
  let bytes = needs.length === 0 ? 0 : separatorBytes;
  let cut = false;
  // Iterating a Set also visits entries that are added meanwhile, in insertion order.
  for (const key of found) {
    const definition = definitions.get(key);
    if (definition === undefined) continue;
    const fits = bytes + definition.bytes <= room;
    entries.push([definition.name, fits ? definition.schema : definition.outline]);
    bytes += fits ? definition.bytes : definition.outlineBytes;
    if (fits) for (const need of definition.needs) found.add(need);
    else cut = true;
  }
  return { entries, bytes, cut };
}
