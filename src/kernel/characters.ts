import { type Issue, pointer } from "./issue.ts";
import { isObject } from "./json.ts";

/**
 * Which characters text may contain. Characters that a person cannot see but a model reads are refused, as they can
 * hide instructions. Scripts and emoji that need a few invisible characters may use them, in the places where they need
 * them.
 */

const printableAscii = /^[\t\n\x20-\x7e]*$/;

/**
 * Controls, formats, surrogates, private use, unassigned, line and paragraph separators, everything that fonts draw as
 * nothing, and the blank braille cell. Excluded: tab, newline, FE0F (emoji presentation), code points that Unicode
 * reserves for pictographs (next year's emoji are unassigned in this year's runtime), and the Arabic, Syriac and Kaithi
 * number and verse signs, which are formats only because they enclose the text after them.
 */
const invisibleCharacter =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]--[\t\n\uFE0F\p{Extended_Pictographic}\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]]/gv;

const zeroWidthNonJoiner = 0x200c;
const zeroWidthJoiner = 0x200d;

/** Scripts in which a joiner changes the shape of a word: cursive scripts, and scripts that build conjuncts. */
const joiningScripts = [
  ...["Arabic", "Syriac", "Mandaic", "Nko", "Mongolian", "Adlam", "Hanifi_Rohingya"],
  ...["Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala"],
  ...["Khmer", "Myanmar", "Tibetan", "Javanese", "Balinese", "Meetei_Mayek", "Chakma"],
];
/** Letters and marks of these scripts, with the Arabic vowel signs, which Unicode assigns to no single script. */
const joiningCharacter = new RegExp(
  `^[[\\p{L}\\p{M}]&&[${joiningScripts.map((script) => `\\p{Script=${script}}`).join("")}\\u064B-\\u0655\\u0670]]$`,
  "v",
);

/** After a virama, a joiner selects how the consonant is drawn, also at the end of a word (RFC 5892, A.1 and A.2). */
const virama = /^[\u094D\u09CD\u0A4D\u0ACD\u0B4D\u0BCD\u0C4D\u0CCD\u0D4D\u0DCA]$/;

const pictograph = /^\p{Extended_Pictographic}$/v;
/** Allowed between a pictograph and the joiner after it. */
const pictographSuffix = /^[\uFE0F\p{Emoji_Modifier}]$/v;

/** The first forbidden character. Zero-width joiners are never reported here; see `misplacedJoiner`. */
export function characterIssue(text: string): { index: number; codePoint: number; name: string } | undefined {
  if (printableAscii.test(text)) return undefined;
  for (const match of text.matchAll(invisibleCharacter)) {
    const codePoint = match[0].codePointAt(0) ?? 0;
    if (codePoint === zeroWidthJoiner) continue;
    if (codePoint === zeroWidthNonJoiner && joinsLetters(text, match.index)) continue;
    return { index: match.index, codePoint, name: codePointName(codePoint) };
  }
  return undefined;
}

/**
 * The first zero-width joiner outside the known valid places. Not a reason to refuse the text: new emoji sequences
 * appear every year, so the list of valid places is never complete.
 */
export function misplacedJoiner(text: string): { index: number; codePoint: number } | undefined {
  for (let index = text.indexOf("\u200d"); index !== -1; index = text.indexOf("\u200d", index + 1)) {
    if (!joinsLetters(text, index) && !joinsPictographs(text, index)) return { index, codePoint: zeroWidthJoiner };
  }
  return undefined;
}

/** Keys are cut to this length in paths, so a segment of this length may match several keys. */
export const maxPathSegment = 128;

/**
 * A key as a path segment. Senders choose the keys: without a length limit, one long key would be repeated in the path
 * of every issue below it.
 */
export function pathSegment(key: string): string {
  return key.slice(0, maxPathSegment).toWellFormed();
}

function codePointName(codePoint: number): string {
  return `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;
}

function joinsLetters(text: string, index: number): boolean {
  const before = characterBefore(text, index);
  return virama.test(before) || (joiningCharacter.test(before) && joiningCharacter.test(characterAt(text, index + 1)));
}

function joinsPictographs(text: string, index: number): boolean {
  let before = index;
  // At most a skin tone and a presentation selector: a longer run is not an emoji.
  for (let suffixes = 0; suffixes < 2 && pictographSuffix.test(characterBefore(text, before)); suffixes += 1) {
    before -= characterBefore(text, before).length;
  }
  return pictograph.test(characterBefore(text, before)) && pictograph.test(characterAt(text, index + 1));
}

function characterAt(text: string, index: number): string {
  const codePoint = text.codePointAt(index);
  return codePoint === undefined ? "" : String.fromCodePoint(codePoint);
}

function characterBefore(text: string, index: number): string {
  if (index === 0) return "";
  const pair = index > 1 ? characterAt(text, index - 2) : "";
  return pair.length === 2 ? pair : text.charAt(index - 1);
}

const maxIssues = 100;

/** Forbidden characters in all strings and keys, at any depth; at most 100 issues. */
export function characterIssues(value: unknown, path: string): Issue[] {
  const issues: Issue[] = [];
  for (const { text, isKey, node } of texts(value)) {
    const found = characterIssue(text);
    if (found === undefined) continue;
    const where = isKey ? "the key" : "the text";
    const message = `${found.name} at position ${found.index} of ${where} is invisible or reserved; remove it`;
    issues.push({ path: pathOf(node, path), rule: "invisible-character", message });
    if (issues.length === maxIssues) break;
  }
  return issues;
}

/** A value with a link to its parent, so that a path is built only when an issue is found. */
interface Node {
  value: unknown;
  parent: Node | undefined;
  segment: string | number;
}

/** Every string and every key of a JSON value, in document order. A key is yielded with the node of its value. */
export function* texts(root: unknown): Generator<{ text: string; isKey: boolean; node: Node }> {
  const todo: Node[] = [{ value: root, parent: undefined, segment: 0 }];
  for (let node = todo.pop(); node !== undefined; node = todo.pop()) {
    const { value, segment } = node;
    if (typeof segment === "string") yield { text: segment, isKey: true, node };
    if (typeof value === "string") yield { text: value, isKey: false, node };
    else if (Array.isArray(value)) {
      for (let index = value.length - 1; index >= 0; index -= 1) {
        todo.push({ value: value[index], parent: node, segment: index });
      }
    } else if (isObject(value)) {
      for (const key of Object.keys(value).reverse()) todo.push({ value: value[key], parent: node, segment: key });
    }
  }
}

export function pathOf(node: Node, root: string): string {
  const segments: (string | number)[] = [];
  for (let at = node; at.parent !== undefined; at = at.parent) segments.push(at.segment);
  return segments
    .reverse()
    .reduce<string>(
      (path, segment) => pointer(path, typeof segment === "string" ? pathSegment(segment) : segment),
      root,
    );
}

/** A header name: `token` of RFC 9110. */
export const httpToken = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
