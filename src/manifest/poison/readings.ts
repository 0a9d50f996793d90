import { decodeBase64 } from "../../kernel/base64.ts";

/** A text in the forms that the rules need. */
export interface WrittenText {
  published: string;
  /** In NFKC, with its white space. */
  text: string;
  isAscii: boolean;
  /** Runs of characters that base64 is written with. */
  runs: readonly string[];
}

export function writtenText(published: string): WrittenText {
  const isAscii = !/[^\x20-\x7e\t\n]/.test(published);
  // Normalised, these two ligatures become 18 and 8 letters: a short text would become a very long one.
  const text = isAscii ? published : published.replace(/[\ufdfa\ufdfb]/g, " ").normalize("NFKC");
  return { published, text, isAscii, runs: encodedRuns(text) };
}

/**
 * Other texts that a model may read in a text: words of an identifier, letters written as escapes, as lookalikes of
 * another script, as digits, or encoded. Each is tested for instructions as the text itself is.
 */
export interface Reading {
  /** NFKC, white space collapsed. */
  text: string;
  /** The same in lower case. */
  lower: string;
  /** The text is an identifier, split into words. */
  isIdentifier?: true;
}

export function readingOf(text: string): Reading {
  const folded = /[\t\n]|\s\s/.test(text) ? text.replace(/\s+/g, " ") : text;
  return { text: folded, lower: folded.toLowerCase() };
}

/** Readings besides the text itself. `text` is in NFKC. */
export function otherReadings({ text, isAscii, runs }: WrittenText, { lower }: Reading): Reading[] {
  const readings: Reading[] = [];
  const add = (reading: string) => {
    if (reading !== text) readings.push(readingOf(reading));
  };
  if (text.length <= maxIdentifier && !text.includes(" ") && identifierHint.test(lower)) {
    readings.push({ ...readingOf(identifierWords(text).join(" ")), isIdentifier: true });
  }
  if (hasEscapes(text)) add(unescaped(text));
  if (/[a-z][013457@$][a-z]/.test(lower)) add(withoutDigitLetters(text));
  if (!isAscii) {
    add(withLatinLetters(text));
    add(text.replace(/[\u200c\u200d]/g, ""));
  }
  for (const decoded of decodedTexts(runs)) add(decoded);
  return readings;
}

const maxIdentifier = 256;
/** Every identifier that reads like an instruction has one of these words. */
const identifierHint =
  /conversation|prompt|history|chat|instruct|message|secret|passw|credential|ssh|id_|rsa|private|env|etc|file|tool|user|human|reason|anyone|ignore|disregard|forget|bypass|override/;

/** `ignorePrevious_instructions` → `ignore`, `previous`, `instructions`. */
export function identifierWords(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

function hasEscapes(text: string): boolean {
  return text.includes("\\") || text.includes("&#") || text.includes("%");
}

const escapeSequence =
  /\\u\{([0-9a-f]{1,6})\}|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|&#x([0-9a-f]{1,6});|&#(\d{1,7});|%([0-7][0-9a-f])/gi;

/** Replaces escape sequences that were written as text. */
function unescaped(text: string): string {
  return text.replace(escapeSequence, (sequence, braced, unicode, byte, entity, decimal, percent) => {
    const hex = braced ?? unicode ?? byte ?? entity ?? percent;
    const codePoint = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : sequence;
  });
}

/**
 * True if an escape sequence spells a letter of a word. A sequence on its own (`[\u0041-\u005a]`, `%20`) is how
 * patterns and addresses are written.
 */
export function spellsLetters(text: string): boolean {
  if (!hasEscapes(text)) return false;
  let end = -1;
  let wasLetter = false;
  for (const match of text.matchAll(escapeSequence)) {
    const isLetter = /^[A-Za-z]$/.test(unescaped(match[0]));
    const isPercent = match[0].startsWith("%");
    const after = text[match.index + match[0].length] ?? "";
    const before = text[match.index - 1] ?? "";
    const joinsEscape = wasLetter && match.index === end;
    // Addresses hold percent escapes beside letters; only several in a row spell a word.
    if (isLetter && (joinsEscape || (!isPercent && (/[a-z]/i.test(after) || /[a-z]/i.test(before))))) return true;
    end = match.index + match[0].length;
    wasLetter = isLetter;
  }
  return false;
}

const digitLetters: Record<string, string> = { 0: "o", 1: "i", 3: "e", 4: "a", 5: "s", 7: "t", "@": "a", $: "s" };

/** `1gn0r3` → `ignore`. */
function withoutDigitLetters(text: string): string {
  return text.replace(/[013457@$]/g, (digit) => digitLetters[digit] ?? digit);
}

/** Letters of other scripts that look like Latin ones, by what they look like. */
const lookalikes = new Map(
  [
    ["аеорсухіјѕԁһԛԝкАВЕКМНОРСТУХІЈЅ", "aeopcyxijsdhqwkABEKMHOPCTYXIJS"],
    ["οανριυκχτΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "oavpiukxtABEZHIKMNOPTYX"],
    ["օոսհցք", "onuhgp"],
  ].flatMap(([from = "", to = ""]) => Array.from(from, (letter, index): [string, string] => [letter, to[index] ?? ""])),
);

function withLatinLetters(text: string): string {
  return text.replace(/[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/gu, (letter) => {
    return lookalikes.get(letter) ?? letter;
  });
}

const mixedHint =
  /\p{Script=Latin}[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]|[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]\p{Script=Latin}/u;

/**
 * True if a word passes for a Latin one with letters of another script. Not counted: words with letters that have no
 * Latin lookalike, endings after an acronym (`PDFа`), and Greek symbols at the edge of a word (`sinα`) or between
 * capitals (`NFκB`).
 */
export function mixesScripts(text: string): boolean {
  if (!mixedHint.test(text)) return false;
  for (const [word] of text.matchAll(/[\p{L}\p{M}]{2,}/gu)) {
    if (!mixedHint.test(word) || /^[A-Z]+[^\p{Script=Latin}]+$/u.test(word)) continue;
    const foreign = Array.from(word).filter((letter) => !/[\p{Script=Latin}\p{M}]/u.test(letter));
    if (!foreign.every((letter) => lookalikes.has(letter))) continue;
    const isGreek = foreign.every((letter) => /\p{Script=Greek}/u.test(letter));
    if (!isGreek || /[a-z]\p{Script=Greek}+[a-z]/u.test(word)) return true;
  }
  return false;
}

/** Base64 and hex from this length on are decoded, up to a length that holds any sentence. */
const minEncoded = 32;
const maxEncoded = 4_096;
const maxDecoded = 16;

const isBase64 = new Set(
  Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-", (c) => c.charCodeAt(0)),
);

/** Long runs of characters that base64 is written with. A loop, because patterns try every letter of a word as a start. */
export function encodedRuns(text: string): string[] {
  const runs: string[] = [];
  let start = 0;
  for (let at = 0; at <= text.length; at += 1) {
    if (isBase64.has(text.charCodeAt(at))) continue;
    if (at - start >= minEncoded) runs.push(text.slice(start, at));
    start = at + 1;
  }
  return runs;
}

/** Sentences that runs hold in base64 or hex. */
export function decodedTexts(runs: readonly string[]): string[] {
  return runs.slice(0, maxDecoded).flatMap((run) => {
    const start = run.slice(0, maxEncoded);
    const decoded = fromHex(start) ?? fromBase64(start);
    return decoded !== undefined && isSentence(decoded) ? [decoded] : [];
  });
}

function fromHex(run: string): string | undefined {
  if (!/^(?:[0-9a-f]{2})+$/i.test(run)) return undefined;
  return run.replace(/../g, (byte) => String.fromCharCode(Number.parseInt(byte, 16)));
}

function fromBase64(run: string): string | undefined {
  // Text in base64 mixes all three; identifiers and paths lack one of them.
  if (!/[A-Z]/.test(run) || !/[a-z]/.test(run) || !/[0-9]/.test(run)) return undefined;
  // Whole groups of four only: what is cut off at the end is at most three characters.
  const standard = run.replaceAll("-", "+").replaceAll("_", "/");
  const bytes = decodeBase64(standard.slice(0, standard.length - (standard.length % 4)));
  return bytes === undefined ? undefined : String.fromCharCode(...bytes);
}

/** Printable, and mostly letters and spaces. Bytes that only happen to decode hold other characters. */
function isSentence(text: string): boolean {
  if (!/^[\t\n\r\x20-\x7e]+$/.test(text)) return false;
  const words = text.match(/[A-Za-z]{2} /g)?.length ?? 0;
  return words >= 3;
}
