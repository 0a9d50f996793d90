import { describe, expect, it } from "vitest";
import { withoutControls } from "../../../packages/rollcall/src/cli/terminal/printable.ts";
import { compareServer } from "../../../packages/rollcall/src/lock/compare.ts";
import type { CurrentServer } from "../../../packages/rollcall/src/lock/current.ts";
import { formatLockFile, parseLockFile } from "../../../packages/rollcall/src/lock/lock-file.ts";
import { lockServer } from "../../../packages/rollcall/src/lock/pin.ts";

const digest = `sha256-${"1".repeat(64)}`;
const flag = { rule: "hidden-instruction", severity: "high", path: "/instructions", message: "m" };
const server = (flags: CurrentServer["flags"]): CurrentServer => ({
  ...{ digest, tokens: 0, items: new Map(), mismatches: [] },
  flags,
});
const flagged = (locked: CurrentServer, now: CurrentServer) =>
  compareServer(lockServer(locked), now).map(({ item, finding, level }) => [item, finding, level]);

describe("high flags about a server's own texts", () => {
  it("fail if they are new, and not if they were reviewed or acknowledged", () => {
    expect(flagged(server([]), server([flag]))).toEqual([["server", "flagged", "fail"]]);
    expect(flagged(server([flag]), server([flag]))).toEqual([]);
    expect(flagged(server([]), server([{ ...flag, acknowledged: { by: "admin" } }]))).toEqual([]);
  });

  it("are kept in the lock file", () => {
    const lock = { lockfileVersion: 1, registry: "https://r.test", servers: { "a/b": lockServer(server([flag])) } };
    expect(parseLockFile(formatLockFile(lock)).servers["a/b"]?.flags).toEqual(["hidden-instruction"]);
    const damaged = formatLockFile(lock)
      .replace('["hidden-instruction"]', "1")
      .replace(/"flags": \[[^\]]*\]/, '"flags": 1');
    expect(() => parseLockFile(damaged)).toThrow('servers["a/b"].flags is not a list of rules');
  });
});

describe("a line of our own", () => {
  it("keeps its colours and nothing else that moves a cursor", () => {
    const line = "\u001b[31mred\u001b[39m \u001b]0;x\u0007 \u001b[2J";
    expect(withoutControls(line, true)).toBe("\u001b[31mred\u001b[39m \\u001b]0;x\\u0007 \\u001b[2J");
    expect(withoutControls(line, false)).not.toContain("\u001b");
  });
});
