/** Clauses of one task that are looked for apart. Past this a task is a document, and the rest goes into the whole. */
const mostClauses = 8;

/** Shorter than this, a clause is a leftover such as "thank you". */
const fewestWords = 3;

/** Words that lead on to the next step. */
const leading =
  "(?:and then|then|after that|afterwards|finally|lastly|next|also|additionally|in addition|furthermore|moreover|besides)";

/** Where one step of a task ends and the next begins: the end of a sentence, a line, or a word that leads on. */
const border = new RegExp(`(?<=[.!?;])\\s+|(?<=[。！？；])|\\n+|,?\\s+\\b${leading}\\b[\\s,]*`, "iu");
const lead = new RegExp(`^${leading}\\b[\\s,]*`, "iu");

/**
 * The steps of a task in plain words: "book a flight, then tell Ann" needs two capabilities, and each is easier to find
 * by its own words than by all of them. The whole text where it is one step.
 */
export function clausesOf(text: string): string[] {
  const clauses = text
    .split(border)
    .map((clause) => clause.trim().replace(lead, ""))
    .filter((clause) => (clause.match(/[\p{L}\p{N}]+/gu)?.length ?? 0) >= fewestWords);
  return clauses.length > 1 ? clauses.slice(0, mostClauses) : [text];
}
