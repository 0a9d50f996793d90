import { defaultBounds, importBounds } from "../kernel/bounds.ts";
import { countNodes } from "../kernel/json.ts";
import type { Steps } from "../kernel/pace/pace.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { byteLength } from "../kernel/text.ts";
import type { Exceeded, ImportFault } from "./imported.ts";
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
 * Byte budgets for the definitions of one operation, tried in order; the first that keeps all of them within their
 * limits is used.
 */
const definitionBudgets = [384, 192, 96, 48, 24, 12, 6, 3, 1.5, 0.75, 0.375, 0.1875, 0].map(
  (kibibytes) => kibibytes * 1_024,
);

/** Upper bound for the bytes of the key, brackets and commas around one part. */
const separatorBytes = 16;

/** Bytes as JSON, and number of JSON values. */
interface Size {
  bytes: number;
  nodes: number;
}

const nothing: Size = { bytes: 0, nodes: 0 };

function sizeOf(value: unknown): Size {
  if (value === undefined) return nothing;
  return { bytes: byteLength(JSON.stringify(value)), nodes: countNodes(value) };
}

/** Units of work for a value that was copied or written as JSON: long texts cost by their length. */
function unitsOf({ bytes, nodes }: Size): number {
  return nodes / 4 + bytes / 200;
}

export function exceeded(message: string, name: string, limit: number, found: number): ImportFault {
  const bound: Exceeded = { name, limit, found };
  return { message: `${message} (${name}: ${limit})`, bound };
}

/** A draft and the number of values in its schemas, without their definitions. */
interface SizedDraft extends Draft {
  nodes: number;
}

/**
 * Collects operations. Reports a fault as soon as they exceed a limit, before definitions are copied; the caller adds
 * its place. `documentBytes` bounds how often parts of the document may be copied.
 */
export function createDrafts(
  header: Record<string, unknown>,
  {
    documentBytes = defaultBounds.importBytes,
    manifestBytes = defaultBounds.manifestBytes,
  }: { documentBytes?: number | undefined; manifestBytes?: number | undefined } = {},
) {
  const drafts: SizedDraft[] = [];
  let total = sizeOf(header).bytes + separatorBytes;
  let nodes = 0;
  let copied = 0;
  const shared = importBounds.sharedBytes + importBounds.sharedTimes * documentBytes;

  function* add(draft: Draft): Steps<ImportFault | undefined> {
    const { inputSchema, outputSchema, ...rest } = draft.operation;
    if (drafts.length === defaultBounds.capabilities) {
      const message = `there are more than ${defaultBounds.capabilities} operations`;
      return exceeded(message, "capabilities", defaultBounds.capabilities, drafts.length + 1);
    }
    const [input, output, other] = [sizeOf(inputSchema), sizeOf(outputSchema), sizeOf(rest)];
    yield unitsOf(input) + unitsOf(output) + unitsOf(other);
    const own = input.nodes + output.nodes;
    if (own > importBounds.schemaNodes) {
      const message = `the schemas of this operation have ${own} values`;
      return exceeded(message, "schemaNodes", importBounds.schemaNodes, own);
    }
    nodes += own;
    if (nodes > importBounds.documentNodes) {
      const message = `the schemas of the operations up to this one have ${nodes} values`;
      return exceeded(message, "documentNodes", importBounds.documentNodes, nodes);
    }
    copied += input.bytes + output.bytes;
    if (copied > shared) {
      const message = `the schemas of the operations up to this one take ${copied} bytes, for a document of ${documentBytes} bytes: too many operations share large parts`;
      return exceeded(message, "sharedBytes", shared, copied);
    }
    total += input.bytes + output.bytes + other.bytes + 4 * separatorBytes;
    drafts.push({ ...draft, nodes: own });
    return total > manifestBytes ? tooLarge(total, manifestBytes) : undefined;
  }

  function* finish(
    definitions: ReadonlyMap<string, Definition>,
    warnings: Warnings,
  ): Steps<Result<Record<string, unknown>[], ImportFault>> {
    const sized = new Map<string, SizedDefinition>();
    for (const [key, definition] of definitions) {
      const made = withSizes(definition);
      sized.set(key, made);
      yield unitsOf(made);
    }
    const rest = { bytes: manifestBytes - total, nodes: importBounds.documentNodes - nodes };
    const allowed = importBounds.definitionBytes + importBounds.definitionTimes * documentBytes;
    for (const room of definitionBudgets) {
      // Without a budget only the names of definitions are left, which are allowed wherever they fit.
      const limits = room === 0 ? rest : { ...rest, bytes: Math.min(rest.bytes, allowed) };
      const filled = yield* fill(drafts, limits, room, sized);
      if (filled === undefined) continue;
      if (filled.cut > 0) {
        const limit = `more than ${room} bytes of definitions`;
        warnings.add(`${filled.cut} operations need ${limit}; what goes beyond is left as an open schema`);
      }
      return ok(filled.operations);
    }
    return err(tooLarge(total, manifestBytes));
  }

  return { add, finish };
}

function tooLarge(bytes: number, limit: number): ImportFault {
  const message = `the manifest would be larger than ${limit} bytes`;
  return exceeded(message, "manifestBytes", limit, bytes);
}

/** A definition, the outline that replaces it when the budget is exhausted, and the size of both. */
interface SizedDefinition extends Definition, Size {
  outline: Schema;
  outlineSize: Size;
}

function withSizes(definition: Definition): SizedDefinition {
  const { name, schema } = definition;
  const type = typeof schema === "object" ? schema.type : undefined;
  const isType = typeof type === "string" || (Array.isArray(type) && type.length < 8);
  const outline = isType ? { type, title: name } : { title: name };
  const entryBytes = sizeOf(name).bytes + 2;
  const [whole, short] = [sizeOf(schema), sizeOf(outline)];
  return {
    ...definition,
    ...{ bytes: entryBytes + whole.bytes, nodes: whole.nodes },
    outline,
    outlineSize: { bytes: entryBytes + short.bytes, nodes: short.nodes },
  };
}

function* fill(
  drafts: readonly SizedDraft[],
  limits: Size,
  room: number,
  definitions: ReadonlyMap<string, SizedDefinition>,
): Steps<{ operations: Record<string, unknown>[]; cut: number } | undefined> {
  const operations: Record<string, unknown>[] = [];
  let bytes = 0;
  let nodes = 0;
  let cut = 0;
  for (const { operation, inputNeeds, outputNeeds, nodes: own } of drafts) {
    // Definitions of the input use the budget first: a caller needs them to make the call.
    const nodesLeft = importBounds.schemaNodes - own;
    const input = definitionsNeeded(inputNeeds, { bytes: room, nodes: nodesLeft }, definitions);
    const left = { bytes: room - input.bytes, nodes: nodesLeft - input.nodes };
    const output = definitionsNeeded(outputNeeds, left, definitions);
    bytes += input.bytes + output.bytes;
    nodes += input.nodes + output.nodes;
    if (bytes > limits.bytes || nodes > limits.nodes) return undefined;
    if (input.cut || output.cut) cut += 1;
    operations.push({
      ...operation,
      ...withDefinitions(operation, "inputSchema", input.entries),
      ...withDefinitions(operation, "outputSchema", output.entries),
    });
    yield 1 + input.entries.length + output.entries.length;
  }
  return { operations, cut };
}

function withDefinitions(operation: Record<string, unknown>, field: string, entries: [string, Schema][]) {
  const schema = operation[field];
  if (entries.length === 0 || typeof schema !== "object") return {};
  return { [field]: { ...schema, $defs: Object.fromEntries(entries) } };
}

/**
 * All reachable definitions, breadth first. A definition that exceeds the room is replaced by its outline, and its own
 * references are not followed.
 */
function definitionsNeeded(
  needs: readonly string[],
  room: Size,
  definitions: ReadonlyMap<string, SizedDefinition>,
): Size & { entries: [string, Schema][]; cut: boolean } {
  const entries: [string, Schema][] = [];
  const found = new Set(needs);
  let bytes = needs.length === 0 ? 0 : separatorBytes;
  let nodes = 0;
  let cut = false;
  // Iterating a Set also visits entries that are added meanwhile, in insertion order.
  for (const key of found) {
    const definition = definitions.get(key);
    if (definition === undefined) continue;
    const fits = bytes + definition.bytes <= room.bytes && nodes + definition.nodes <= room.nodes;
    const size = fits ? definition : definition.outlineSize;
    entries.push([definition.name, fits ? definition.schema : definition.outline]);
    bytes += size.bytes;
    nodes += size.nodes;
    if (fits) for (const need of definition.needs) found.add(need);
    else cut = true;
  }
  return { entries, bytes, nodes, cut };
}
