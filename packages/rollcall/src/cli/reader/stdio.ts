import { type ChildProcess, spawn } from "node:child_process";
import { readJson } from "../../../../../src/kernel/read-json.ts";
import { CliError, exitCodes, UsageError } from "../failure.ts";
import { answerTo, isObject, type Json, modernVersion, type Rpc, RpcRefusal, replyTo, withMeta } from "./rpc.ts";

const mostLine = 32 * 1_024 * 1_024;
const keptLines = 20;
const mostShown = 500;

/** Secrets of the registry are none of the command's business. */
const withheld = ["ROLLCALL_TOKEN", "ROLLCALL_HOOK_SECRET", "ROLLCALL_HOOK_URL"];

/** Starts a command and speaks MCP over its stdin and stdout. */
export function startStdio(command: readonly string[], signal: AbortSignal): Rpc {
  const [file = "", ...args] = command;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !withheld.includes(name)));
  const isPosix = process.platform !== "win32";
  // A group of its own: npx and shells start the server as a child, which must end with them.
  const child = spawn(file, args, { env, detached: isPosix, stdio: ["pipe", "pipe", "pipe"], shell: !isPosix });
  const waiting = new Map<number, { resolve: (result: Json) => void; reject: (error: Error) => void }>();
  const errors: string[] = [];
  const junk: string[] = [];
  let ended: CliError | undefined;
  let isClosing = false;
  let nextId = 1;
  let version = "";

  const end = (error: CliError) => {
    ended ??= error;
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  };
  const shown = command.join(" ");
  const lines = () => (errors.length > 0 ? errors : junk).slice(-keptLines);
  child.on("error", (error: NodeJS.ErrnoException) => {
    const isMissing = error.code === "ENOENT";
    end(
      isMissing
        ? new UsageError(`The command "${file}" does not exist`, { hint: "Check its name, and that it is on PATH." })
        : new UsageError(`The command "${file}" cannot be started: ${error.code ?? error.message}`),
    );
  });
  child.on("exit", (code, name) => {
    const how = code === null ? `by ${name}` : `with exit code ${code}`;
    const hint = "Run it by hand: an MCP server stays and waits for requests on stdin.";
    end(
      new CliError(`The command ended ${how} before it was read`, {
        where: shown,
        hint,
        code: "ErrorCommandEnded",
        lines: lines(),
      }),
    );
  });
  // A second ^C ends this process at once; the command has a group of its own, which nobody else would end.
  const endGroup = () => signalGroup(child, isPosix, "SIGKILL");
  process.once("exit", endGroup);
  // Writing to a command that ended is told by its exit.
  child.stdin?.on("error", () => {});
  readLines(child.stderr, (line) => {
    errors.push(line.slice(0, mostShown));
    if (errors.length > keptLines) errors.shift();
  });
  readLines(child.stdout, (line) => {
    if (line.trim() === "") return;
    let message: unknown;
    try {
      message = readJson(line);
    } catch {
      junk.push(line.slice(0, mostShown));
      if (junk.length > keptLines) junk.shift();
      return;
    }
    for (const one of Array.isArray(message) ? message : [message]) receive(one);
  });

  const write = (message: Json) => child.stdin?.write(`${JSON.stringify(message)}\n`);
  const receive = (message: unknown) => {
    if (!isObject(message)) return;
    const reply = replyTo(message);
    if (reply !== undefined) return void write(reply);
    for (const [id, { resolve, reject }] of waiting) {
      const answer = answerTo(message, id);
      if (answer === undefined) continue;
      waiting.delete(id);
      if (answer instanceof RpcRefusal) reject(answer);
      else resolve(answer.result);
    }
  };

  return {
    junk,
    speak: (next) => {
      version = next;
    },
    async request(method, params, timeoutMs) {
      signal.throwIfAborted();
      if (ended !== undefined) throw ended;
      const id = nextId;
      nextId += 1;
      return new Promise<Json>((resolve, reject) => {
        const stop = () => settle(() => reject(signal.reason));
        const timer = setTimeout(
          () => settle(() => reject(silent(method, timeoutMs, shown, lines(), junk))),
          timeoutMs,
        );
        const settle = (then: () => void) => {
          clearTimeout(timer);
          signal.removeEventListener("abort", stop);
          waiting.delete(id);
          then();
        };
        signal.addEventListener("abort", stop, { once: true });
        waiting.set(id, {
          resolve: (result) => settle(() => resolve(result)),
          reject: (error) => settle(() => reject(error)),
        });
        write({ jsonrpc: "2.0", id, method, params: version === modernVersion ? withMeta(params) : params });
      });
    },
    async notify(method) {
      write({ jsonrpc: "2.0", method });
    },
    async close() {
      if (isClosing) return;
      isClosing = true;
      await stop(child, isPosix);
      process.off("exit", endGroup);
    },
  };
}

function silent(method: string, timeoutMs: number, where: string, lines: string[], junk: readonly string[]): CliError {
  const seconds = Math.round(timeoutMs / 1_000);
  if (junk.length > 0) {
    return new CliError(
      `The command writes to stdout what is not MCP, and did not answer ${method} within ${seconds} s`,
      {
        where,
        hint: "A stdio server writes messages to stdout and everything else to stderr.",
        code: "ErrorCommandJunk",
        lines,
      },
    );
  }
  return new CliError(`The command did not answer ${method} within ${seconds} s`, {
    where,
    hint: "Check that it is an MCP server that speaks stdio; --timeout SECONDS allows more time.",
    code: "ErrorCommandSilent",
    exitCode: exitCodes.unreachable,
    lines,
  });
}

function readLines(stream: NodeJS.ReadableStream | null, take: (line: string) => void): void {
  let rest = "";
  stream?.setEncoding("utf8");
  stream?.on("data", (chunk: string) => {
    rest += chunk;
    let from = 0;
    for (let at = rest.indexOf("\n"); at !== -1; at = rest.indexOf("\n", from)) {
      take(rest.slice(from, at).replace(/\r$/, ""));
      from = at + 1;
    }
    rest = rest.slice(from);
    if (rest.length > mostLine) rest = "";
  });
  stream?.on("end", () => {
    if (rest !== "") take(rest);
  });
}

function signalGroup(child: ChildProcess, isPosix: boolean, name: NodeJS.Signals): void {
  try {
    if (isPosix && child.pid !== undefined) process.kill(-child.pid, name);
    else child.kill(name);
  } catch {}
}

/** As MCP says: close stdin, then SIGTERM, then SIGKILL; to the whole group. */
async function stop(child: ChildProcess, isPosix: boolean): Promise<void> {
  const isGone = () => child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
  const gone = new Promise<void>((resolve) => {
    if (isGone()) resolve();
    child.once("exit", () => resolve());
  });
  child.stdin?.end();
  for (const [name, ms] of [
    ["SIGTERM", 300],
    ["SIGKILL", 1_500],
  ] as const) {
    const isDone = await Promise.race([
      gone.then(() => true),
      new Promise<boolean>((resolve) => setTimeout(resolve, ms, false)),
    ]);
    if (isDone) break;
    signalGroup(child, isPosix, name);
  }
  // Children of a shell that ended may still be there.
  signalGroup(child, isPosix, "SIGKILL");
  child.stdout?.destroy();
  child.stderr?.destroy();
}
