import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";
import { projectRoot } from "./project.ts";

/** Makes a virtual environment with these packages. Answers why that is not possible here; undefined if it is done. */
export async function installPython(venv: string, packages: readonly string[]): Promise<string | undefined> {
  const created = await run("", "python3", ["-m", "venv", venv]);
  if (created.exitCode !== 0) return `python3 -m venv does not work here (${lastLine(created.output)})`;
  const pip = ["-m", "pip", "install", "--quiet", "--no-cache-dir", "--disable-pip-version-check", ...packages];
  const installed = await run("", join(venv, "bin", "python"), pip);
  if (installed.exitCode === 0) return undefined;
  return `${packages.join(", ")} cannot be installed here (${lastLine(installed.output)})`;
}

export function lastLine(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}

/** Runs a command to its end, with `bin` first on the path. */
export function run(
  bin: string,
  command: string,
  args: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<{ exitCode: number; output: string }> {
  const child = spawn(command, args, {
    cwd: projectRoot,
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"]}`, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ exitCode: 1, output: error.message }));
    child.on("close", (code) => resolve({ exitCode: code ?? 1, output }));
  });
}
