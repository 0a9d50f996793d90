import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { projectRoot } from "../../scripts/project.ts";

const folder = resolve(projectRoot, process.env["ROLLCALL_FIXTURES"] ?? "../shared/fixtures");

/** Where public data (a file or folder) lies; undefined where it is not installed beside the project. */
export function fixturePath(path: string): string | undefined {
  const location = resolve(folder, path);
  return existsSync(location) ? location : undefined;
}
