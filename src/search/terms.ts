import { stemmer } from "stemmer";

/**
 * Text → the terms that items are found by: identifiers taken apart, one spelling, English endings off. What is
 * published and what is asked for go through the same.
 */

/** Of any one text. Past this it says little that is new, and only makes the index longer. */
export const maxCharacters = 4_000;

/** A word as it stands in a text, with the terms it is found by. */
export interface Word {
  start: number;
  end: number;
  terms: string[];
}

const word = /[\p{L}\p{N}\p{M}]+/gu;

/** The words of a text in their order. The places are those of the text as it was given. */
export function* wordsIn(text: string): Generator<Word> {
  for (const { 0: written, index: start } of clipped(text).matchAll(word)) {
    yield { start, end: start + written.length, terms: termsOfWord(written) };
  }
}

/** All the terms of a text in their order, as often as they occur. */
export function termsOf(text: string): string[] {
  const terms: string[] = [];
  for (const written of clipped(text).match(word) ?? []) terms.push(...termsOfWord(written));
  return terms;
}

/** Where a new word begins inside one: `getURL2` → get, URL, 2. */
const humps =
  /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=[\p{L}\p{M}])(?=\p{N})|(?<=\p{N})(?=\p{L})/u;

/** As it is and taken apart. Single letters and digits that fall off are no words. */
function termsOfWord(written: string): string[] {
  const terms = new Set<string>();
  for (const run of normal(written).match(spacelessRun) ?? []) {
    if (run.search(spaceless) !== -1) {
      for (const pair of pairs(run)) terms.add(pair);
      continue;
    }
    terms.add(stem(run));
    for (const part of run.split(humps)) if (part.length > 1) terms.add(stem(part));
  }
  return [...terms];
}

/** One spelling for what looks the same: composed letters, plain digits, no ligatures. */
function normal(text: string): string {
  return clipped(text.normalize("NFKC"));
}

function clipped(text: string): string {
  return text.length <= maxCharacters ? text : text.slice(0, maxCharacters);
}

/** Accents of the scripts that can do without: `café` is found by cafe. */
const accents = /[\u0300-\u036f]/g;
const maxTermLength = 64;

function stem(text: string): string {
  const plain = text.toLowerCase().normalize("NFD").replace(accents, "").normalize("NFC").slice(0, maxTermLength);
  return /^[a-z]+$/.test(plain) ? stemmer(plain) : plain;
}

/** Scripts written without spaces, where a whole clause would be one word. */
const spaceless = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc]/u;
const spacelessRun = new RegExp(`${spaceless.source}+|(?:(?!${spaceless.source}).)+`, "gsu");

/** Two neighbours are nearly as telling as a word, and need no dictionary. One alone is kept too: it may be all there is. */
function pairs(run: string): string[] {
  const characters = [...run];
  const neighbours = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  return characters.length === 1 ? characters : neighbours;
}

/** Words that say nothing about which capability is meant. */
const stopWords = new Set(
  (
    "a about all am an and any are as at be been but by can could did do does for from had has have how i if in into " +
    "is it its just like me my need of on or our please should so some that the their them then there these they this " +
    "those to us using want was we were what when where which who will with would you your"
  ).split(" "),
);
const stopTerms = new Set([...stopWords].map(stem));

/** What of the terms of a question to look for: those that tell something, or all where none does. Each once. */
export function contentTerms(terms: readonly string[]): string[] {
  const distinct = [...new Set(terms)];
  const rareTokens = distinct.filter((term) => !stopTerms.has(term) && !/^[a-z]$/.test(term));
  return rareTokens.length > 0 ? rareTokens : distinct;
}
