import { readdir, readFile } from "node:fs/promises";
import { parseAst } from "rolldown/parseAst";
import { projectPath } from "../project.ts";

/** A regular expression of the source, and the file that has it. */
export interface Pattern {
  file: string;
  source: string;
  flags: string;
}

/** Makes patterns out of texts that come with a request: one that is only compiled, to learn whether it is valid. */
const compiledOnly = ["formats/rtfs/print-schema.ts", "formats/rtfs/schema.ts"];

/** Makes a pattern in the browser, of the names of an event's fields. */
const inBrowsers = ["console/browser/events.ts"];

/** Every regular expression of `src`: those that are written there, and those that modules put together when they load. */
export async function collectPatterns(): Promise<Pattern[]> {
  const root = projectPath("src");
  const files = (await readdir(root, { recursive: true })).filter((name) => /\.tsx?$/.test(name)).sort();
  const found: Pattern[] = [];
  for (const file of files) {
    const text = await readFile(`${root}/${file}`, "utf8");
    const program = parseAst(text, { lang: file.endsWith("x") ? "tsx" : "ts" });
    const { literals, composes } = patternsIn(program);
    found.push(...literals.map((literal) => ({ file, ...literal })));
    if (composes && ![...compiledOnly, ...inBrowsers].includes(file)) {
      found.push(...(await composedBy(`${root}/${file}`)).map((composed) => ({ file, ...composed })));
    }
  }
  return found;
}

interface Found {
  literals: Omit<Pattern, "file">[];
  /** Whether `RegExp` is called. */
  composes: boolean;
}

function patternsIn(program: unknown): Found {
  const found: Found = { literals: [], composes: false };
  const open: unknown[] = [program];
  while (open.length > 0) {
    const node = open.pop();
    if (typeof node !== "object" || node === null) continue;
    const { type, regex, callee } = node as {
      type?: string;
      regex?: { pattern: string; flags: string };
      callee?: { name?: string };
    };
    if (type === "Literal" && regex) found.literals.push({ source: regex.pattern, flags: regex.flags });
    if ((type === "NewExpression" || type === "CallExpression") && callee?.name === "RegExp") found.composes = true;
    open.push(...Object.values(node));
  }
  return found;
}

/** Loads a module and notes what it makes of `RegExp`. */
async function composedBy(path: string): Promise<Omit<Pattern, "file">[]> {
  const composed: Omit<Pattern, "file">[] = [];
  const { RegExp: original } = globalThis;
  globalThis.RegExp = new Proxy(original, {
    construct(target, [pattern, flags], newTarget) {
      const made = Reflect.construct(target, [pattern, flags], newTarget) as RegExp;
      composed.push({ source: made.source, flags: made.flags });
      return made;
    },
  });
  try {
    // A query makes it load again, where another module loaded it before.
    await import(`${path}?patterns`);
  } finally {
    globalThis.RegExp = original;
  }
  return composed;
}
