/**
 * Prints YAML that parsers of versions 1.1 and 1.2 read alike: no tags, anchors or folding. A string is plain only if
 * no parser could read it as another type; otherwise it is double-quoted on one line, with every character escaped that
 * some parser treats as a line break or rejects.
 */

const plainBlock = /^[A-Za-z](?:[A-Za-z0-9_./()', -]*[A-Za-z0-9_./()'-])?$/;
const plainFlow = /^[A-Za-z][A-Za-z0-9_./-]*$/;

/** Plain strings that some parser reads as a boolean, null or (such as e5) a number. */
const reserved = /^(?:y|n|yes|no|on|off|true|false|null|e[-._\d]*)$/i;

/** A string as a block value or key. */
export function scalar(text: string): string {
  return plainBlock.test(text) && !reserved.test(text) ? text : quoted(text);
}

/** A flow sequence of strings. */
export function flowList(texts: readonly string[]): string {
  return `[${texts.map((text) => (plainFlow.test(text) && !reserved.test(text) ? text : quoted(text))).join(", ")}]`;
}

/** Any JSON value on one line; JSON is valid YAML. */
export function flow(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return numeral(value);
  if (Array.isArray(value)) return `[${value.map(flow).join(",")}]`;
  if (typeof value !== "object" || value === null) return value === true || value === false ? `${value}` : "null";
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${quoted(key)}:${flow(member)}`).join(",")}}`;
}

/** The value of a key: a string as plain as possible, anything else on one line. */
export function valueText(value: unknown): string {
  return typeof value === "string" ? scalar(value) : flow(value);
}

/** A longer key needs the explicit `? key` form: YAML limits implicit keys to 1024 characters. */
const maxKeyLength = 1_000;

/** An indented key with its colon. */
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

/** YAML 1.1 reads 1e+21 as a string, because it has no decimal point. */
function numeral(value: number): string {
  if (!Number.isFinite(value)) return "null";
  return String(value).replace(/^(-?\d+)e/, "$1.0e");
}
