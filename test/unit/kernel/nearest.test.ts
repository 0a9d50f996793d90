import { describe, expect, it } from "vitest";
import { nearest } from "../../../src/kernel/nearest.ts";

const known = ["tenant", "limit", "cursor", "budget", "partial", "dryRun", "/api/search", "/api/catalog"];

describe("the nearest known name", () => {
  it.each([
    ["tenent", "tenant"],
    ["tenants", "tenant"],
    ["limti", "limit"],
    ["Limit", "limit"],
    ["dryrun", "dryRun"],
    ["/api/serch", "/api/search"],
    ["/api/catalogue", "/api/catalog"],
  ])("of %s is %s", (name, meant) => {
    expect(nearest(name, known)).toBe(meant);
  });

  it.each(["", "x", "q", "li", "colour", "zz", "tenant".repeat(100), "/api", "limit ation"])(
    "of %s is none",
    (name) => {
      expect(nearest(name, known)).toBeUndefined();
    },
  );

  it("is the first of those that are equally near", () => {
    expect(nearest("cats", ["cars", "caps"])).toBe("cars");
  });
});
