import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import type { ClientFile, ClientId, Platform } from "../../../../../src/connect/clients.ts";
import { UsageError } from "../failure.ts";
import { writeWhole } from "../settings/profiles.ts";

/** Where the client's file is on this machine. */
export function locate(client: ClientId, { paths }: ClientFile, env: NodeJS.ProcessEnv = process.env): string {
  if (client === "cline" && env["CLINE_MCP_SETTINGS_PATH"]) return env["CLINE_MCP_SETTINGS_PATH"];
  if (client === "codex" && env["CODEX_HOME"]) return join(env["CODEX_HOME"], "config.toml");
  const platform: Platform = process.platform === "win32" || process.platform === "darwin" ? process.platform : "linux";
  const path = paths[platform];
  const [head = "", ...rest] = path.split("/");
  if (head === "~") return join(home(env), ...rest);
  if (head !== "%APPDATA%") return resolve(path);
  const folder = env["APPDATA"] ?? "";
  if (folder === "") throw new UsageError("APPDATA is not set", { hint: "Name the file with --file." });
  return join(folder, ...rest);
}

function home(env: NodeJS.ProcessEnv): string {
  try {
    const folder = env["HOME"] || homedir();
    if (folder !== "") return folder;
  } catch {}
  throw new UsageError("There is no home folder: HOME is not set", { hint: "Name the file with --file." });
}

/** Its text; undefined if there is none yet. */
export function readConfigFile(path: string): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
    return text;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    const why = error instanceof TypeError ? "it is not UTF-8" : code;
    throw new UsageError(`${path} cannot be read: ${why}`, { hint: "Nothing was written." });
  }
}

/** Writes the file that a link points to, keeps its mode, and a copy of what was there before the first change. */
export function writeConfigFile(path: string, text: string): { backup?: string } {
  try {
    if (!existsSync(path)) {
      mkdirSync(dirname(path), { recursive: true });
      // A link to nowhere would be replaced.
      writeWhole(linkTarget(path), text, 0o600);
      return {};
    }
    const real = realpathSync(path);
    accessSync(real, constants.W_OK);
    const backup = join(dirname(real), `${basename(real)}.before-rollcall`);
    const isNew = !existsSync(backup);
    if (isNew) copyFileSync(real, backup, constants.COPYFILE_EXCL);
    writeWhole(real, text, statSync(real).mode & 0o777);
    return isNew ? { backup } : {};
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(`${path} cannot be written: ${code ?? message}`, {
      hint: "Check who owns it, or paste what rollcall config prints without --write.",
    });
  }
}

function linkTarget(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

/** Lines that differ. Lines that both have are left out, also between two changes: they may hold others' secrets. */
export function differenceLines(before: string, after: string): string[] {
  const [old, next] = [before.split(/\r?\n/), after.split(/\r?\n/)];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < next.length - start && old.at(-1 - end) === next.at(-1 - end)) end += 1;
  const added = next.slice(start, next.length - end);
  const removed = old.slice(start, old.length - end).filter((line) => {
    const at = added.indexOf(line);
    if (at !== -1) added.splice(at, 1);
    return at === -1;
  });
  return [...removed.map((line) => `- ${masked(line)}`), ...added.map((line) => `+ ${masked(line)}`)];
}

/** A secret that somebody typed into the entry stays out of terminals and logs; a reference such as `${input:x}` is none. */
function masked(line: string): string {
  return line
    .replaceAll(/(\bBearer\s+)(?!\$)[^\s"',]+/gi, "$1…")
    .replaceAll(
      /("[^"]*(?:authorization|token|key|secret|password)[^"]*"\s*:\s*")(?!Bearer\b|[^"]*\$\{)[^"]+(?=")/gi,
      "$1…",
    );
}
