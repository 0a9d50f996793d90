import { clausesOf } from "./clauses.ts";
import { tellingTerms, termsOf } from "./terms.ts";

/** What to look for: the whole of a task, and each of its steps where it has several. */
export interface Question {
  whole: Ask;
  clauses: Ask[];
}

export interface Ask {
  /** Terms that items are found by. */
  terms: string[];
  /** Every term, as often as it occurs: what is said in full means more than its telling words. */
  said: string[];
}

/** Distinct terms of one clause, and of a task: more would only slow it down. */
const mostTermsOfClause = 32;
const mostTerms = 96;

/** Plain words → what to look for; nothing where there is no letter or digit. */
export function readQuestion(text: string): Question | undefined {
  const asks = clausesOf(text).map((clause) => askFor(clause, mostTermsOfClause));
  const clauses = asks.filter(({ terms }) => terms.length > 0);
  const whole = askFor(text, mostTerms);
  return whole.terms.length === 0 ? undefined : { whole, clauses: clauses.length === 0 ? [whole] : clauses };
}

function askFor(text: string, most: number): Ask {
  const said = termsOf(text);
  return { terms: tellingTerms(said).slice(0, most), said };
}
