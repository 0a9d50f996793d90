/** What this isolate, its Worker code or the objects in it, has met that an operator should know of. */
export type Problem = "newer-data";

const texts: Record<Problem, string> = {
  "newer-data": "Data of a newer version of Rollcall was found: it is read, and writes to it are refused",
};

const met = new Map<Problem, number>();

export function noteProblem(problem: Problem, now: number): void {
  met.set(problem, now);
}

/** In sentences, with when each was met last. */
export function problemsMet(): { message: string; at: string }[] {
  return [...met].map(([problem, at]) => ({ message: texts[problem], at: new Date(at).toISOString() }));
}
