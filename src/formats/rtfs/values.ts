import { type Form, quoted } from "./form.ts";

/** The source text of the forms, and the callback for warnings about it. */
export interface RtfsText {
  text: string;
  warn: (offset: number, message: string) => void;
  /** Offsets of the comments that were read as part of a field. */
  used: Set<number>;
}

export function sourceOf(form: Form, { text }: RtfsText): string {
  return text.slice(form.start, form.end);
}

/** A form as text: the value of a string, the name of a keyword, the source of any other form. */
export function textOf(form: Form, source: RtfsText): string {
  if (form.kind === "string") return form.value;
  return form.kind === "keyword" ? form.name : sourceOf(form, source);
}

/** A form as plain JSON data. Keywords become strings. Code becomes a string and is never executed. */
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
  return objectFromFields(
    entries.map(([key, value]) => {
      const name = textOf(key, source);
      return { name, offset: key.start, value: toField(name, value, source) };
    }),
    source,
  );
}

/**
 * Fields that stay text even if written as a number or boolean: version 2.10 is not the number 2.1, and a session hint
 * may be "auto".
 */
const textField = /(?:^|_)(?:requires_session|protocol_version|api_version|introspector_version)$/;

export function toField(name: string, form: Form, source: RtfsText): unknown {
  const isText = textField.test(name) && (form.kind === "number" || form.kind === "boolean");
  return isText ? sourceOf(form, source) : toJson(form, source);
}

/** Named values as an object. `:a` and `"a"` are different RTFS keys but one JSON key: the last value wins. */
export function objectFromFields<T>(
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
