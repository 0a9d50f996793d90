import { clip } from "../kernel/text.ts";
import { findPoison } from "../manifest/poison/find.ts";

/**
 * A name that a source gave, for everyone who reads the server. Only names that look like names are shown: the source
 * chose the text, and nothing marks it as the source's words.
 */
export function nameForReaders(name: string | undefined): string {
  return isPlainName(name) ? JSON.stringify(name) : "an item";
}

export function isPlainName(name: string | undefined): name is string {
  return name !== undefined && /^[\x21-\x7e]{1,128}$/.test(name) && findPoison(name, false).length === 0;
}

const maxShown = 200;

/** Words of a source for the members of the tenant: cut, and with every character visible. */
export function visibleWords(text: string): string {
  return clip(text, maxShown).replace(/[^\x20-\x7e]/gu, (character) => {
    const codePoint = character.codePointAt(0) ?? 0;
    return `\\u{${codePoint.toString(16)}}`;
  });
}

/** What a source said, quoted. A text that would be flagged is not repeated: members may be agents. */
export function wordsForMembers(line: string): string {
  const [found] = findPoison(line, false);
  return found === undefined ? visibleWords(JSON.stringify(line)) : `something that is flagged: ${found.rule}`;
}
