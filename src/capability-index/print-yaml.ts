/**
 * Writing YAML that reads the same to every reader, of version 1.1 or 1.2: no tags, no anchors, no folding. A text is
 * plain only where no reader could take it for anything else; otherwise it stands in double quotes, on one line, with
 * every character escaped that some reader takes for a line break or refuses.
 */

const plainBlock = /^[A-Za-z](?:[A-Za-z0-9_./()', -]*[A-Za-z0-9_./()'-])?$/;
const plainFlow = /^[A-Za-z][A-Za-z0-9_./-]*$/;

/** What some reader of one version or the other takes for a boolean, for nothing, or (as e5) for a number. */
const reserved = /^(?:y|n|yes|no|on|off|true|false|null|e[-._\d]*)$/i;

/** A text as a value or key on a line of its own. */
export function scalar(text: string): string {
  return plainBlock.test(text) && !reserved.test(text) ? text : quoted(text);
}

/** A list of texts between brackets. */
export function flowList(texts: readonly string[]): string {
  return `[${texts.map((text) => (plainFlow.test(text) && !reserved.test(text) ? text : quoted(text))).join(", ")}]`;
}

/** Any JSON value on one line: the part of YAML that is JSON. */
export function flow(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return numeral(value);
  if (Array.isArray(value)) return `[${value.map(flow).join(",")}]`;
  if (typeof value !== "object" || value === null) return value === true || value === false ? `${value}` : "null";
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${quoted(key)}:${flow(member)}`).join(",")}}`;
}

/** A value behind a key: texts as plain as they can be, the rest on one line. */
export function valueText(value: unknown): string {
  return typeof value === "string" ? scalar(value) : flow(value);
}

/** A key on a line of its own may not be longer than this. */
const maxKeyLength = 1_000;

/** A key and the indentation it stands at, up to where its value begins. */
export function keyLine(indent: string, text: string): string {
  const key = scalar(text);
  return key.length <= maxKeyLength ? `${indent}${key}:` : `${indent}? ${key}\n${indent}:`;
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** Without a point, 1e+21 is a text to readers of version 1.1. */
function numeral(value: number): string {
  if (!Number.isFinite(value)) return "null";
  return String(value).replace(/^(-?\d+)e/, "$1.0e");
}
