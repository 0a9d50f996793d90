import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "../../..");
const tracked = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root })
  .toString()
  .split("\n")
  .filter((path) => path !== "" && existsSync(join(root, path)));
const pages = tracked.filter((path) => path.endsWith(".md"));

/** The text without code: brackets there are no links, and `#` begins a comment. */
const prose = (path: string) =>
  readFileSync(join(root, path), "utf8")
    .replace(/^( *)(`{3,})[^\n]*\n[\s\S]*?^\1\2$/gm, "")
    .replace(/^#/gm, "\n#");

/** How a heading is named in a link: as GitHub does it. */
function anchors(path: string): Set<string> {
  const seen = new Map<string, number>();
  const names = Array.from(prose(path).matchAll(/^#{1,6} +(.*)$/gm), ([, heading = ""]) => {
    const text = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const name = text.replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "").replaceAll(" ", "-");
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  });
  return new Set(names);
}

describe.each(pages)("%s", (page) => {
  it("links to files and headings that exist", () => {
    const text = prose(page).replace(/`[^`\n]*`/g, "");
    const targets = Array.from(text.matchAll(/\]\(([^)\s]+)(?: "[^"]*")?\)/g), ([, target = ""]) => target);
    const broken = targets.filter((target) => {
      if (/^[a-z]+:/.test(target)) return false;
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? page : relative(root, join(root, dirname(page), decodeURIComponent(path)));
      if (!existsSync(join(root, file))) return true;
      if (anchor === undefined) return false;
      return statSync(join(root, file)).isDirectory() || !anchors(file).has(anchor);
    });
    expect(broken).toEqual([]);
  });
});

it("pages that code, comments and messages name exist", () => {
  const texts = tracked.filter((path) => /\.(ts|md|toml|json|yaml|sh|py)$/.test(path) && !path.startsWith("package"));
  const missing = texts.flatMap((path) => {
    const named = readFileSync(join(root, path), "utf8").matchAll(/(?<![\w/.-])docs\/[\w/-]+\.(?:md|svg|json)\b/g);
    return Array.from(named, ([name]) => name)
      .filter((name) => !existsSync(join(root, name)))
      .map((name) => `${path}: ${name}`);
  });
  expect(missing).toEqual([]);
});
