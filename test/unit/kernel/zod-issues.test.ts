import { describe, expect, it } from "vitest";
import { z } from "zod";
import { zodIssues } from "../../../src/kernel/zod-issues.ts";

const Item = z.strictObject({
  name: z.string().min(1).max(3),
  kind: z.enum(["tool", "prompt"]).optional(),
  count: z.int().min(1).max(9).optional(),
  tags: z.array(z.string()).max(1).optional(),
  on: z.boolean().optional(),
  own: z.string().regex(/^a/, "must start with a").optional(),
  either: z.union([z.string(), z.int()]).optional(),
});
const issues = (value: unknown) =>
  zodIssues(z.object({ tools: z.array(Item) }), { tools: [value] }, "").map(
    ({ path, message }) => `${path} ${message}`,
  );

describe("an issue", () => {
  it.each([
    [{}, "/tools/0/name is missing (a string)"],
    [{ name: 7 }, "/tools/0/name must be a string"],
    [{ name: "" }, "/tools/0/name must have at least 1 character"],
    [{ name: "four" }, "/tools/0/name must have at most 3 characters"],
    [{ name: "a", kind: "tol" }, "/tools/0/kind must be one of tool, prompt"],
    [{ name: "a", count: 1.5 }, "/tools/0/count must be a whole number"],
    [{ name: "a", count: 0 }, "/tools/0/count must be at least 1"],
    [{ name: "a", count: 10 }, "/tools/0/count must be at most 9"],
    [{ name: "a", tags: ["a", "b"] }, "/tools/0/tags must have at most 1 item"],
    [{ name: "a", tags: {} }, "/tools/0/tags must be a list"],
    [{ name: "a", on: "yes" }, "/tools/0/on must be true or false"],
    [{ name: "a", own: "b" }, "/tools/0/own must start with a"],
    [{ name: "a", nam: 1 }, '/tools/0 Unrecognized key: "nam"; did you mean name?'],
    [{ name: "a", colour: 1, size: 2 }, '/tools/0 Unrecognized keys: "colour", "size"'],
    [7, "/tools/0 must be an object"],
  ])("of %j says what is wrong and where", (value, text) => {
    expect(issues(value)).toEqual([text]);
  });

  it("never quotes the value", () => {
    for (const value of ["s3cr3t", { name: ["s3cr3t"] }, { name: "a", kind: "s3cr3t", on: "s3cr3t" }]) {
      expect(JSON.stringify(issues(value))).not.toContain("s3cr3t");
    }
  });
});
