import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { build, bundlePath } from "./bundle.ts";
import { CommandError, runCommand } from "./command.ts";
import { checkPatterns } from "./patterns/check-patterns.ts";
import { projectPath, projectRoot } from "./project.ts";
import { bindingTypes, runTool } from "./run-tool.ts";

const help = `
Usage: npm run check

Types, lint and format, generated files, binding types, regular expressions, the OpenAPI document, whether wrangler accepts the staging environment, sizes of the bundle, the npm package, the client library and the publisher kit. One line for each; what failed shows why.
`;

/** Bytes; a Worker on the free plan may have 3 MB, and a small one starts sooner. */
const maxBundleSize = 1_140_000;

/** Bytes of the npm package, and gzip of the client library: whole, and of what a search alone needs. */
const maxPackage = { packed: 350_000, unpacked: 1_200_000 };
const maxClient = { whole: 9_000, search: 3_000 };

/** Gzip of the publisher kit with the signing of events; it comes into the bundle of every server that publishes itself. */
const maxPublisher = 6_000;

/** Resolves to what is worth adding to the line; throws with the reason when the check fails. */
type Check = () => Promise<string>;

const checks: Record<string, Check> = {
  "types: src": tool("tsc", "--noEmit", "-p", "tsconfig.json"),
  "types: pages in browsers": tool("tsc", "--noEmit", "-p", "src/console/browser/tsconfig.json"),
  "types: scripts": tool("tsc", "--noEmit", "-p", "scripts/tsconfig.json"),
  "types: bench": tool("tsc", "--noEmit", "-p", "bench/tsconfig.json"),
  "types: tools": tool("tsc", "--noEmit", "-p", "tools/tsconfig.json"),
  "types: package": tool("tsc", "--noEmit", "-p", "packages/rollcall/tsconfig.json"),
  "types: test": tool("tsc", "--noEmit", "-p", "test/tsconfig.json"),
  "lint and format": tool("biome", "check", "."),
  "generated files (npm run generate)": tool("node", "scripts/generate.ts", "--check"),
  "generated files of the package (npm run generate)": tool("node", "packages/rollcall/scripts/generate.ts", "--check"),
  "binding types (npm run generate)": tool("wrangler", ...bindingTypes, "--check"),
  "regular expressions (recheck)": checkPatterns,
  "OpenAPI document": tool("redocly", "lint", "schemas/openapi.json"),
  "bundle size": bundleSize,
  "staging can be deployed (wrangler deploy --dry-run)": tool("wrangler", "deploy", "--env=staging", "--dry-run"),
  "package size": packageSize,
  "client library size": clientSize,
  "publisher kit size": publisherSize,
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

async function packageSize(): Promise<string> {
  // npm is not a tool of the project: it is what installed it.
  const args = ["pack", "-w", "rollcall", "--dry-run", "--json"];
  const { stdout } = await promisify(execFile)("npm", args, { cwd: projectRoot });
  const sizeOf = (name: string) => Number(new RegExp(`"${name}": (\\d+)`).exec(stdout)?.[1]);
  const [packed, unpacked] = [sizeOf("size"), sizeOf("unpackedSize")];
  const figure = `${kB(packed)} packed of at most ${kB(maxPackage.packed)}, ${kB(unpacked)} unpacked of at most ${kB(maxPackage.unpacked)}`;
  const fits = packed <= maxPackage.packed && unpacked <= maxPackage.unpacked;
  if (!fits) throw new CommandError(`The package is too big: ${figure}`);
  return figure;
}

async function publisherSize(): Promise<string> {
  const size = await gzipOf("publisher", "*");
  const figure = `${size} bytes gzip of at most ${maxPublisher}`;
  if (size > maxPublisher) throw new CommandError(`The publisher kit is too big: ${figure}`);
  return figure;
}

async function clientSize(): Promise<string> {
  const whole = await gzipOf("client", "*");
  const search = await gzipOf("client", "{ connect, search }");
  const figure = `${whole} bytes gzip of at most ${maxClient.whole}; connect and search ${search} of at most ${maxClient.search}`;
  if (whole > maxClient.whole || search > maxClient.search)
    throw new CommandError(`The client library is too big: ${figure}`);
  return figure;
}

/** What a bundler makes of an application that imports these names. */
async function gzipOf(part: string, names: string): Promise<number> {
  const application = "\0application";
  const library = projectPath(`packages/rollcall/src/${part}/index.ts`);
  const bundle = await rolldown({
    cwd: projectPath("."),
    input: application,
    platform: "neutral",
    resolve: { mainFields: ["module", "main"] },
    transform: { target: "es2022" },
    plugins: [
      {
        name: "application",
        resolveId: (id) => (id === application ? id : undefined),
        load: (id) => (id === application ? `export ${names} from ${JSON.stringify(library)};` : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ minify: true });
  await bundle.close();
  return gzipSync(output[0].code).length;
}

function kB(bytes: number): string {
  return `${Math.round(bytes / 1000)} kB`;
}
