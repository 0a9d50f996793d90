import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildPackage } from "../../../packages/rollcall/scripts/build.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url).href);

/** The package as a stranger has it: packed, and installed into an empty folder. */
export interface Installed {
  /** The folder; its node_modules has the package alone. */
  folder: string;
  tarball: { path: string; bytes: number; unpacked: number; files: string[] };
  remove(): void;
}

let packed: { path: string; bytes: number; unpacked: number; files: string[] } | undefined;

/** `npm pack` builds the package; once for all tests of a file. */
function pack(): NonNullable<typeof packed> {
  if (packed !== undefined) return packed;
  const folder = mkdtempSync(join(tmpdir(), "rollcall-pack-"));
  const args = ["pack", "-w", "rollcall", "--json", "--pack-destination", folder];
  const text = execFileSync("npm", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const said = JSON.parse(text.slice(text.search(/^[[{]/m)));
  const [{ filename, size, unpackedSize, files }] = Array.isArray(said) ? said : Object.values<(typeof said)[0]>(said);
  const names = files.map(({ path }: { path: string }) => path);
  packed = { path: join(folder, filename), bytes: size, unpacked: unpackedSize, files: names };
  return packed;
}

export function installPackage(): Installed {
  const tarball = pack();
  const folder = mkdtempSync(join(tmpdir(), "rollcall-empty-"));
  writeFileSync(join(folder, "package.json"), '{"private": true}\n');
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball.path], {
    cwd: folder,
    stdio: "ignore",
  });
  return { folder, tarball, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The same without npm and without types, for tests that only run it. */
export async function buildInstalled(): Promise<Installed> {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-built-"));
  const home = join(folder, "node_modules/rollcall");
  for (const part of ["package.json", "schemas"])
    cpSync(join(root, "packages/rollcall", part), join(home, part), { recursive: true });
  await buildPackage(join(home, "dist"), { types: false });
  const tarball = { path: "", bytes: 0, unpacked: 0, files: [] };
  return { folder, tarball, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** For afterAll. */
export function removePacked(): void {
  if (packed !== undefined) rmSync(dirname(packed.path), { recursive: true, force: true });
  packed = undefined;
}

let known: Map<number, string> | undefined;

/** Every Node on this machine that the package must run on, by major version. */
export function nodes(): Map<number, string> {
  known ??= findNodes();
  return known;
}

function findNodes(): Map<number, string> {
  const found = new Map<number, string>();
  const own = join(root, "node_modules", "node", "bin", "node");
  for (const candidate of [
    own,
    ...(process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, "node")),
  ]) {
    try {
      const version = execFileSync(candidate, ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
      const major = Number(/^v(\d+)/.exec(version)?.[1]);
      if (!found.has(major)) found.set(major, candidate);
    } catch {}
  }
  return found;
}

/** Node 20 if there is one: the oldest that the package supports. */
export function oldestNode(): string {
  const all = nodes();
  return all.get(20) ?? [...all.values()][0] ?? process.execPath;
}

export interface Outcome {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  /** Interrupts the command, as ^C does, as soon as what it has written matches. */
  until?: RegExp;
  env?: Record<string, string>;
  input?: string;
  cwd?: string;
  node?: string;
}

/** What a person's shell has, without what the test runner and the developer's own login set. */
export function plainEnvironment(home: string, extra: Record<string, string> = {}): Record<string, string> {
  const path = [join(home, "node_modules", ".bin"), dirname(oldestNode()), "/usr/bin", "/bin"].join(delimiter);
  const config = { XDG_CONFIG_HOME: join(home, ".config"), XDG_CACHE_HOME: join(home, ".cache") };
  return { PATH: path, HOME: home, TERM: "dumb", ...config, ...extra };
}

/** Runs the installed command to its end. */
export function run({ folder }: Pick<Installed, "folder">, args: string[], options: RunOptions = {}): Promise<Outcome> {
  const file = join(folder, "node_modules/rollcall/dist/cli/rollcall.js");
  const child = spawn(options.node ?? oldestNode(), [file, ...args], {
    cwd: options.cwd ?? folder,
    env: plainEnvironment(folder, options.env),
    stdio: ["pipe", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  let isInterrupted = false;
  const look = () => {
    if (isInterrupted || !options.until?.test(stdout + stderr)) return;
    isInterrupted = true;
    child.kill("SIGINT");
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    look();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    look();
  });
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
}

/** A copy of a package that a test may edit; what it depends on stays where it is. */
export function copyPackage(folder: string, name: string): string {
  const from = join(root, "node_modules", name);
  const to = join(folder, "node_modules", name);
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true });
  const { dependencies = {}, bin = {} } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
  for (const dependency of Object.keys(dependencies)) {
    const link = join(folder, "node_modules", dependency);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(join(root, "node_modules", dependency), link);
  }
  for (const [command, file] of Object.entries<string>(bin))
    symlinkSync(join(to, file), join(folder, "node_modules/.bin", command));
  return to;
}
