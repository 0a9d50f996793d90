import { copyFileSync, globSync, mkdirSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { type RolldownOptions, rolldown } from "rolldown";
import type { Plugin } from "vitest/config";

const root = join(import.meta.dirname, "../..");
/** Ignored by git; made anew by every run. */
const bundleDir = join(root, ".wrangler/tests");

/** Packages that worker tests import themselves: the Worker's own copies where it has one. */
const packages = ["fast-check", "jose", "yaml", "zod"];

/** What few tests need, or the Worker itself loads only when needed: files of their own. */
const apart = /node_modules\/(fast-check|gpt-tokenizer|@modelcontextprotocol)\/|src\/sources\/mcp-sdk\.ts$/;

/**
 * Gives worker tests the Worker as one module. Each test file has a fresh isolate, and handing it some hundred modules
 * one by one costs far more than most files' tests. So everything goes into one file, made once per run, and each file
 * below src/ becomes a few lines that re-export its part: a test imports what it likes, and meets the same classes as
 * the Worker itself.
 */
export function oneModule(): Plugin {
  let bundled: Promise<void> | undefined;
  let watching = false;
  return {
    name: "one-module",
    enforce: "pre",
    config: {
      order: "post",
      handler(config) {
        const deps = config.test?.server?.deps;
        if (deps === undefined) return;
        // workerd loads the bundle itself; everything else, the tests above all, still comes through Vite.
        deps.external = [/\/\.wrangler\/tests\//];
        deps.inline = [/^(?!.*\/\.wrangler\/tests\/)/];
      },
    },
    configureVitest({ project, vitest }) {
      // A watched run must see every change, which the modules as they are do best.
      watching = vitest.config.watch;
      project.config.onStackTrace = (_error, frame) => toSource(frame);
    },
    async resolveId(id, importer) {
      const path = packages.includes(id) ? id : sourceOf(id, importer);
      if (path === undefined || watching) return;
      bundled ??= bundle();
      await bundled;
      return join(bundleDir, `${path}.mjs`);
    },
  };
}

/** Where an import leads below the root without its ending, if it leads to the Worker's sources. */
function sourceOf(id: string, importer: string | undefined): string | undefined {
  const path = relative(root, importer === undefined ? id : resolve(dirname(importer), id));
  return path.startsWith("src/") ? /^(.*)\.tsx?$/.exec(path)?.[1] : undefined;
}

async function bundle(): Promise<void> {
  const sources = globSync("src/**/*.{ts,tsx}", { cwd: root, exclude: ["src/console/browser/**"] });
  const options: RolldownOptions = {
    cwd: root,
    input: Object.fromEntries([
      ...sources.map((path) => [path.replace(/\.tsx?$/, ""), `./${path}`]),
      ...packages.map((name) => [name, name]),
    ]),
    platform: "browser",
    external: /^(cloudflare|node):/,
    plugins: [
      {
        name: "wasm",
        // workerd compiles it, from a copy at the same place below the bundle.
        resolveId: (id, importer) =>
          id.endsWith(".wasm") && importer !== undefined
            ? { id: resolve(dirname(importer), id), external: "relative" }
            : undefined,
      },
    ],
    // As Wrangler resolves packages.
    resolve: { conditionNames: ["workerd", "worker", "browser", "module", "import"] },
  };
  const build = await rolldown(options);
  await build.write({
    dir: bundleDir,
    cleanDir: true,
    sourcemap: true,
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name].mjs",
    codeSplitting: { groups: [{ name: "worker", test: (id) => !apart.test(id) }] },
  });
  for (const path of globSync("src/**/*.wasm", { cwd: root })) {
    mkdirSync(join(bundleDir, dirname(path)), { recursive: true });
    copyFileSync(join(root, path), join(bundleDir, path));
  }
}

const maps = new Map<string, SourceMap>();

/** Shows where in the sources a failure was, not where in the bundle. */
function toSource(frame: { file: string; line: number; column: number }): void {
  // workerd omits a path's first slash, whereupon Vitest puts its own directory in front of it.
  const start = frame.file.lastIndexOf(bundleDir);
  if (start === -1) return;
  const path = frame.file.slice(start);
  const map = maps.get(path) ?? new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8")));
  maps.set(path, map);
  const origin = map.findOrigin(frame.line, frame.column);
  if (!("fileName" in origin)) return;
  frame.file = resolve(dirname(path), origin.fileName);
  frame.line = origin.lineNumber;
  frame.column = origin.columnNumber;
}
