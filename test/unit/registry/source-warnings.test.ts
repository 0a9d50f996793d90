import { describe, expect, it } from "vitest";
import type { SourceStatus } from "../../../src/registry/contract.ts";
import { isSourcePending, isSourceStale, sourceWarnings } from "../../../src/registry/sources/warnings.ts";

const since = "2026-11-17T00:00:00.000Z";

type State = [status: SourceStatus["status"], wasRead: boolean];

function head(...states: State[]) {
  const sources = states.map(([status, wasRead], index): SourceStatus => {
    const lastSynced = wasRead ? since : undefined;
    return { id: `s${index + 1}`, status, since, lastSynced, error: status === "not-read" ? "Publish it" : undefined };
  });
  return { sources };
}

describe("what readers are told about sources", () => {
  it.each<[State, string[]]>([
    [["live", true], []],
    [["pending", false], ["Source s1 was not read yet at its address; nothing of it is shown"]],
    [["pending", true], ["Source s1 was not read since its settings changed; showing its last known capabilities"]],
    [["unreachable", true], ["Source s1 is unreachable; showing its last known capabilities"]],
    [["gated", false], ["Source s1 is gated and was never read at its address; nothing of it is shown"]],
    [["not-read", false], ["Source s1: Publish it"]],
  ])("%j: %j", (state, expected) => {
    expect(sourceWarnings(head(state))).toEqual(expected);
  });

  it.each<[States: State[], pending: boolean, stale: boolean]>([
    [[], false, false],
    [[["live", true]], false, false],
    [[["not-read", false]], false, false],
    [[["pending", false]], true, false],
    [[["pending", true]], false, false],
    [[["unreachable", true]], false, true],
    // Moved to an address that does not answer: nothing older is shown.
    [[["unreachable", false]], true, false],
    [
      [
        ["unreachable", true],
        ["live", true],
      ],
      false,
      false,
    ],
    [
      [
        ["unreachable", true],
        ["not-mcp", false],
      ],
      true,
      true,
    ],
    [
      [
        ["unreachable", true],
        ["not-read", false],
      ],
      false,
      true,
    ],
  ])("%j: pending %s, stale %s", (states, pending, stale) => {
    expect([isSourcePending(head(...states)), isSourceStale(head(...states))]).toEqual([pending, stale]);
  });

  it("is nothing without sources", () => {
    expect([sourceWarnings({}), isSourcePending({}), isSourceStale({})]).toEqual([[], false, false]);
  });
});
