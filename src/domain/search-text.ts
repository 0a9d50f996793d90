import { isObject } from "./manifest-parts.ts";

/** What an item is found by: one column of the full-text index each. */
export interface SearchText {
  name: string;
  title: string;
  description: string;
  parameters: string;
  server: string;
}

/** What a server lends its items: searching for it finds them. */
export interface ServerWords {
  name: string;
  title?: string;
}

/** Of any one column. Past this a text says little that is new, and only makes the index longer. */
const columnCharacters = 4_000;

/** The words of a declared item, ready for the index. The query goes through the same splitting. */
export function searchText(
  { key, declared }: { key: string; declared: Record<string, unknown> },
  server: ServerWords,
): SearchText {
  const annotations = isObject(declared.annotations) ? declared.annotations : {};
  // A resource is keyed by its URI and named apart from it.
  const name = declared.name === key ? key : `${key} ${textOf(declared.name)}`;
  return {
    name: prose(identifierWords(normal(name)).join(" ")),
    title: prose(`${textOf(declared.title)} ${textOf(annotations.title)}`),
    description: prose(textOf(declared.description)),
    parameters: parameterText(declared),
    server: prose(`${identifierWords(normal(server.name)).join(" ")} ${server.title ?? ""}`),
  };
}

/** Distinct terms of a query: more would only slow it down. */
const mostTerms = 32;

/**
 * Plain words → an FTS5 query: quoted terms, any of which may match. Only letters and digits get inside the quotes, so
 * nothing a caller writes is ever syntax. Nothing where there is no letter or digit.
 */
export function matchQuery(text: string): string | undefined {
  const words = identifierWords(normal(text)).flatMap(spacelessPairs);
  const telling = words.filter((word) => !stopWords.has(word) && !/^[a-z]$/.test(word));
  const terms = [...new Set(telling.length > 0 ? telling : words)].slice(0, mostTerms);
  return terms.length === 0 ? undefined : terms.map((term) => `"${term}"`).join(" OR ");
}

/** Words that say nothing about which capability is meant. */
const stopWords = new Set(
  (
    "a about all am an and any are as at be been but by can could did do does for from had has have how i if in into " +
    "is it its just like me my need of on or our please should so some that the their them then there these they this " +
    "those to us using want was we were what when where which who will with would you your"
  ).split(" "),
);

/** One spelling for what looks the same: composed letters, plain digits, no ligatures. */
function normal(text: string): string {
  return clipped(clipped(text).normalize("NFKC"));
}

function clipped(text: string): string {
  return text.length <= columnCharacters ? text : text.slice(0, columnCharacters);
}

const word = /[\p{L}\p{N}\p{M}]+/gu;

/** Where a new word begins inside one: `getURL2` → get, URL, 2. */
const humps =
  /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=[\p{L}\p{M}])(?=\p{N})|(?<=\p{N})(?=\p{L})/u;

/** The distinct words of an identifier, as it is and taken apart. Single letters and digits that fall off are no words. */
function identifierWords(text: string): string[] {
  const words = new Set<string>();
  for (const [whole] of text.matchAll(word)) {
    words.add(whole.toLowerCase());
    for (const part of whole.split(humps)) if (part.length > 1) words.add(part.toLowerCase());
  }
  return [...words];
}

/** Scripts written without spaces: the tokenizer would take a whole clause for one word. */
const spaceless = "[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\u30fc]";
const spacelessCharacter = new RegExp(spaceless, "gu");
const spacelessRun = new RegExp(`${spaceless}+|(?:(?!${spaceless}).)+`, "gsu");

/** For the index each character of such a script is a word of its own. */
function prose(text: string): string {
  return normal(text).replace(spacelessCharacter, " $& ").trim();
}

/** In a query, two neighbours make a phrase: nearly as telling as a word, and they need no dictionary. */
function spacelessPairs(text: string): string[] {
  return Array.from(text.matchAll(spacelessRun), ([run]) => run).flatMap((run) => {
    if (run.search(spacelessCharacter) === -1) return [run];
    const characters = [...run];
    if (characters.length === 1) return [run];
    return characters.slice(1).map((character, index) => `${characters[index]} ${character}`);
  });
}

/** Schemas looked into: enough for any real tool, and a bound for the others. */
const mostSchemas = 100;

/** Names of what an item takes, taken apart, with what is said of each; the outermost first. */
function parameterText(declared: Record<string, unknown>): string {
  const said: string[] = [];
  let length = 0;
  const say = (name: string, about: Record<string, unknown>) => {
    const text = `${identifierWords(normal(name)).join(" ")} ${textOf(about.title)} ${textOf(about.description)}`;
    said.push(clipped(text));
    length += text.length;
  };
  for (const list of [declared.arguments, declared.parameters]) {
    if (!Array.isArray(list)) continue;
    for (const item of list.slice(0, mostSchemas)) if (isObject(item)) say(textOf(item.name), item);
  }
  const schemas: unknown[] = [declared.inputSchema];
  for (let at = 0; at < schemas.length && at < mostSchemas && length < columnCharacters; at += 1) {
    const schema = schemas[at];
    if (!isObject(schema)) continue;
    for (const [name, about] of Object.entries(isObject(schema.properties) ? schema.properties : {})) {
      if (length >= columnCharacters) break;
      say(name, isObject(about) ? about : {});
      schemas.push(about);
    }
    schemas.push(schema.items);
  }
  return prose(said.join(" "));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
