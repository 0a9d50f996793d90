import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, statSync, unwatchFile, watchFile, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { copyPackage, type Installed, plainEnvironment } from "./installed.ts";

/**
 * Runs docs/tutorial/pin-and-verify.md as a reader would, from the tarball, on the oldest Node, and compares what each
 * command prints. UPDATE_TUTORIAL=1 writes what was printed into the page.
 */

const page = "docs/tutorial/pin-and-verify.md";
const background: ChildProcess[] = [];
let installed: Installed;

/** For afterAll: ends what the tutorial left running. */
export function endTutorial(): void {
  for (const { pid } of background) if (pid !== undefined) process.kill(-pid, "SIGKILL");
}

interface Step {
  command: string;
  expected: string;
}

const block = /^```console\n([\s\S]*?)^```$/gm;

function stepsOf(text: string): Step[] {
  return Array.from(text.matchAll(block), ([, body = ""]) => body)
    .join("")
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = "", ...lines] = part.replaceAll("\\\n", "").split("\n");
      return { command, expected: lines.join("\n").trimEnd() };
    });
}

function bash(command: string): Promise<string> {
  // One pipe for both streams, as in a terminal: with two, their lines would come in any order.
  const child = spawn("bash", ["-c", `exec 2>&1\n${command}`], {
    cwd: installed.folder,
    env: plainEnvironment(installed.folder),
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const isBackground = command.endsWith("&");
  if (isBackground) background.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  if (isBackground) return Promise.resolve("");
  return new Promise((resolve) => child.once("close", () => resolve(output.trimEnd())));
}

/** Resolves when there is something in a file. */
function filled(path: string): Promise<void> {
  return new Promise((resolve) => {
    const look = ({ size }: { size: number }) => {
      if (size === 0) return;
      unwatchFile(path);
      resolve();
    };
    watchFile(path, { interval: 50 }, look);
    look(statSync(path));
  });
}

/** What differs between two runs: addresses, times, durations, and what a token says of its end. */
function plain(text: string): string {
  return text
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:8787")
    .replaceAll(/\d\d:\d\d:\d\d/g, "14:02:11")
    .replaceAll(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d\.\d+Z)?/g, "2026-11-18 14:02")
    .replaceAll(/\(\d+\.\d s,/g, "(1.2 s,")
    .replaceAll(/in \d+ ms/g, "in 12 ms")
    .replaceAll(/ends in \d+ (?:h|min)/g, "ends in 60 min")
    .replaceAll(/Node \d+\.\d+\.\d+/g, "Node 20.20.2")
    .replaceAll(installed.folder, "/home/you/demo");
}

/** Runs the page in the folder where the package was installed; throws at the first output that is another one. */
export async function runTutorial(where: Installed, registry: { url: string; token: string }): Promise<void> {
  installed = where;
  copyPackage(installed.folder, "@modelcontextprotocol/server-everything");
  writeFileSync(join(installed.folder, "token.txt"), registry.token);
  const text = readFileSync(page, "utf8");
  const steps = stepsOf(text);
  expect(steps.length).toBeGreaterThan(8);
  const port = new URL(registry.url).port;
  const ran: Step[] = [];
  for (const { command, expected } of steps) {
    const here = command.replaceAll("127.0.0.1:8787", `127.0.0.1:${port}`);
    // A stream brings what happened a moment later.
    if (command.startsWith("cat ")) await filled(join(installed.folder, command.slice("cat ".length)));
    const output = plain(await bash(here));
    ran.push({ command, expected: output });
    if (process.env["UPDATE_TUTORIAL"] === undefined)
      expect(`$ ${command}\n${output}`).toBe(`$ ${command}\n${expected}`);
  }
  if (process.env["UPDATE_TUTORIAL"] !== undefined) {
    let index = 0;
    const written = text.replace(block, (_whole, body: string) => {
      const count = body.split(/^\$ /m).length - 1;
      const shown = ran
        .slice(index, index + count)
        .map((step) => `$ ${step.command}\n${step.expected === "" ? "" : `${step.expected}\n`}`);
      index += count;
      return `\`\`\`console\n${shown.join("")}\`\`\``;
    });
    writeFileSync(page, written);
  }
}
