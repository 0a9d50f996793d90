import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

const project = resolve(import.meta.dirname, "../..");
const folder = resolve(project, process.env["ROLLCALL_FIXTURES"] ?? "../shared/fixtures");

/** Where a public test vector (a file or folder) lies; undefined where the vectors are not installed. */
export function fixture(path: string): string | undefined {
  const location = resolve(folder, path);
  return existsSync(location) ? location : undefined;
}

export function readJson(location: string): unknown {
  return JSON.parse(readFileSync(location, "utf8"));
}
