import { err, ok, type Result } from "../../kernel/result.ts";
import { type Form, type OffsetFault, quoted } from "./form.ts";
import { unescapeLoosely } from "./string.ts";
import { type RtfsText, sourceOf, textOf } from "./values.ts";

/** One `:key value` of a capability. */
export interface Argument {
  name: string;
  /** Offset of the key. */
  offset: number;
  value: Form;
}

/** Reads the `:key value` pairs after a capability's id. */
export function readArguments(forms: readonly Form[], source: RtfsText): Result<Argument[], OffsetFault> {
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
