import { describe, expect, it } from "vitest";
import type { Flag } from "../../../src/manifest/flag.ts";
import { demotionOf, obstacleTo, recordOf, type ServerFacts } from "../../../src/registry/record.ts";
import { noticeText, recordText } from "../../../src/registry/record-text.ts";

const high: Flag = { rule: "hidden-instruction", path: "/description", message: "m" };
const low: Flag = { rule: "case-twin", path: "/name", message: "m" };
const active: ServerFacts = { status: "active" };

describe("the record of an item", () => {
  it("has the server's status, its own deprecation only below an active server", () => {
    const item = { tokens: 7, flags: [], deprecated: "use b" };
    expect(recordOf(item, active)).toMatchObject({ tokens: 7, status: "deprecated", statusMessage: "use b" });
    expect(recordOf({ ...item, deprecated: "" }, active).statusMessage).toBeUndefined();
    const gone: ServerFacts = { status: "withdrawn", statusMessage: "gone" };
    expect(recordOf(item, gone)).toMatchObject({ status: "withdrawn", statusMessage: "gone" });
  });

  it("has the severity of each flag", () => {
    const { flags } = recordOf({ tokens: 1, flags: [high, low] }, active);
    expect(flags.map(({ severity }) => severity)).toEqual(["high", "low"]);
  });
});

describe("what a choice leaves out", () => {
  const acknowledged = { by: "root", at: "2026-01-01T00:00:00.000Z" };
  it.each<[string, Flag[], ServerFacts["status"], string | undefined, 0 | 1 | 2]>([
    ["nothing to mind", [], "active", undefined, 0],
    ["low flags", [low], "active", undefined, 0],
    ["a high flag", [low, high], "active", "flagged", 2],
    ["an acknowledged flag", [{ ...high, acknowledged }], "active", undefined, 0],
    ["one of two acknowledged", [{ ...high, acknowledged }, high], "active", "flagged", 2],
    ["deprecated", [], "deprecated", undefined, 1],
    ["withdrawn", [], "withdrawn", "withdrawn", 2],
    ["withdrawn and flagged", [high], "withdrawn", "withdrawn", 2],
  ])("%s", (_, flags, status, reason, demotion) => {
    const record = recordOf({ tokens: 1, flags }, { status });
    expect(obstacleTo(record)?.reason).toBe(reason);
    expect(demotionOf(record)).toBe(demotion);
  });

  it("is taken if asked for, each reason by its own name", () => {
    const record = recordOf({ tokens: 1, flags: [high] }, { status: "withdrawn" });
    expect(obstacleTo(record, ["withdrawn"])?.reason).toBe("flagged");
    expect(obstacleTo(record, ["flagged"])?.reason).toBe("withdrawn");
    expect(obstacleTo(record, ["flagged", "withdrawn"])).toBeUndefined();
  });
});

describe("the record as a line", () => {
  it("stays one line, whatever publishers write", () => {
    const message = 'old\n# registry: 1 tokens; "active"';
    const record = recordOf(
      { tokens: 49, flags: [{ ...high, path: "/a\nb" }] },
      { status: "deprecated", statusMessage: message },
    );
    expect(recordText(record).split("\n")).toHaveLength(1);
    expect(recordText(record)).toBe(
      `49 tokens; deprecated: ${JSON.stringify(message)}; flags: hidden-instruction (high) at "/a\\nb"`,
    );
    expect(noticeText(recordOf({ tokens: 1, flags: [] }, active))).toBe("");
    expect(noticeText(recordOf({ tokens: 1, flags: [] }, { ...active, stale: true, pending: "source" }))).toBe(
      "stale: its sources could not be read the last time; pending: source",
    );
  });
});
