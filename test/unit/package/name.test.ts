import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** The name is not ours on npm: whoever takes it would run code at every reader of a line that lets npx fetch it. */
it("no text tells npx to fetch the package", () => {
  const files = globSync([
    "*.md",
    "docs/**/*.md",
    "packages/rollcall/*.md",
    "packages/rollcall/src/**/*.ts",
    "src/**/*.ts",
    "examples/**/*",
    ".github/**/*.yml",
    "packages/python/*",
  ]);
  const fetching = files.filter((file) => {
    if (!/\.(md|ts|sh|py|json|yml)$/.test(file)) return false;
    return /npx (?!--no-install)(?:-\S+ )*rollcall\b|npm (?:i|install) (?:-\S+ )*rollcall\b/.test(
      readFileSync(file, "utf8"),
    );
  });
  expect(files.length).toBeGreaterThan(100);
  expect(fetching).toEqual([]);
});
