import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { projectPath } from "./project.ts";

/**
 * Makes the console's static files: scripts, styles, fonts and icon, each under a name with a hash of its content, and
 * `files.json`, the list of what the Worker may serve. Ignored by git; wrangler runs this before it bundles, and so do the
 * tests.
 */

const target = projectPath("assets", "console");
export const fileList = join(target, "files.json");

const source = (name: string) => projectPath("src", "console", "browser", name);
const font = (family: string) =>
  projectPath("node_modules", "@fontsource-variable", family, "files", `${family}-latin-wght-normal.woff2`);

export async function buildConsoleFiles(): Promise<Record<string, string>> {
  await mkdir(target, { recursive: true });
  const names: Record<string, string> = {};
  const add = async (name: string, content: Uint8Array | string) => {
    const hash = createHash("sha256").update(content).digest("hex").slice(0, 12);
    const [stem, ending] = name.split(".");
    const file = `${stem}.${hash}.${ending}`;
    await place(file, content);
    names[name] = file;
  };
  await add("instrument-sans.woff2", await readFile(font("instrument-sans")));
  await add("geist-mono.woff2", await readFile(font("geist-mono")));
  await add("icon.svg", await readFile(source("icon.svg")));
  const sheets = (await readdir(source("styles"))).sort();
  const css = (await Promise.all(sheets.map((name) => readFile(source(`styles/${name}`), "utf8")))).join("");
  await add("console.css", smaller(css.replaceAll(/url\("([^"]+)"\)/g, (_, name: string) => `url("${names[name]}")`)));
  await add("theme.js", await script("theme.ts"));
  await add("console.js", await script("console.ts"));
  await place("files.json", JSON.stringify(names));
  for (const old of await readdir(target)) {
    if (old !== "files.json" && !Object.values(names).includes(old)) await rm(join(target, old), { force: true });
  }
  return names;
}

/** Renamed into place: whoever reads meanwhile sees the old file or the new one. */
async function place(file: string, content: Uint8Array | string): Promise<void> {
  const scratch = join(target, `.${file}.${process.pid}`);
  await writeFile(scratch, content);
  await rename(scratch, join(target, file));
}

/** Our own style sheet has no text in which spaces matter. */
function smaller(css: string): string {
  return css
    .replaceAll(/\/\*.*?\*\//gs, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/ ?([{};,>]) ?/g, "$1")
    .replaceAll(/: /g, ":")
    .replaceAll(";}", "}")
    .trim();
}

async function script(name: string): Promise<string> {
  const bundle = await rolldown({ cwd: projectPath("."), input: source(name), platform: "browser" });
  const { output } = await bundle.generate({ format: "iife", minify: true });
  await bundle.close();
  return output[0].code;
}

if (import.meta.main) await buildConsoleFiles();
