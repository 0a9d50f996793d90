import { type Form, quoted } from "./form.ts";

/** The text that forms were read from, and where to say what it could not be read as. */
export interface RtfsText {
  text: string;
  warn: (offset: number, message: string) => void;
}

export function sourceOf(form: Form, { text }: RtfsText): string {
  return text.slice(form.start, form.end);
}

/** A form as text: strings and keywords as what they stand for, anything else as it is written. */
export function textOf(form: Form, source: RtfsText): string {
  if (form.kind === "string") return form.value;
  return form.kind === "keyword" ? form.name : sourceOf(form, source);
}

/** A form as plain JSON data. Keywords become strings, and so does code, which is kept and never run. */
export function toJson(form: Form, source: RtfsText): unknown {
  switch (form.kind) {
    case "string":
    case "boolean":
      return form.value;
    case "keyword":
      return form.name;
    case "nil":
      return null;
    case "number":
      return toNumber(form.value, form, source);
    case "vector":
    case "set":
      return form.items.map((item) => toJson(item, source));
    case "map":
      return toObject(form.entries, source);
    case "symbol":
    case "list":
      source.warn(form.start, `${quoted(sourceOf(form, source))} is code where data is expected: kept as text`);
      return sourceOf(form, source);
  }
}

function toNumber(value: number, form: Form, source: RtfsText): number | string {
  const written = sourceOf(form, source);
  const exact = Number.isFinite(value) && (Number.isSafeInteger(value) || /[.eE]/.test(written));
  if (exact) return value;
  source.warn(form.start, `${quoted(written)} is beyond what a JSON number holds exactly: kept as text`);
  return written;
}

function toObject(entries: readonly (readonly [Form, Form])[], source: RtfsText): Record<string, unknown> {
  return collect(
    entries.map(([key, value]) => {
      const name = textOf(key, source);
      return { name, offset: key.start, value: toField(name, value, source) };
    }),
    source,
  );
}

/** Text even where it is written as a number or a truth value: "2.10" is no number, and a session hint may be "auto". */
const textField = /(?:^|_)(?:requires_session|protocol_version|api_version|introspector_version)$/;

export function toField(name: string, form: Form, source: RtfsText): unknown {
  const isText = textField.test(name) && (form.kind === "number" || form.kind === "boolean");
  return isText ? sourceOf(form, source) : toJson(form, source);
}

/** Named values as an object. `:a` and `"a"` differ for the reader and are one key in JSON: the last one stays. */
export function collect<T>(
  fields: readonly { name: string; offset: number; value: T }[],
  source: RtfsText,
): Record<string, T> {
  const values = new Map<string, T>();
  for (const { name, offset, value } of fields) {
    if (values.has(name)) source.warn(offset, `the key ${quoted(name)} is given twice: the last one is kept`);
    values.set(name, value);
  }
  return Object.fromEntries(values);
}
