import { homedir } from "node:os";
import { join } from "node:path";

/** Never in the project folder: what lies there is committed sooner or later. */
export function configFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (env["ROLLCALL_CONFIG_DIR"]) return env["ROLLCALL_CONFIG_DIR"];
  if (process.platform === "win32" && env["APPDATA"]) return join(env["APPDATA"], "rollcall");
  return join(env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "rollcall");
}

export function cacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  if (process.platform === "win32" && env["LOCALAPPDATA"]) return join(env["LOCALAPPDATA"], "rollcall", "cache");
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "rollcall");
}
