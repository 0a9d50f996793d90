import { describe, expect, it } from "vitest";
import { isStorageFault, noteProblem, problemsMet, retryStorage } from "../../../src/kernel/platform/problems.ts";

describe("a fault of storage", () => {
  it.each([
    "internal error; reference = 0a1b2c",
    "database or disk is full: SQLITE_FULL",
    "attempt to write a readonly database: SQLITE_READONLY",
    "disk I/O error: SQLITE_IOERR (extended: SQLITE_IOERR_SHMSIZE)",
  ])("is known by its text: %s", (message) => expect(isStorageFault(message)).toBe(true));

  it.each(["a write left no head for s", "UNIQUE constraint failed: SQLITE_CONSTRAINT"])(
    "is not a fault of the code: %s",
    (message) => expect(isStorageFault(message)).toBe(false),
  );

  it("is told of until a write works, which is tried when somebody asks, and not more than every two seconds", async () => {
    let trials = 0;
    let isFull = true;
    const write = async () => {
      trials += 1;
      if (isFull) throw new Error("SQLITE_FULL");
    };
    await retryStorage(10_000, write);
    expect([trials, problemsMet()]).toEqual([0, []]);
    noteProblem("storage", 10_000);
    await retryStorage(20_000, write);
    await retryStorage(21_000, write);
    expect([trials, problemsMet().map(({ at }) => at)]).toEqual([1, ["1970-01-01T00:00:20.000Z"]]);
    isFull = false;
    await retryStorage(22_500, write);
    expect([trials, problemsMet()]).toEqual([2, []]);
  });
});
