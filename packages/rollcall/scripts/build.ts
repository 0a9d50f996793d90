/** Builds dist/: plain JavaScript for Node 20 and browsers, and types that need no other package. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url).href);
const repository = join(root, "../..");
/** The parts of the package that others import. */
const libraries = ["client", "lock", "publisher", "webhooks"];

/** Writes the built package to `to`; types take longer than everything else. */
export async function buildPackage(to = join(root, "dist"), { types = true } = {}): Promise<void> {
  rmSync(to, { recursive: true, force: true });
  const library = await rolldown({
    cwd: root,
    input: Object.fromEntries(libraries.map((name) => [`${name}/index`, `src/${name}/index.ts`])),
    platform: "neutral",
    resolve: { mainFields: ["module", "main"] },
    transform: { target: "es2022" },
  });
  await library.write({ dir: to, chunkFileNames: "shared/[name].js", minify: false });
  await library.close();

  const cli = await rolldown({
    cwd: root,
    input: { rollcall: "src/cli/rollcall.ts" },
    platform: "node",
    // The other form of jsonc-parser requires files that no bundler sees.
    resolve: { mainFields: ["module", "main"] },
    transform: { target: "node20" },
  });
  await cli.write({ dir: join(to, "cli"), chunkFileNames: "[name].js", minify: true });
  await cli.close();
  chmodSync(join(to, "cli/rollcall.js"), 0o755);
  if (types) writeTypes(to);
  const parts = libraries.map((name) => `rollcall/${name}`).join(", ");
  writeFileSync(join(to, "index.js"), `throw new Error("Import a part of this package: ${parts}");\n`);
}

/** Only what the libraries declare: their types name nothing outside their own folders. */
function writeTypes(to: string): void {
  const scratch = mkdtempSync(join(tmpdir(), "rollcall-types-"));
  try {
    const tsc = join(repository, "node_modules/.bin/tsc");
    const options = ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--rootDir", repository];
    execFileSync(tsc, ["-p", join(root, "tsconfig.json"), ...options, "--outDir", scratch], { stdio: "inherit" });
    for (const name of libraries) {
      const folder = join(scratch, relative(repository, root), "src", name);
      for (const file of readdirSync(folder)) {
        const text = readFileSync(join(folder, file), "utf8");
        const outside = /from "(?:\.\.\/){2,}[^"]*"|from "[^."][^"]*"/.exec(text)?.[0];
        if (outside !== undefined) throw new Error(`src/${name}/${file} shows a type ${outside}`);
        mkdirSync(dirname(join(to, name, file)), { recursive: true });
        const types = text.replaceAll(/(from "|import\(")(\.[^"]+)\.ts"/g, '$1$2.js"');
        // A quarter of the types of the API is indentation.
        writeFileSync(
          join(to, name, file),
          types.replaceAll(/^(?: {4})+/gm, (indent) => "\t".repeat(indent.length / 4)),
        );
      }
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPackage();
