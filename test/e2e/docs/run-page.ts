import { spawn } from "node:child_process";
import type { ShellBlock } from "./blocks.ts";

export interface Ran {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

const mark = "--- end of a block ---";

/**
 * Runs the blocks of a page one after the other in one bash, as a reader pastes them into one terminal: variables stay.
 * The first command that fails ends the page; the blocks behind it have no result.
 */
export async function runPage(blocks: ShellBlock[], cwd: string, env: Record<string, string>): Promise<Ran[]> {
  const ends = `printf '\\n%s\\n' '${mark}'; printf '\\n%s\\n' '${mark}' >&2`;
  const script = ["set -eo pipefail", ...blocks.flatMap(({ command }) => [command, ends])].join("\n");
  // What the test runner sets is not part of what a reader has, least of all NODE_OPTIONS.
  const { NODE_OPTIONS: _options, VITEST: _vitest, NODE_ENV: _env, ...rest } = process.env;
  const child = spawn("bash", ["-c", script], {
    cwd,
    env: { ...rest, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, so that what a page leaves running ends with it.
    detached: true,
  });
  const end = () => endGroup(child.pid);
  const timer = setTimeout(end, 60_000);
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("exit", end).once("close", resolve);
  });
  clearTimeout(timer);
  const parts = (text: string) => text.split(`\n${mark}\n`);
  const [stdout, stderr] = [parts(output.stdout), parts(output.stderr)];
  const ended = Math.min(stdout.length - 1, blocks.length);
  const ran = Math.min(ended + 1, blocks.length);
  return Array.from({ length: ran }, (_, index) => ({
    exitCode: index < ended ? 0 : exitCode,
    stdout: stdout[index] ?? "",
    stderr: stderr[index] ?? "",
  }));
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    // Nothing is left of it.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}
