import { stemmer } from "stemmer";

/**
 * Text → search terms: identifiers split, spelling normalised, English words stemmed. Published text and queries go
 * through the same steps.
 */

/** Per text. Longer texts add little new information and only make the index larger. */
export const maxCharacters = 4_000;

/** A word of a text, with its position and its search terms. */
interface Word {
  start: number;
  end: number;
  terms: readonly string[];
}

const word = /[\p{L}\p{N}\p{M}]+/gu;
const beyondAscii = /[\u0080-\uffff]/;
const isWordCode = Uint8Array.from({ length: 128 }, (_, code) => Number(/[A-Za-z0-9]/.test(String.fromCharCode(code))));

/** Words of a text in order, with positions in the original text. */
export function wordsIn(text: string): Iterable<Word> {
  const searched = clipped(text);
  return beyondAscii.test(searched) ? anyWordsIn(searched) : asciiWordsIn(searched);
}

function* anyWordsIn(text: string): Generator<Word> {
  for (const { 0: written, index: start } of text.matchAll(word)) {
    yield { start, end: start + written.length, terms: termsOfWord(written) };
  }
}

/** The same for most texts, several times as fast. */
function* asciiWordsIn(text: string): Generator<Word> {
  let start = -1;
  for (let at = 0; at <= text.length; at += 1) {
    const isInWord = at < text.length && isWordCode[text.charCodeAt(at)] === 1;
    if (isInWord && start === -1) start = at;
    if (isInWord || start === -1) continue;
    yield { start, end: at, terms: termsOfWord(text.slice(start, at)) };
    start = -1;
  }
}

/** All terms of a text in order, with repetitions. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  for (const written of clipped(text).match(word) ?? []) terms.push(...termsOfWord(written));
  return terms;
}

/** Word boundaries inside an identifier: `getURL2` → get, URL, 2. */
const wordBoundaries =
  /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=[\p{L}\p{M}])(?=\p{N})|(?<=\p{N})(?=\p{L})/u;

/** Terms of the whole word and of its parts. Parts of a single character are dropped. */
function termsOfWord(written: string): readonly string[] {
  return takenApart(written).terms;
}

/** A word or a part of it, as spelled and as the term it is found by. */
type Form = [plain: string, term: string];

/** All words of a text and their parts. */
export function* formsIn(text: string): Generator<Form> {
  for (const written of clipped(text).match(word) ?? []) yield* takenApart(written).forms;
}

interface TakenApart {
  forms: readonly Form[];
  terms: readonly string[];
}

/** Words met before, and those not met since before that: texts repeat their words, and taking one apart is costly. */
let words = new Map<string, TakenApart>();
let olderWords = new Map<string, TakenApart>();
const maxWords = 2_048;
const longestWord = 32;

function takenApart(written: string): TakenApart {
  const known = words.get(written);
  if (known !== undefined) return known;
  const apart = olderWords.get(written) ?? takeApart(written);
  if (written.length > longestWord) return apart;
  if (words.size >= maxWords) {
    olderWords = words;
    words = new Map();
  }
  words.set(written, apart);
  return apart;
}

function takeApart(written: string): TakenApart {
  const forms = [...formsOf(written)];
  return { forms, terms: [...new Set(forms.map(([, term]) => term))] };
}

function* formsOf(written: string): Generator<Form> {
  for (const run of normal(written).match(spacelessRun) ?? []) {
    if (run.search(spaceless) !== -1) {
      for (const pair of pairs(run)) yield [pair, pair];
      continue;
    }
    yield formOf(run);
    for (const part of run.split(wordBoundaries)) if (part.length > 1) yield formOf(part);
  }
}

/** Unicode NFKC: composed letters, plain digits, no ligatures. */
function normal(text: string): string {
  return clipped(text.normalize("NFKC"));
}

function clipped(text: string): string {
  return text.length <= maxCharacters ? text : text.slice(0, maxCharacters);
}

/** Combining accents, which are removed: `café` is found by cafe. */
const accents = /[\u0300-\u036f]/g;
const maxTermLength = 64;

function formOf(text: string): Form {
  const plain = plainOf(text);
  return [plain, /^[a-z]+$/.test(plain) ? stemmer(plain) : plain];
}

/** In lower case, without accents. */
function plainOf(text: string): string {
  return text.toLowerCase().normalize("NFD").replace(accents, "").normalize("NFC").slice(0, maxTermLength);
}

/** Scripts written without spaces, where a whole clause would be one word. */
const spaceless = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc]/u;
const spacelessRun = new RegExp(`${spaceless.source}+|(?:(?!${spaceless.source}).)+`, "gsu");

/**
 * Pairs of adjacent characters: nearly as specific as words, and no dictionary is needed. A single character is kept,
 * as it may be the whole text.
 */
function pairs(run: string): string[] {
  const characters = [...run];
  const neighbours = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  return characters.length === 1 ? characters : neighbours;
}

/** Words that do not help to choose a capability. */
const stopWords = new Set(
  (
    "a about all am an and any are as at be been but by can could did do does for from had has have how i if in into " +
    "is it its just like me my need of on or our please should so some that the their them then there these they this " +
    "those to us using want was we were what when where which who will with would you your"
  ).split(" "),
);
const stopTerms = new Set(Array.from(stopWords, (stop) => formOf(stop)[1]));

/** Distinct terms of a query without stop words and single letters; all distinct terms if none is left. */
export function contentTerms(terms: readonly string[]): string[] {
  const distinct = [...new Set(terms)];
  const meaningful = distinct.filter((term) => !stopTerms.has(term) && !/^[a-z]$/.test(term));
  return meaningful.length > 0 ? meaningful : distinct;
}
