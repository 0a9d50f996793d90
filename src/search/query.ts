import { contentTerms, maxCharacters, termsOf } from "./terms.ts";

/** Clauses of one task that are looked for apart. What is past them goes with the last. */
const maxClauses = 8;

/** Shorter than this, a clause goes with the one before: "then commit" is seldom found by itself. */
const minWords = 3;

/** Words that lead on to the next step. */
const leading =
  "(?:and then|then|after that|afterwards|finally|lastly|next|also|additionally|in addition|furthermore|moreover|besides)";

/** Where one step of a task ends and the next begins: the end of a sentence, or a word that leads on. */
const border = new RegExp(`(?<=[.!?;]) |(?<=[。！？；])|,? ${leading}\\b[ ,]*`, "iu");
const lead = new RegExp(`^${leading}\\b[ ,]*`, "iu");

/**
 * The steps of a task in plain words: "book a flight, then tell Ann" needs two capabilities, and each is easier to find
 * by its own words than by all of them. Every word is in one of them, but for those that lead on.
 */
export function clausesOf(text: string): string[] {
  const clauses: string[] = [];
  for (const part of linesOf(text).flatMap((line) => line.split(border))) {
    const clause = part.trim().replace(lead, "");
    const before = clauses.at(-1);
    const joins = before !== undefined && (isShort(clause) || isShort(before) || clauses.length === maxClauses);
    if (joins) clauses[clauses.length - 1] = `${before} ${clause}`;
    else if (clause !== "") clauses.push(clause);
  }
  return clauses.length > 1 ? clauses : [text];
}

function isShort(clause: string): boolean {
  return (clause.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) < minWords;
}

/** Without runs of white space, which would make looking for borders slow. */
function linesOf(text: string): string[] {
  return text
    .slice(0, maxCharacters)
    .split("\n")
    .map((line) => line.split(/\s+/u).join(" "));
}

/** What to look for: the whole of a task, and each of its steps where it has several. */
export interface ParsedQuery {
  whole: ClauseTerms;
  clauses: ClauseTerms[];
}

export interface ClauseTerms {
  /** Terms that items are found by. */
  terms: string[];
  /** Every term, as often as it occurs: what is said in full means more than its telling words. */
  said: string[];
}

/** Distinct terms of one clause, and of a task: more would only slow it down. */
const maxTermsOfClause = 32;
const maxTerms = 96;

/** Plain words → what to look for; nothing where there is no letter or digit. */
export function parseQuery(text: string): ParsedQuery | undefined {
  const asks = clausesOf(text).map((clause) => askFor(clause, maxTermsOfClause));
  const clauses = asks.filter(({ terms }) => terms.length > 0);
  const whole = askFor(text, maxTerms);
  return whole.terms.length === 0 ? undefined : { whole, clauses: clauses.length === 0 ? [whole] : clauses };
}

function askFor(text: string, most: number): ClauseTerms {
  const said = termsOf(text);
  return { terms: contentTerms(said).slice(0, most), said };
}
