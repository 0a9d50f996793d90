import { defaultBounds } from "../kernel/bounds.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { ImportFault } from "./imported.ts";
import type { Warnings } from "./text.ts";

/**
 * Every operation carries the schemas it needs as `$defs`. In a large API nearly everything refers to nearly everything,
 * so a faithful copy per operation grows with the square of the document: what does not fit is left as an open schema.
 */

export type Schema = Record<string, unknown> | boolean;

/** A schema that others refer to as `#/$defs/{name}`. */
export interface Definition {
  name: string;
  schema: Schema;
  /** Keys of the definitions it refers to, each once. */
  needs: readonly string[];
}

/** What a schema stands for, with the keys of the definitions it refers to. */
export interface Converted {
  schema: Schema;
  needs: readonly string[];
}

/** An operation whose schemas still lack their definitions. */
export interface Draft {
  operation: Record<string, unknown>;
  inputNeeds: readonly string[];
  outputNeeds: readonly string[];
}

/** Bytes of definitions an operation may carry; the first that keeps the whole manifest in its bounds is taken. */
const definitionBudgets = [384, 192, 96, 48, 24, 12, 6, 3, 0].map((kibibytes) => kibibytes * 1_024);

/** More than the keys, brackets and commas around a part take. */
const separatorBytes = 16;

const encoder = new TextEncoder();

function jsonBytes(value: unknown): number {
  return encoder.encode(JSON.stringify(value)).byteLength;
}

/** Collects operations and stops as soon as they cannot become a manifest, before anything is copied at length. */
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
      const sized = new Map<string, Sized>();
      for (const [key, definition] of definitions) sized.set(key, measured(definition));
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

/** A definition with what stands in for it where there is no room, and the bytes either takes. */
interface Sized extends Definition {
  bytes: number;
  outline: Schema;
  outlineBytes: number;
}

function measured(definition: Definition): Sized {
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
  definitions: ReadonlyMap<string, Sized>,
): { operations: Record<string, unknown>[]; cut: number } | undefined {
  const operations: Record<string, unknown>[] = [];
  let bytes = 0;
  let cut = 0;
  for (const { operation, inputNeeds, outputNeeds } of drafts) {
    // What a caller must know goes before what it will see.
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

/** Everything reachable, nearest first, as long as there is room; beyond it only names. */
function definitionsNeeded(needs: readonly string[], room: number, definitions: ReadonlyMap<string, Sized>) {
  const entries: [string, Schema][] = [];
  const found = new Set(needs);
  let bytes = needs.length === 0 ? 0 : separatorBytes;
  let cut = false;
  // A set grows while it is walked, and keeps the order of arrival.
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
