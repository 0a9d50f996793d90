import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { dataFormat } from "../src/objects/data-format.ts";
import { CommandError, errorCode, isUnwritable } from "./command.ts";
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
export function openDataDir(given: string): Promise<DataDir> {
  return usable(given, async (path) => {
    const kv = join(path, "kv");
    const objects = join(path, "objects");
    for (const directory of [path, kv, objects]) await makeDirectory(directory);
    return {
      path,
      kv,
      objects,
      demoPending: join(path, "demo-pending"),
      lock: join(path, "lock"),
      secret: await openSecret(join(path, "secret")),
      fresh: (await readdir(objects)).length === 0,
    };
  });
}

/**
 * Notes the format of the data before a server writes to it. Returns a sentence if a newer version has written here: its
 * objects are read, and refuse writes.
 */
export async function checkFormat({ path }: Pick<DataDir, "path">): Promise<string | undefined> {
  const file = join(path, "format");
  const found = Number(await readFile(file, "utf8").catch(() => "0"));
  if (found > dataFormat) {
    return (
      `${path} was written by a newer version of Rollcall (format ${found}; this version knows ${dataFormat}). ` +
      "It is served as far as this version can read it; writes to newer data are refused."
    );
  }
  if (found < dataFormat) await writeFile(file, `${dataFormat}\n`, { mode: 0o600 });
  return undefined;
}

/** More than what a small write needs, less than what anyone would miss. */
const trialBytes = 256 * 1_024;

/** A sentence if nothing can be written to a data directory: a server then answers what it can, and refuses writes. */
export async function checkWritable({ path }: Pick<DataDir, "path">): Promise<string | undefined> {
  const file = join(path, `trial.${process.pid}`);
  try {
    await writeFile(file, Buffer.alloc(trialBytes, 1), { mode: 0o600 });
    return undefined;
  } catch (error) {
    if (!isUnwritable(error)) throw error;
    const isFull = ["ENOSPC", "EDQUOT"].includes(errorCode(error) ?? "");
    return (
      `${isFull ? `The disk of ${path} is full` : `${path} is read-only`} (${errorCode(error)}): writes are refused with 503 until ` +
      `${isFull ? "there is room" : "it can be written"}. Nothing that was acknowledged is lost.`
    );
  } finally {
    await rm(file, { force: true }).catch(() => {});
  }
}

/** The secret of a data directory, for a token: made if there is none, without what only a server needs. */
export function openDataDirSecret(given: string): Promise<{ path: string; secret: Secret; isUsed: boolean }> {
  return usable(given, async (path) => {
    await makeDirectory(path);
    const isUsed = await stat(join(path, "objects")).then(
      () => true,
      () => false,
    );
    return { path, secret: await openSecret(join(path, "secret")), isUsed };
  });
}

/** A disk that answers at all does so at once; one that does not, such as a lost network drive, must not hang a command. */
const patienceMs = 10_000;

async function usable<T>(given: string, open: (path: string) => Promise<T>): Promise<T> {
  const path = resolve(given);
  const unusable = (why: string) =>
    new CommandError(`The data directory ${path} cannot be used (${why}). Choose another with --data DIR.`);
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(unusable("no answer within 10 s")), patienceMs);
  try {
    return await Promise.race([open(path), late.promise]);
  } catch (error) {
    const code = errorCode(error);
    throw code === undefined ? error : unusable(code);
  } finally {
    clearTimeout(timer);
  }
}

/** One level after the other: Node's own recursive mkdir never ends below /proc. */
async function makeDirectory(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST") {
      if ((await stat(path)).isDirectory()) return;
      throw error;
    }
    const parent = dirname(path);
    if (code !== "ENOENT" || parent === path || (await isDirectory(parent))) throw error;
    await makeDirectory(parent);
    await mkdir(path, { mode: 0o700 });
  }
}

function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
