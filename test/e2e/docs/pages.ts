import { globSync } from "node:fs";

/** Pages that come before others of their folder. */
const first = ["docs/README.md", "docs/tutorial/agent-developer.md", "docs/tutorial/publisher.md"];

/** Every page with commands, in the order in which a reader meets them. */
export function readingOrder(root: string): string[] {
  const inside = (pattern: string) => {
    const found = globSync(pattern, { cwd: root }).sort();
    return [...first.filter((page) => found.includes(page)), ...found.filter((page) => !first.includes(page))];
  };
  return [
    "README.md",
    ...inside("docs/*.md"),
    ...inside("docs/tutorial/**/*.md"),
    ...inside("docs/how-to/**/*.md"),
    ...inside("docs/reference/**/*.md"),
    ...inside("docs/explanation/**/*.md"),
    "examples/README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
  ];
}
