import { describe, expect, it } from "vitest";
import { claimIssues } from "../../../../src/manifest/intake/claims.ts";
import { readIntake } from "../../../../src/manifest/intake/intake.ts";

const says = {
  digest: "sha256-a",
  tokens: 12,
  status: "active",
  flags: [{ rule: "shadowing" as const, path: "/description" }],
};
const paths = (claims: Record<string, unknown>) => claimIssues(claims, says, "/tools/0").map(({ path }) => path);

describe("what only the registry may state", () => {
  it("is left out, of items too", () => {
    const claims = {
      flags: [],
      verified: true,
      review: "approved",
      pending: true,
      tokens: 1,
      digest: "x",
      registry: {},
    };
    const intake = readIntake({ value: { ...claims, tools: [{ name: "t", ...claims }] }, issues: [] });
    if (!intake.ok) throw new Error(intake.error.message);
    expect(intake.value.document).toEqual({ tools: [{ name: "t" }] });
    expect(intake.value.claims).toEqual({ header: claims, items: [{ path: "/tools/0", claims }] });
    expect(intake.value.warnings.filter(({ rule }) => rule === "unknown-member")).toEqual([]);
  });

  it("is worth a warning only where it differs from what the registry says", () => {
    expect(paths({ ...says, verified: false, pending: null, review: null, generation: 7, lastSynced: "x" })).toEqual(
      [],
    );
    expect(paths({ digest: "sha256-b", tokens: 13, status: "deprecated", flags: [] })).toEqual([
      ...["/tools/0/digest", "/tools/0/tokens", "/tools/0/status", "/tools/0/flags"],
    ]);
    expect(paths({ verified: true, review: "approved", pending: true })).toHaveLength(3);
  });

  it("is compared inside a member registry, as far as it is stated elsewhere", () => {
    expect(
      paths({ registry: { tenant: "acme", digest: says.digest, tokens: says.tokens, flags: says.flags } }),
    ).toEqual([]);
    expect(paths({ registry: { verified: true } })).toEqual(["/tools/0/registry"]);
    expect(paths({ registry: 1 })).toEqual(["/tools/0/registry"]);
  });

  it("tells the state of sources in an answer from sources of a config", () => {
    expect(paths({ sources: [{ id: "a", status: "live", since: "2026-01-01" }] })).toEqual([]);
    expect(paths({ sources: [{ type: "sse", url: "https://a.example" }] })).toEqual(["/tools/0/sources"]);
  });
});
