import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout these commands belong to, wherever they are started from. */
export const projectRoot = fileURLToPath(new URL("..", import.meta.url).href);

export function projectPath(...segments: string[]): string {
  return join(projectRoot, ...segments);
}
