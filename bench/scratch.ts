import type { ChildProcess } from "node:child_process";
import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Scratch {
  path: string;
  remove(): Promise<void>;
}

const directories = new Set<string>();
const children = new Set<ChildProcess>();
const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** A temporary directory that is gone when the process ends, however that comes about; or before, once it is removed. */
export async function scratchDirectory(purpose: string): Promise<Scratch> {
  const path = await mkdtemp(join(tmpdir(), `rollcall-${purpose}-`));
  directories.add(path);
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true });
      directories.delete(path);
    },
  };
}

/** The directory that somebody wants to keep, which is left where it is; else a temporary one. */
export async function keptOrScratch(kept: string | undefined, purpose: string): Promise<Scratch> {
  return kept === undefined ? scratchDirectory(purpose) : { path: kept, remove: async () => {} };
}

/** Ends a process with this one, where it does not end before. */
export function endWithUs(child: ChildProcess): void {
  children.add(child);
  child.once("exit", () => children.delete(child));
}

function leaveNothing(): void {
  for (const child of children) child.kill();
  // A server that is just ending may write once more.
  for (const path of directories) rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}

process.on("exit", leaveNothing);
for (const [signal, code] of Object.entries(signals)) {
  process.once(signal, () => {
    // Last of all: Miniflare's own listener ends the runtimes that use these directories.
    process.off("exit", leaveNothing);
    process.on("exit", leaveNothing);
    process.exit(code);
  });
}
