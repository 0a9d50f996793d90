import { appendFile, chmod, readFile } from "node:fs/promises";
import { parseEnv } from "node:util";
import { errorCode } from "./command.ts";
import { projectPath } from "./project.ts";
import { newSecret } from "./secret.ts";

/** Where `wrangler dev` reads secrets from; git ignores it. */
export const devVarsName = ".dev.vars";

const path = projectPath(devVarsName);

export async function readDevSecret(): Promise<string | undefined> {
  return parseEnv(await readDevVars())["JWT_SECRET"] || undefined;
}

/** Adds a secret unless there is one, keeping whatever else the file holds. Says whether it did. */
export async function ensureDevSecret(): Promise<boolean> {
  const present = await readDevVars();
  if (parseEnv(present)["JWT_SECRET"]) return false;
  const separator = present === "" || present.endsWith("\n") ? "" : "\n";
  await appendFile(path, `${separator}JWT_SECRET="${newSecret()}"\n`, { mode: 0o600 });
  await chmod(path, 0o600);
  return true;
}

async function readDevVars(): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "";
    throw error;
  }
}
