import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

/** Before workerd starts: it lists the assets once. */
export async function setup(): Promise<void> {
  const root = join(import.meta.dirname, "../..");
  await promisify(execFile)(process.execPath, ["scripts/console-files.ts"], { cwd: root });
}
