import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "../failure.ts";
import { configFolder } from "./paths.ts";

/** `config.json` has profiles and no secrets, `credentials.json` the tokens, readable by its owner alone. */

export interface Profile {
  url: string;
}

export interface Config {
  current?: string;
  profiles: Record<string, Profile>;
}

/** Token and the address it is for, by profile. */
type Credentials = Record<string, { url: string; token: string }>;

const configFile = () => join(configFolder(), "config.json");
export const credentialsFile = () => join(configFolder(), "credentials.json");

function readJsonFile<T>(path: string, fallback: T): T {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return fallback;
    throw new UsageError(`The file ${path} cannot be read: ${code}`, { hint: "Check who owns it." });
  }
  try {
    const value = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as T;
  } catch {}
  throw new UsageError(`The file ${path} is damaged: it is not JSON`, { hint: "Delete it and run rollcall login." });
}

/** By rename: a reader never sees half a file, and a failure leaves the old one. */
export function writeWhole(path: string, text: string, mode: number): void {
  const scratch = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(scratch, text, { mode });
    chmodSync(scratch, mode);
    renameSync(scratch, path);
  } catch (error) {
    rmSync(scratch, { force: true });
    throw error;
  }
}

function writeJsonFile(path: string, value: unknown, mode: number): void {
  try {
    mkdirSync(configFolder(), { recursive: true, mode: 0o700 });
    writeWhole(path, `${JSON.stringify(value, null, 2)}\n`, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`The login cannot be stored: ${configFolder()} is not writable (${code})`, {
      hint: "Set ROLLCALL_URL and ROLLCALL_TOKEN instead, or ROLLCALL_CONFIG_DIR to a folder that is writable.",
    });
  }
}

export function readConfig(): Config {
  const { current, profiles } = readJsonFile<Partial<Config>>(configFile(), {});
  return { current, profiles: profiles ?? {} };
}

export function storedToken(profile: string, url: string): string | undefined {
  const found = readJsonFile<Credentials>(credentialsFile(), {})[profile];
  // A token is sent to the registry that it was stored for, and to no other.
  return found !== undefined && sameRegistry(found.url, url) ? found.token : undefined;
}

export function sameRegistry(a: string, b: string): boolean {
  const plain = (url: string) => url.replace(/\/+$/, "").replace("//localhost", "//127.0.0.1").toLowerCase();
  return plain(a) === plain(b);
}

export function storeLogin(profile: string, url: string, token: string): void {
  const config = readConfig();
  const credentials = readJsonFile<Credentials>(credentialsFile(), {});
  writeJsonFile(credentialsFile(), { ...credentials, [profile]: { url, token } }, 0o600);
  writeJsonFile(configFile(), { current: profile, profiles: { ...config.profiles, [profile]: { url } } }, 0o644);
}

/** Names of the profiles that were signed out. */
export function removeLogin(profile: string | undefined): string[] {
  const credentials = readJsonFile<Credentials>(credentialsFile(), {});
  const names =
    profile === undefined ? Object.keys(credentials) : Object.keys(credentials).filter((name) => name === profile);
  if (names.length === 0) return [];
  const left = Object.fromEntries(Object.entries(credentials).filter(([name]) => !names.includes(name)));
  writeJsonFile(credentialsFile(), left, 0o600);
  return names;
}

/** A warning if others may read the tokens. */
export function credentialsWarning(): string | undefined {
  if (process.platform === "win32") return undefined;
  try {
    const mode = statSync(credentialsFile()).mode & 0o777;
    if ((mode & 0o077) === 0) return undefined;
    return `${credentialsFile()} can be read by others (mode ${mode.toString(8)}). Run: chmod 600 ${credentialsFile()}`;
  } catch {
    return undefined;
  }
}
