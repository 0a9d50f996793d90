import { describe, expect, it } from "vitest";
import { annotations } from "../../../packages/rollcall/src/cli/commands/verify-text.ts";
import { compareServer } from "../../../packages/rollcall/src/lock/compare.ts";
import { type CurrentServer, itemsOfManifest } from "../../../packages/rollcall/src/lock/current.ts";
import {
  formatLockFile,
  type LockFile,
  lineInLockFile,
  parseLockFile,
} from "../../../packages/rollcall/src/lock/lock-file.ts";
import { lockServer } from "../../../packages/rollcall/src/lock/pin.ts";
import { digestOf } from "../../../src/kernel/digest.ts";

const tool = (name: string, description = "Does it.") => ({ name, description, inputSchema: { type: "object" } });

async function current(tools: object[], known: Partial<CurrentServer> = {}): Promise<CurrentServer> {
  return {
    digest: await digestOf({ tools }),
    tokens: 0,
    flags: [],
    mismatches: [],
    items: await itemsOfManifest({ tools }),
    ...known,
  };
}

describe("a lock file", () => {
  it("is written with sorted keys, and reads back", async () => {
    const servers = {
      "b/two": lockServer(await current([tool("z"), tool("a")])),
      "a/one": lockServer(await current([tool("x")]), ["tool:x"]),
    };
    const lock: LockFile = {
      lockfileVersion: 1,
      registry: "https://r.test",
      servers,
      log: { b: { sequence: 1, hash: "sha256-x" } },
    };
    const text = formatLockFile(lock);
    expect(text.endsWith("}\n")).toBe(true);
    expect(text).not.toMatch(/\d\d:\d\d/);
    expect(text.indexOf('"a/one"')).toBeLessThan(text.indexOf('"b/two"'));
    expect(text.indexOf('"tool:a"')).toBeLessThan(text.indexOf('"tool:z"'));
    expect(formatLockFile(parseLockFile(text))).toBe(text);
    expect(parseLockFile(text).servers["a/one"]).toMatchObject({ partial: true });
    expect(parseLockFile(text).servers["a/one"]?.digest).toBeUndefined();
    expect(text.split("\n")[lineInLockFile(text, "b/two", "tool:z") - 1]).toContain('"tool:z"');
  });

  it("leaves out what moves by itself, as the registry's digest does", async () => {
    const [plain, shown] = await Promise.all([
      itemsOfManifest({ tools: [tool("a")] }),
      itemsOfManifest({ tools: [{ ...tool("a"), enabled: true, lastSynced: null, registry: { tokens: 3 } }] }),
    ]);
    expect(shown.get("tool:a")?.digest).toBe(plain.get("tool:a")?.digest);
  });
});

describe("what was reviewed against what is there", () => {
  const findings = async (before: object[], after: object[], known: Partial<CurrentServer> = {}, options = {}) =>
    compareServer(lockServer(await current(before)), await current(after, known), options).map(
      ({ item, finding, level }) => `${level} ${item} ${finding}`,
    );

  it("passes unchanged", async () => {
    expect(await findings([tool("a")], [tool("a")])).toEqual([]);
  });

  it("fails for changed and removed items, warns of new ones", async () => {
    expect(await findings([tool("a"), tool("b")], [tool("a", "Else."), tool("c")])).toEqual([
      "fail tool:a changed",
      "fail tool:b removed",
      "warn tool:c added",
    ]);
    expect(await findings([tool("a")], [tool("a"), tool("c")], {}, { strict: true })).toEqual(["fail tool:c added"]);
  });

  it("fails for a change of the server's own members", async () => {
    expect(await findings([tool("a")], [tool("a")], { digest: "sha256-other" })).toEqual(["fail server changed"]);
  });

  it("fails for withdrawn, new high flags and wrong digests; notes what is pending", async () => {
    expect(
      await findings([tool("a")], [tool("a")], { status: "withdrawn", isPending: true, mismatches: ["tool:a"] }),
    ).toEqual(["fail server withdrawn", "note server pending", "fail tool:a wrong-digest"]);
    const flagged = await current([tool("a")]);
    const locked = lockServer(flagged);
    flagged.items
      .get("tool:a")
      ?.flags.push({ rule: "exfiltration", severity: "high", path: "/description", message: "m" });
    expect(compareServer(locked, flagged)).toMatchObject([{ finding: "flagged", level: "fail" }]);
    expect(compareServer(lockServer(flagged), flagged)).toEqual([]);
  });

  it("lets a class pass if that is chosen, and never an unknown one", async () => {
    const locked = lockServer(await current([tool("a")]));
    const now = await current([tool("a", "Else.")]);
    const change = { kind: "tool" as const, name: "a", breaking: false, reasons: [] };
    const counts = { breaking: 0, additive: 0, cosmetic: 1, removed: 0 };
    const diff = { from: "", to: "", counts, changes: [{ ...change, classification: "cosmetic" as const }] };
    expect(compareServer(locked, now, { allow: ["cosmetic"], diff })).toMatchObject([
      { class: "cosmetic", level: "warn" },
    ]);
    expect(compareServer(locked, now, { allow: ["cosmetic"] })).toMatchObject([{ class: "unknown", level: "fail" }]);
  });
});

describe("annotations of GitHub Actions", () => {
  it("escape what would end them, and are ten at most", () => {
    const finding = {
      item: "tool:a",
      finding: "changed" as const,
      level: "fail" as const,
      reasons: ["50% of\n::error::x"],
    };
    const verdict = {
      server: "a/b",
      ok: false,
      locked: null,
      current: null,
      items: 12,
      findings: Array(12).fill(finding),
    };
    const lines = annotations([verdict], { path: "a,b:c.json", text: "" });
    expect(lines).toHaveLength(11);
    expect(lines[0]).toBe(
      "::error file=a%2Cb%3Ac.json,line=1,title=a/b tool a changed::50%25 of ::error::x%0Arollcall diff a/b",
    );
    expect(lines[10]).toContain("and 2 more");
  });
});
