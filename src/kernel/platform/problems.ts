/** What this isolate, its Worker code or the objects in it, has met that an operator should know of. */
export type Problem = "newer-data" | "storage";

const texts: Record<Problem, string> = {
  "newer-data": "Data of a newer version of Rollcall was found: it is read, and writes to it are refused",
  storage: "The storage of an object failed; on a machine of your own, look whether its disk is full or read-only",
};

const met = new Map<Problem, number>();

export function noteProblem(problem: Problem, now: number): void {
  met.set(problem, now);
}

/** In sentences, with when each was met last. */
export function problemsMet(): { message: string; at: string }[] {
  return [...met].map(([problem, at]) => ({ message: texts[problem], at: new Date(at).toISOString() }));
}

/**
 * True for an error of an object whose storage failed. The runtime hides the reason from the caller of an object; what it
 * shows instead is always a fault of the platform, never of the code.
 */
export function isStorageFault(message: string): boolean {
  return /^internal error; reference = |SQLITE_(FULL|READONLY|IOERR|CANTOPEN)/.test(message);
}

/** What an object throws where it cannot return a failure; callers know it by its text, all that is left of it. */
export const newerDataError = "This object has data of a newer version of Rollcall";

/** A storage that failed is tried again when somebody asks how things are, at most this often. */
const betweenTrialsMs = 2_000;
let triedAt = 0;

/** Forgets that storage failed once `write` works again. */
export async function retryStorage(now: number, write: () => Promise<void>): Promise<void> {
  if (!met.has("storage") || Math.abs(now - triedAt) < betweenTrialsMs) return;
  triedAt = now;
  try {
    await write();
    met.delete("storage");
  } catch {
    noteProblem("storage", now);
  }
}
