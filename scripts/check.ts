import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build, bundlePath } from "./bundle.ts";
import { CommandError, runCommand } from "./command.ts";
import { bindingTypes, runTool } from "./run-tool.ts";

const help = `
Usage: npm run check

Types, lint and format, generated files, binding types, the OpenAPI document, bundle and its size. One line for each; what failed shows why.
`;

/** Bytes; a Worker on the free plan may have 3 MB, and a small one starts sooner. */
const maxBundleSize = 966_000;

/** Resolves to what is worth adding to the line; throws with the reason when the check fails. */
type Check = () => Promise<string>;

const checks: Record<string, Check> = {
  "types: src": tool("tsc", "--noEmit", "-p", "tsconfig.json"),
  "types: scripts": tool("tsc", "--noEmit", "-p", "scripts/tsconfig.json"),
  "types: bench": tool("tsc", "--noEmit", "-p", "bench/tsconfig.json"),
  "types: tools": tool("tsc", "--noEmit", "-p", "tools/tsconfig.json"),
  "types: test": tool("tsc", "--noEmit", "-p", "test/tsconfig.json"),
  "lint and format": tool("biome", "check", "."),
  "generated files (npm run generate)": tool("node", "scripts/generate.ts", "--check"),
  "binding types (npm run generate)": tool("wrangler", ...bindingTypes, "--check"),
  "OpenAPI document": tool("redocly", "lint", "schemas/openapi.json"),
  "bundle size": bundleSize,
};

await runCommand({ help, options: {} }, async () => {
  let failures = 0;
  for (const [name, check] of Object.entries(checks)) {
    try {
      const note = await check();
      console.log(`✓ ${name}${note && `: ${note}`}`);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      failures += 1;
      console.log(`✗ ${name}\n${error.message.trim().replace(/^/gm, "    ")}`);
    }
  }
  if (failures > 0) throw new CommandError(`${failures} of ${Object.keys(checks).length} checks failed.`);
});

function tool(name: string, ...args: string[]): Check {
  return async () => {
    const { exitCode, output } = await runTool(name, args);
    if (exitCode !== 0) throw new CommandError(output || `${name} exited with ${exitCode}`);
    return "";
  };
}

async function bundleSize(): Promise<string> {
  await build();
  const size = gzipSync(await readFile(bundlePath)).length;
  const figure = `${kB(size)} gzip of at most ${kB(maxBundleSize)}`;
  if (size > maxBundleSize) throw new CommandError(`dist/index.js is too big: ${figure}`);
  return figure;
}

function kB(bytes: number): string {
  return `${Math.round(bytes / 1000)} kB`;
}
