import { mkdir, readdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { CommandError, errorCode } from "./command.ts";
import { openSecret, type Secret } from "./secret.ts";

/** Where `npm start` keeps its data, and where `npm run token` looks for the secret. */
export const defaultDataDir = ".rollcall";

/** Everything one embedded server keeps. The Cache API is missing on purpose: an old head could outlive a newer write. */
export interface DataDir {
  path: string;
  kv: string;
  objects: string;
  /** Present while a demo catalogue is still to be loaded. */
  demoPending: string;
  lock: string;
  secret: Secret;
  /** True until a server has run here. */
  fresh: boolean;
}

/** Opens a data directory, making whatever is not there yet: private to this user, with its own secret. */
export async function openDataDir(given: string): Promise<DataDir> {
  const path = resolve(given);
  const kv = join(path, "kv");
  const objects = join(path, "objects");
  try {
    for (const directory of [path, kv, objects]) await mkdir(directory, { recursive: true, mode: 0o700 });
    return {
      path,
      kv,
      objects,
      demoPending: join(path, "demo-pending"),
      lock: join(path, "lock"),
      secret: await openSecret(join(path, "secret")),
      fresh: (await readdir(objects)).length === 0,
    };
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    throw new CommandError(`The data directory ${path} cannot be used (${code}). Choose another with --data DIR.`);
  }
}
