import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { editDistance, nearest } from "../../../src/kernel/nearest.ts";

const sections = ["tools", "prompts", "resources", "resourceTemplates", "resource_templates", "generators"];

describe("the nearest name", () => {
  it.each([
    ["tool", "tools"],
    ["Tools", "tools"],
    ["TOOLS", "tools"],
    ["toolz", "tools"],
    ["tols", "tools"],
    ["toosl", "tools"],
    ["resourcetemplates", "resourceTemplates"],
    ["resource-template", "resourceTemplates"],
    ["resourceTempaltse", "resourceTemplates"],
    ["generatosr", "generators"],
  ])("of %s is %s", (name, meant) => {
    expect(nearest(name, sections)).toBe(meant);
  });

  it.each(["tool_list", "capabilities", "toys", "sources", "validators", "x", ""])("of %j is none", (name) => {
    expect(nearest(name, sections)).toBeUndefined();
  });

  const parameters = ["tenant", "limit", "cursor", "budget", "partial", "dryRun", "/api/search", "/api/catalog"];

  it.each([
    ["tenent", "tenant"],
    ["tenants", "tenant"],
    ["limti", "limit"],
    ["dryrun", "dryRun"],
    ["/api/serch", "/api/search"],
    ["/api/catalogue", "/api/catalog"],
  ])("of the parameter or path %s is %s", (name, meant) => {
    expect(nearest(name, parameters)).toBe(meant);
  });

  it.each(["q", "li", "colour", "zz", "tenant".repeat(100), "/api", "limit ation"])(
    "of the parameter or path %s is none",
    (name) => {
      expect(nearest(name, parameters)).toBeUndefined();
    },
  );

  it("is the closest of several", () => {
    expect(nearest("description", ["descriptions", "description"])).toBe("descriptions");
    expect(nearest("namee", ["gamer", "name"])).toBe("name");
  });
});

describe("edit distance", () => {
  it("counts one for any single edit, whatever the word", () => {
    const letters = fc.string({ unit: "grapheme-ascii", minLength: 2, maxLength: 20 });
    fc.assert(
      fc.property(letters, fc.nat(), fc.constantFrom("x", "-"), (word, position, letter) => {
        const at = position % (word.length - 1);
        const edits = [
          word.slice(0, at) + letter + word.slice(at),
          word.slice(0, at) + word.slice(at + 1),
          word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2),
        ];
        for (const edited of edits) {
          const expected = edited === word ? 0 : 1;
          expect(editDistance(word, edited, 2)).toBe(expected);
          expect(editDistance(edited, word, 2)).toBe(expected);
        }
      }),
    );
  });

  it("gives up on words of very different length", () => {
    expect(editDistance("a".repeat(1_000), "a", 2)).toBe(3);
  });
});
