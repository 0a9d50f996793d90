import { describe, expect, it } from "vitest";
import { etagOf, matchesEtag, meetsPrecondition, preconditionOf } from "../../../src/kernel/etag.ts";

const digest = `sha256-${"a".repeat(64)}`;
const head = { digest, overlay: 3 };

describe("tags", () => {
  it("carry digest, overlay revision and view version", () => {
    expect(etagOf(head, "c1")).toBe(`W/"${digest}.3.c1"`);
    expect(etagOf({ overlay: 1 }, "c1")).toBe('W/"none.1.c1"');
  });

  it.each([
    ["the tag itself", `W/"${digest}.3.c1"`, true],
    ["its strong form", `"${digest}.3.c1"`, true],
    ["any", "*", true],
    ["one of a list", `"x", W/"${digest}.3.c1"`, true],
    ["another overlay", `W/"${digest}.2.c1"`, false],
    ["another view", `W/"${digest}.3.c2"`, false],
    ["nonsense", "junk", false],
  ])("match %s: %s → %s", (_, header, expected) => {
    expect(matchesEtag(header, etagOf(head, "c1"))).toBe(expected);
  });
});

describe("preconditions of a write", () => {
  const met = (ifMatch: string | undefined, ifNoneMatch: string | undefined, current: typeof head | undefined) => {
    const condition = preconditionOf(ifMatch, ifNoneMatch);
    return condition === undefined || meetsPrecondition(condition, current);
  };

  it.each([
    ["no header", undefined, undefined, true, true],
    ["If-Match: *", "*", undefined, true, false],
    ["If-None-Match: *", undefined, "*", false, true],
    ["a tag of any view", `W/"${digest}.3.other"`, undefined, true, false],
    ["the digest", `"${digest}"`, undefined, true, false],
    ["an older overlay", `W/"${digest}.2.c1"`, undefined, false, false],
    ["a prefix of the digest", `"${digest.slice(0, 20)}"`, undefined, false, false],
    ["an overlay that only starts the same", `"${digest}.30.c1"`, undefined, false, false],
    ["an empty header", "", undefined, false, false],
  ])("%s", (_, ifMatch, ifNoneMatch, whenPresent, whenAbsent) => {
    expect(met(ifMatch, ifNoneMatch, head)).toBe(whenPresent);
    expect(met(ifMatch, ifNoneMatch, undefined)).toBe(whenAbsent);
  });
});
