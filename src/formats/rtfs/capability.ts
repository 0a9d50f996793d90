import { isObject } from "../../kernel/json.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { type Form, type ListForm, type OffsetFault, quoted } from "./form.ts";
import { endpointIn, migrate } from "./migrate.ts";
import { readForms } from "./read-forms.ts";
import { type JsonSchema, toJsonSchema } from "./schema.ts";
import { unescapeLoosely } from "./string.ts";
import { type RtfsText, sourceOf, textOf, toField, toJson } from "./values.ts";

interface Argument {
  name: string;
  offset: number;
  value: Form;
}

/** Reads the `:key value` pairs after a capability's id. */
function readArguments(forms: readonly Form[], source: RtfsText): Result<Argument[], OffsetFault> {
  const found: Argument[] = [];
  let index = 0;
  for (let key = forms[index]; key !== undefined; key = forms[index]) {
    const written = quoted(sourceOf(key, source));
    if (!isKey(key)) return err({ message: `expected a key such as :name, found ${written}`, offset: key.start });
    const value = forms[index + 1];
    if (value === undefined) return err({ message: `the key ${written} has no value`, offset: key.start });
    const end = hasUnescapedQuote(forms, index + 1) ? endOfUnescaped(forms, index + 1) : index + 2;
    const last = forms[end - 1] ?? value;
    if (last !== value && last.kind !== "string") {
      const follower = forms[index + 2] ?? last;
      const message = `expected a key after the text of ${written}; is a quote in it not escaped?`;
      return err({ message, offset: follower.start });
    }
    found.push({ name: textOf(key, source), offset: key.start, value: repairQuotes(value, last, written, source) });
    index = end;
  }
  return ok(found);
}

function isKey(form: Form): boolean {
  return form.kind === "keyword" || form.kind === "string";
}

/**
 * Some RTFS writers do not escape quotes, so `"press "go" twice"` is parsed as a string, a symbol and a string.
 * Detected if the form after a string is not a key, or follows without a gap.
 */
function hasUnescapedQuote(forms: readonly Form[], at: number): boolean {
  const [value, follower] = [forms[at], forms[at + 1]];
  if (value?.kind !== "string" || follower === undefined) return false;
  return !isKey(follower) || follower.start === value.end;
}

/** End of a text with unescaped quotes: the next keyword that is preceded by a gap. */
function endOfUnescaped(forms: readonly Form[], at: number): number {
  let end = at + 1;
  for (let form = forms[end]; form !== undefined; form = forms[end]) {
    if (form.kind === "keyword" && form.start !== forms[end - 1]?.end) break;
    end += 1;
  }
  return end;
}

function repairQuotes(value: Form, last: Form, key: string, source: RtfsText): Form {
  if (last === value) return value;
  source.warn(value.start, `the text of ${key} holds quotes that are not escaped: read up to the next keyword`);
  const text = unescapeLoosely(source.text.slice(value.start + 1, last.end - 1));
  return { kind: "string", value: text, start: value.start, end: last.end };
}

interface Position {
  line: number;
  column: number;
}

/** Converts offsets into lines and columns, both starting at 1. The line index is built once, on first use. */
function createLocator(text: string): (offset: number) => Position {
  let starts: number[] | undefined;
  return (offset) => {
    starts ??= lineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** A capability in the hierarchical layout, as plain JSON. Keys that RTFS does not define are kept. */
export interface RtfsCapability {
  id: string;
  /** Defaults to the part of the id after its last dot. */
  name: string;
  version?: string;
  description?: string;
  provider?: string;
  permissions?: string[];
  effects?: string[];
  /** Provider details under the provider's name, provenance under `discovery`. */
  metadata?: Record<string, unknown>;
  inputSchema?: JsonSchema;
  outputSchema?: JsonSchema;
  /** Exact source text of the form, or the value if the form is a string. Never executed. */
  implementation?: string;
  [key: string]: unknown;
}

export interface RtfsFault extends Position {
  message: string;
}

export interface RtfsDocument {
  capabilities: RtfsCapability[];
  warnings: RtfsFault[];
}

/** A malformed document can cause one warning per word; the first ones show what is wrong. */
const maxWarnings = 100;

/** Reads every capability in the text, in any layout, and returns the hierarchical layout. */
export function readRtfs(text: string): Result<RtfsDocument, RtfsFault> {
  const locate = createLocator(text);
  const fault = ({ message, offset }: OffsetFault) => err({ message, ...locate(offset) });
  const forms = readForms(text);
  if (!forms.ok) return fault(forms.error);

  const remarks: OffsetFault[] = [];
  const source: RtfsText = { text, warn: (offset, message) => remarks.push({ offset, message }) };
  const capabilities: RtfsCapability[] = [];
  for (const form of findCapabilities(forms.value, source)) {
    const capability = readCapability(form, source);
    if (!capability.ok) return fault(capability.error);
    capabilities.push(capability.value);
  }
  if (capabilities.length === 0) source.warn(0, "the text holds no (capability …) form");
  const warnings = remarks.slice(0, maxWarnings).map(({ message, offset }) => ({ message, ...locate(offset) }));
  const omitted = remarks[maxWarnings];
  if (omitted !== undefined) {
    warnings.push({ message: `and ${remarks.length - maxWarnings} more from here on`, ...locate(omitted.offset) });
  }
  return ok({ capabilities, warnings });
}

/** Capabilities are top-level forms, or nested in `(do …)`, a module or another form. */
function findCapabilities(forms: readonly Form[], source: RtfsText): ListForm[] {
  return forms.flatMap((form) => {
    const nested = form.kind === "list" || form.kind === "vector" ? capabilitiesIn(form) : [];
    if (nested.length === 0) {
      source.warn(form.start, `${quoted(sourceOf(form, source))} holds no capability: left out`);
    }
    return nested;
  });
}

function capabilitiesIn(form: ListForm): ListForm[] {
  const [head] = form.items;
  if (form.kind === "list" && head?.kind === "symbol" && head.name === "capability") return [form];
  return form.items.flatMap((item) => (item.kind === "list" || item.kind === "vector" ? capabilitiesIn(item) : []));
}

function readCapability(form: ListForm, source: RtfsText): Result<RtfsCapability, OffsetFault> {
  const [, id, ...rest] = form.items;
  if (id?.kind !== "string") {
    return err({ message: "a capability starts with its id, a string", offset: id?.start ?? form.start });
  }
  const given = readArguments(rest, source);
  if (!given.ok) return given;
  const fields = new Map<string, unknown>();
  const seen = new Set(["id"]);
  for (const { name: written, offset, value } of given.value) {
    const name = spellings.get(written) ?? written;
    if (seen.has(name)) return err({ message: `${quoted(written)} is given twice`, offset });
    seen.add(name);
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (read === undefined) fields.set(name, toField(name, value, source));
    else if (value.kind !== "nil") fields.set(name, read(value, source));
  }
  const { name = toolName(id.value), ...others } = Object.fromEntries(fields);
  const { fields: migrated, conflicts } = migrate(others, endpointIn(form.lead ?? []));
  for (const message of conflicts) source.warn(form.start, message);
  return ok({ id: id.value, name: String(name), ...migrated });
}

/** Tool name from an id such as `mcp.github.list_issues`. */
export function toolName(id: string): string {
  return id.slice(id.lastIndexOf(".") + 1);
}

/** RTFS spellings of keys → manifest field names. */
export const spellings: ReadonlyMap<string, string> = new Map([
  ["input-schema", "inputSchema"],
  ["input_schema", "inputSchema"],
  ["output-schema", "outputSchema"],
  ["output_schema", "outputSchema"],
]);

/** Readers for the keys that RTFS defines. `nil` for one of these keys is the same as omitting the key. */
const readers: Record<string, (form: Form, source: RtfsText) => unknown> = {
  name: textOf,
  version: textOf,
  description: textOf,
  provider: (form, source) => (form.kind === "map" ? toJson(form, source) : textOf(form, source)),
  permissions: names,
  effects: names,
  metadata,
  inputSchema: toJsonSchema,
  outputSchema: toJsonSchema,
  implementation: (form, source) => (form.kind === "string" ? form.value : sourceOf(form, source)),
};

function names(form: Form, source: RtfsText): string[] {
  return "items" in form ? form.items.map((item) => textOf(item, source)) : [textOf(form, source)];
}

function metadata(form: Form, source: RtfsText): Record<string, unknown> {
  const value = toJson(form, source);
  if (isObject(value)) return value;
  source.warn(form.start, "metadata is not a map: left out");
  return {};
}
