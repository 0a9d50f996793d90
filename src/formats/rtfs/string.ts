import { err, ok, type Result } from "../../kernel/result.ts";
import type { OffsetFault } from "./form.ts";

const escapes: Record<string, string> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** Reads a string from its opening quote. Unescaped line breaks are allowed. */
export function readString(text: string, start: number): Result<{ value: string; end: number }, OffsetFault> {
  let value = "";
  let from = start + 1;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return ok({ value: value + text.slice(from, at), end: at + 1 });
    if (code !== 0x5c) continue;
    if (at + 1 === text.length) break;
    const escaped = readEscape(text, at);
    if (escaped === undefined) return err({ message: "invalid escape sequence", offset: at });
    value += text.slice(from, at) + escaped.value;
    from = at + escaped.length;
    at = from - 1;
  }
  return err({ message: "the string that starts here is never closed", offset: start });
}

/** Reads a regular expression from its `#"`. A backslash keeps its meaning, and a quote after it is part of the text. */
export function readPattern(text: string, start: number): Result<{ value: string; end: number }, OffsetFault> {
  for (let at = start + 2; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\\") at += 1;
    else if (character === '"') return ok({ value: text.slice(start + 2, at).replaceAll('\\"', '"'), end: at + 1 });
  }
  return err({ message: "the regular expression that starts here is never closed", offset: start });
}

function readEscape(text: string, at: number): { value: string; length: number } | undefined {
  const letter = text[at + 1] ?? "";
  if (letter === "u") {
    const digits = text.slice(at + 2, at + 6);
    if (!/^[0-9A-Fa-f]{4}$/.test(digits)) return undefined;
    return { value: String.fromCharCode(Number.parseInt(digits, 16)), length: 6 };
  }
  const value = escapes[letter];
  return value === undefined ? undefined : { value, length: 2 };
}

/** Decodes the content of a string that may contain unescaped quotes: unknown escapes are left unchanged. */
export function unescapeLoosely(inside: string): string {
  return inside.replace(/\\(?:u[0-9A-Fa-f]{4}|[^u])/g, (written) => readEscape(written, 0)?.value ?? written);
}

const shortEscapes: Record<string, string> = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Also escapes control characters and lone surrogates, which cannot be encoded as UTF-8. */
export function printString(value: string): string {
  const inside = value.replace(
    /["\\\p{Cc}\p{Cs}]/gu,
    (character) => shortEscapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return `"${inside}"`;
}

/** Names that are always read back as one keyword; other names are printed as strings. */
const keyword = /^[A-Za-z0-9_*!?$%&=<>+./-]+$/;

export function printName(name: string): string {
  return keyword.test(name) ? `:${name}` : printString(name);
}
