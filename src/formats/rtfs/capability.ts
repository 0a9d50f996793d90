import { defaultBounds } from "../../kernel/bounds.ts";
import { isObject } from "../../kernel/json.ts";
import { readingUnits, runAtOnce, type Steps } from "../../kernel/pace/pace.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { exceeded } from "../definitions.ts";
import type { Exceeded } from "../imported.ts";
import { type Argument, readArguments } from "./arguments.ts";
import { commentsByCapability, keepComments } from "./comments.ts";
import { type Comment, type Form, type OffsetFault, quoted } from "./form.ts";
import { createLocator, type Position } from "./locate.ts";
import { endpointIn, migrate } from "./migrate.ts";
import { formSteps } from "./read-forms.ts";
import { type JsonSchema, toJsonSchema } from "./schema.ts";
import { type RtfsText, sourceOf, textOf, toField, toJson } from "./values.ts";

/** A capability in the hierarchical layout, as plain JSON. Keys that RTFS does not define are kept. */
export interface RtfsCapability {
  id: string;
  /** Defaults to the tool name in the id. */
  name: string;
  version?: string;
  description?: string;
  provider?: string;
  permissions?: string[];
  effects?: string[];
  /** Provider details under the provider's name, provenance under `discovery`, comments under `rtfs`. */
  metadata?: Record<string, unknown>;
  inputSchema?: JsonSchema;
  outputSchema?: JsonSchema;
  /** Exact source text of the form, or the value if the form is a string. Never executed. */
  implementation?: string;
  [key: string]: unknown;
}

export interface RtfsFault extends Position {
  message: string;
  /** The text would become more than this bound allows. */
  bound?: Exceeded;
}

export interface RtfsDocument {
  capabilities: RtfsCapability[];
  warnings: RtfsFault[];
}

/** Also the fault of an import, which needs at least one. */
export const noCapability = 'the text holds no (capability "id" …) and no {:type "capability" :id "id" …}';

/** A malformed document can cause one warning per word; the first ones show what is wrong. */
const maxWarnings = 100;

/** Reads every capability in the text, in any layout, and returns the hierarchical layout. */
export function readRtfs(text: string): Result<RtfsDocument, RtfsFault> {
  return runAtOnce(readRtfsSteps(text));
}

export function* readRtfsSteps(text: string): Steps<Result<RtfsDocument, RtfsFault>> {
  const locate = createLocator(text);
  const fault = ({ message, offset, bound }: OffsetFault) => err({ message, bound, ...locate(offset) });
  const read = yield* formSteps(text);
  if (!read.ok) return fault(read.error);

  const remarks: OffsetFault[] = [];
  const source: RtfsText = { text, warn: (offset, message) => remarks.push({ offset, message }), used: new Set() };
  const capabilities: RtfsCapability[] = [];
  for (const form of read.value.dropped) if (capabilitiesIn(form, ignore).length > 0) warnOfComment(form, source);
  const forms = findCapabilities(read.value.forms, source);
  const one = forms[defaultBounds.capabilities];
  if (one !== undefined) {
    const limit = defaultBounds.capabilities;
    return fault({
      ...exceeded(`the text has ${forms.length} capabilities`, "capabilities", limit, forms.length),
      offset: one.start,
    });
  }
  const comments = commentsByCapability(read.value.comments, forms);
  for (const form of forms) {
    const capability = readCapability(form, comments.get(form) ?? [], source);
    if (!capability.ok) return fault(capability.error);
    capabilities.push(capability.value);
    yield 2 * readingUnits(form.end - form.start);
  }
  if (capabilities.length === 0) source.warn(0, noCapability);
  const warnings = remarks.slice(0, maxWarnings).map(({ message, offset }) => ({ message, ...locate(offset) }));
  const omitted = remarks[maxWarnings];
  if (omitted !== undefined) {
    warnings.push({ message: `and ${remarks.length - maxWarnings} more from here on`, ...locate(omitted.offset) });
  }
  return ok({ capabilities, warnings });
}

/** Capabilities are top-level forms, or nested in `(do …)`, a module or another form. */
function findCapabilities(forms: readonly Form[], source: RtfsText): Form[] {
  return forms.flatMap((form) => {
    let commented = 0;
    const nested = capabilitiesIn(form, (comment) => {
      commented += 1;
      warnOfComment(comment, source);
    });
    if (nested.length === 0 && commented === 0) {
      source.warn(form.start, `${quoted(sourceOf(form, source))} holds no capability: left out`);
    }
    return nested;
  });
}

function warnOfComment(form: Form, source: RtfsText): void {
  source.warn(form.start, `${quoted(sourceOf(form, source))} is commented out: left out`);
}

const ignore = () => {};

/**
 * A capability is a list `(capability "id" …)` or a map `{:type "capability" :id "id" …}`. Those in a `(comment …)` are
 * left out; `tell` is called with each such form.
 */
function capabilitiesIn(form: Form, tell: (comment: Form) => void): Form[] {
  if (form.kind === "map") {
    const type = entryOf(form, "type");
    const isCapability = (type?.kind === "string" && type.value === "capability") || isNamed(type, "capability");
    return isCapability ? [form] : form.entries.flatMap(([, value]) => capabilitiesIn(value, tell));
  }
  if (!("items" in form)) return [];
  const [head] = form.items;
  if (form.kind === "list" && head?.kind === "symbol" && head.name === "capability") return [form];
  const nested = form.items.flatMap((item) => capabilitiesIn(item, isComment(form) ? ignore : tell));
  if (!isComment(form)) return nested;
  if (nested.length > 0) tell(form);
  return [];
}

/** `(comment …)`, of which nothing is read. */
function isComment(form: Form): boolean {
  const [head] = form.kind === "list" ? form.items : [];
  return head?.kind === "symbol" && head.name === "comment";
}

function entryOf({ entries }: Extract<Form, { kind: "map" }>, name: string): Form | undefined {
  return entries.find(([key]) => isNamed(key, name) || (key.kind === "string" && key.value === name))?.[1];
}

function isNamed(form: Form | undefined, name: string): boolean {
  return form?.kind === "keyword" && form.name === name;
}

/** The id and the arguments of a capability in either form. */
function readHead(form: Form, source: RtfsText): Result<{ id: string; given: Argument[] }, OffsetFault> {
  if (form.kind === "map") {
    const id = entryOf(form, "id");
    if (id?.kind !== "string") {
      return err({ message: "a capability written as a map has its :id, a string", offset: id?.start ?? form.start });
    }
    const named = form.entries.map(([key, value]) => ({ name: textOf(key, source), offset: key.start, value }));
    return ok({ id: id.value, given: named.filter(({ name }) => name !== "id" && name !== "type") });
  }
  const [, id, ...rest] = "items" in form ? form.items : [];
  if (id?.kind !== "string") {
    return err({ message: "a capability starts with its id, a string", offset: id?.start ?? form.start });
  }
  const given = readArguments(rest, source);
  return given.ok ? ok({ id: id.value, given: given.value }) : given;
}

function readCapability(
  form: Form,
  comments: readonly Comment[],
  source: RtfsText,
): Result<RtfsCapability, OffsetFault> {
  const head = readHead(form, source);
  if (!head.ok) return head;
  const { id, given } = head.value;
  const fields = new Map<string, unknown>();
  const seen = new Set(["id"]);
  for (const { name: written, offset, value } of given) {
    const name = spellings.get(written) ?? written;
    if (seen.has(name)) return err({ message: `${quoted(written)} is given twice`, offset });
    seen.add(name);
    const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
    if (read === undefined) fields.set(name, toField(name, value, source));
    else if (value.kind !== "nil") fields.set(name, read(value, source));
  }
  const { name = toolName(id), ...others } = Object.fromEntries(fields);
  const { fields: migrated, conflicts } = migrate(others, endpointIn(comments.map(({ text }) => text)));
  for (const message of conflicts) source.warn(form.start, message);
  // The comments of an implementation are part of its text.
  const code = given.find(({ name: written }) => written === "implementation")?.value;
  const isCode = ({ offset }: Comment) => code !== undefined && offset >= code.start && offset < code.end;
  const kept = keepComments(
    comments.filter((comment) => !isCode(comment)),
    source,
  );
  return ok({ id, name: String(name), ...withComments(migrated, kept) });
}

function withComments(fields: Record<string, unknown>, comments: readonly string[]): Record<string, unknown> {
  if (comments.length === 0) return fields;
  const metadata = isObject(fields.metadata) ? fields.metadata : {};
  const { rtfs = {} } = metadata;
  const present = isObject(rtfs) ? rtfs : { value: rtfs };
  const { comments: earlier } = present;
  const all = [...(Array.isArray(earlier) ? earlier : earlier === undefined ? [] : [earlier]), ...comments];
  return { ...fields, metadata: { ...metadata, rtfs: { ...present, comments: all } } };
}

/**
 * Tool name from an id: what follows the last `/`, as in `github/list_issues.v2`, or else the last dot, as in
 * `mcp.github.list_issues`.
 */
export function toolName(id: string): string {
  return id.slice(id.lastIndexOf(id.includes("/") ? "/" : ".") + 1);
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
