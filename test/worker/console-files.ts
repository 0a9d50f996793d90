import { buildConsoleFiles } from "../../scripts/console-files.ts";

/** Before workerd starts: it lists the assets once. */
export async function setup(): Promise<void> {
  await buildConsoleFiles();
}
