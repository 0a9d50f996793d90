import { wordsIn } from "./terms.ts";

/** Where words of a text match, as [start, end) in UTF-16 code units: whoever shows the text decides how to mark them. */
export type Highlights = [start: number, end: number][];

const mostHighlights = 20;

export function highlightsIn(text: string, terms: ReadonlySet<string>): Highlights {
  const found: Highlights = [];
  for (const word of wordsIn(text)) {
    if (found.length === mostHighlights) break;
    if (word.terms.some((term) => terms.has(term))) found.push([word.start, word.end]);
  }
  return found;
}
