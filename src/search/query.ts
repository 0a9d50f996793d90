import { contentTerms, formsIn, maxCharacters, termsOf } from "./terms.ts";

/** Clauses of one task that are searched separately. Further clauses are joined to the last. */
const maxClauses = 8;

/** A clause with fewer words is joined to its neighbour: "then commit" rarely finds anything by itself. */
const minWords = 3;

/** Words that introduce the next step. */
const leading =
  "(?:and then|then|after that|afterwards|finally|lastly|next|also|additionally|in addition|furthermore|moreover|besides)";

/** Boundary between two steps: the end of a sentence, or a word that introduces the next step. */
const border = new RegExp(`(?<=[.!?;]) |(?<=[。！？；])|,? ${leading}\\b[ ,]*`, "iu");
const lead = new RegExp(`^${leading}\\b[ ,]*`, "iu");

/**
 * Splits a task into steps: "book a flight, then tell Ann" needs two capabilities, and each is easier to find by its
 * own words than by all of them. Only the words that introduce a step are dropped.
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

/** Lines with white space collapsed: long runs of it would make the search for boundaries slow. */
function linesOf(text: string): string[] {
  return text
    .slice(0, maxCharacters)
    .split("\n")
    .map((line) => line.split(/\s+/u).join(" "));
}

/** Search terms of a whole task, and of each of its steps. */
export interface ParsedQuery {
  whole: ClauseTerms;
  clauses: ClauseTerms[];
  /** The last word, if it may be unfinished. */
  unfinished?: { plain: string; term: string };
}

export interface ClauseTerms {
  /** Terms to look up in the index. */
  terms: string[];
  /**
   * All terms, as often as they occur: the meaning of a clause is computed from all its words, common ones included.
   */
  allTerms: string[];
}

/** Limits of distinct terms per clause and per task; more would only slow the search down. */
const maxTermsOfClause = 32;
const maxTerms = 96;

/** Letters that an unfinished word must have: one letter may become anything. */
const minPrefix = 2;

/** The text that was parsed last: who checks a query parses the text first, and who ranks for the query parses it again. */
let last: { text: string; prefix: boolean; parsed: ParsedQuery | undefined } | undefined;

/**
 * Plain words → search terms; undefined if the text has no letter or digit. With `prefix`, the last word is unfinished.
 * Callers must not change the result.
 */
export function parseQuery(text: string, { prefix = false } = {}): ParsedQuery | undefined {
  if (last?.text !== text || last.prefix !== prefix) last = { text, prefix, parsed: parsed(text, prefix) };
  return last.parsed;
}

function parsed(text: string, prefix: boolean): ParsedQuery | undefined {
  const whole = clauseTerms(text, maxTerms);
  const asks = clausesOf(text).map((clause) =>
    clause === text
      ? { ...whole, terms: whole.terms.slice(0, maxTermsOfClause) }
      : clauseTerms(clause, maxTermsOfClause),
  );
  const clauses = asks.filter(({ terms }) => terms.length > 0);
  if (whole.terms.length === 0) return undefined;
  return { whole, clauses: clauses.length === 0 ? [whole] : clauses, unfinished: prefix ? lastWord(text) : undefined };
}

/** The last word of a text, or its last part; undefined if something follows it. */
function lastWord(text: string): ParsedQuery["unfinished"] {
  const last = /[\p{L}\p{N}\p{M}]{1,64}$/u.exec(text.slice(-64))?.[0];
  const [plain, term] = (last === undefined ? [] : [...formsIn(last)]).at(-1) ?? [];
  if (plain === undefined || term === undefined || plain.length < minPrefix) return undefined;
  return { plain, term };
}

function clauseTerms(text: string, most: number): ClauseTerms {
  const said = termsOf(text);
  return { terms: contentTerms(said).slice(0, most), allTerms: said };
}
