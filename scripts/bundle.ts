import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { glob, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "./command.ts";
import { fileList } from "./console-files.ts";
import { projectPath, projectRoot } from "./project.ts";
import { runTool } from "./run-tool.ts";

const bundleDir = projectPath("dist");
/** Holds the fingerprint of the sources that the bundle beside it was made from. */
const stamp = join(bundleDir, ".built");
/** Ignored by git and on the same disk as dist, so that a finished file can be renamed into place. */
const scratchDir = projectPath(".wrangler");

/** The Worker as deployed: one ES module. */
export const bundlePath = join(bundleDir, "index.js");

/** Everything the bundle is made from; what changes none of these cannot change the bundle. */
const inputs = [
  "src/**/*",
  "schemas/**/*",
  "scripts/console-files.ts",
  "wrangler.toml",
  "package.json",
  "package-lock.json",
];

/** Builds only if the sources changed since the last time; `onBuild` is called before the wait. */
export async function ensureBuilt(onBuild: () => void = () => {}): Promise<void> {
  const [wanted, present] = await Promise.all([fingerprint(), readFile(stamp, "utf8").catch(() => "")]);
  if (wanted === present && existsSync(fileList)) return;
  onBuild();
  await build();
}

/**
 * Bundles the Worker exactly as `wrangler deploy` would. Each build has its own scratch directory and renames file by
 * file, the stamp last, so two builds at once cost time but never leave half a bundle.
 */
export async function build(): Promise<void> {
  // Taken first: sources that change during the build make the next ensureBuilt build again.
  const sources = await fingerprint();
  await mkdir(scratchDir, { recursive: true });
  const scratch = await mkdtemp(join(scratchDir, "build-"));
  try {
    const { exitCode, output } = await runTool("wrangler", ["deploy", "--env=", "--dry-run", "--outdir", scratch]);
    if (exitCode !== 0) throw new CommandError(`The Worker could not be built.\n\n${output.trim()}`);
    await writeFile(join(scratch, ".built"), sources);
    await mkdir(bundleDir, { recursive: true });
    const files = (await readdir(scratch)).filter((name) => name !== ".built");
    for (const name of [...files, ".built"]) await rename(join(scratch, name), join(bundleDir, name));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function fingerprint(): Promise<string> {
  const hash = createHash("sha256");
  const paths: string[] = [];
  for await (const entry of glob(inputs, { cwd: projectRoot, withFileTypes: true })) {
    if (entry.isFile()) paths.push(join(entry.parentPath, entry.name));
  }
  for (const path of paths.sort()) {
    const content = await readFile(path);
    hash.update(`${path.slice(projectRoot.length)}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}
