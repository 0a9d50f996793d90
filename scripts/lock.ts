import { readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { errorCode, isUnwritable } from "./command.ts";

export interface Lock {
  /** Tells whoever finds the lock taken who has it. */
  describe(holder: string): void;
  release(): void;
}

/**
 * Takes a lock, or says who has it. It is an exclusive transaction on an empty SQLite file: the operating system ends it
 * with the process, however that dies, so it cannot go stale and no process id is ever mistaken for another's.
 */
export function takeLock(path: string): Lock | { takenBy: string } {
  const holderFile = `${path}.holder`;
  const database = new DatabaseSync(path);
  try {
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    return { takenBy: readHolder(holderFile) };
  }
  // Left by a holder that was killed.
  unlessUnwritable(() => remove(holderFile));
  return {
    describe: (holder) => unlessUnwritable(() => writeFileSync(holderFile, holder, { mode: 0o600 })),
    release() {
      unlessUnwritable(() => remove(holderFile));
      database.close();
    },
  };
}

/** Not `rmSync`: its errors have no code where the disk is read-only. */
function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}

/** A disk that is full or read-only keeps the lock all the same; only the name of its holder is missing. */
function unlessUnwritable(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isUnwritable(error)) throw error;
  }
}

const sqliteBusy = 5;

function isBusy(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && error.errcode === sqliteBusy;
}

function readHolder(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "a server that is just starting";
  }
}
