import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url).href);
/** The Node that npm scripts run on, whichever one runs the tests. */
const node = join(root, "node_modules", ".bin", "node");

export interface Finished {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** A command under way, in a process group of its own, as a terminal would start it. */
export interface Running {
  pid: number | undefined;
  /** What it has written to stdout and stderr so far. */
  stdout(): string;
  stderr(): string;
  /** The first line of stdout that matches, now or later; fails if the process ends or time runs out before. */
  line(pattern: RegExp): Promise<RegExpMatchArray>;
  /** Sends a signal to the process alone. */
  signal(name: NodeJS.Signals): void;
  /** Sends a signal to the process and all it started, as Ctrl-C in a terminal does. */
  signalGroup(name: NodeJS.Signals): void;
  finished: Promise<Finished>;
}

const running = new Set<Running>();

/** The command line of one of scripts/*.ts. */
export function command(script: string, ...args: string[]): [string, ...string[]] {
  return [node, join(root, "scripts", script), ...args];
}

/** Starts one of scripts/*.ts. */
export function startCli(script: string, ...args: string[]): Running {
  const [program, ...rest] = command(script, ...args);
  return start(program, rest);
}

/** Runs one of scripts/*.ts to its end. */
export function runCli(script: string, ...args: string[]): Promise<Finished> {
  return startCli(script, ...args).finished;
}

export function start(command: string, args: string[]): Running {
  // What the test runner sets is not part of what a person has, least of all NODE_OPTIONS.
  const { NODE_OPTIONS: _options, VITEST: _vitest, NODE_ENV: _env, ...env } = process.env;
  const child = spawn(command, args, { cwd: root, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: collect(child.stdout), stderr: collect(child.stderr) };
  const finished = new Promise<Finished>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => {
      running.delete(handle);
      resolve({ exitCode, stdout: output.stdout(), stderr: output.stderr() });
    });
  });
  const handle: Running = {
    pid: child.pid,
    stdout: output.stdout,
    stderr: output.stderr,
    finished,
    signal: (name) => child.kill(name),
    signalGroup: (name) => signalGroup(child, name),
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const match = output.stdout().match(new RegExp(`^.*${pattern.source}.*$`, `m${pattern.flags}`));
          if (match === null) return;
          clearTimeout(timer);
          resolve(match);
        };
        const fail = (reason: string) =>
          reject(new Error(`${reason} before a line matched ${pattern}:\n${output.stdout()}\n${output.stderr()}`));
        const timer = setTimeout(() => fail("Time ran out"), 60_000);
        child.stdout.on("data", look);
        child.once("close", () => fail("The process ended"));
        look();
      }),
  };
  running.add(handle);
  return handle;
}

/** For afterAll: ends whatever a failed test left running, and nothing else. */
export async function stopAll(): Promise<void> {
  const left = [...running];
  for (const handle of left) handle.signalGroup("SIGKILL");
  await Promise.all(left.map((handle) => handle.finished));
}

function signalGroup({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch (error) {
    // Gone already.
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    text += chunk;
  });
  return () => text;
}
