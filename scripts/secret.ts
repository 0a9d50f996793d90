import { randomBytes } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { CommandError, errorCode } from "./command.ts";

export interface Secret {
  value: string;
  /** True when this call made it. */
  created: boolean;
}

/** 32 random bytes: what HS256 asks for. */
export function newSecret(): string {
  return randomBytes(32).toString("base64url");
}

/** Reads the signing secret kept in a file, or makes one that only this user can read. */
export async function openSecret(path: string): Promise<Secret> {
  const present = await readSecret(path);
  if (present !== undefined) return { value: present, created: false };

  // Written aside and then linked: a file appears whole or not at all, and of two processes that make a secret at the
  // same moment both end up with the one that came first.
  const draft = `${path}.${process.pid}`;
  const value = newSecret();
  await writeFile(draft, `${value}\n`, { mode: 0o600 });
  try {
    await link(draft, path);
    return { value, created: true };
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
    return openSecret(path);
  } finally {
    await rm(draft, { force: true });
  }
}

async function readSecret(path: string): Promise<string | undefined> {
  try {
    const value = (await readFile(path, "utf8")).trim();
    if (value.length < 32) throw new CommandError(`${path} is too short to be a secret. Delete it to have one made.`);
    return value;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
