import { CommanderError } from "commander";
import { exitCodes, type ShownFailure, shownFailure } from "./failure.ts";
import { createProgram, type Invocation } from "./program.ts";
import { createOutput } from "./terminal/output.ts";
import { printable, printableJson } from "./terminal/printable.ts";

/** Runs one command line, and resolves to its exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const controller = new AbortController();
  const interrupted = new Error("interrupted");
  const stop = () => {
    // A second ^C does not wait for anything.
    if (controller.signal.aborted) process.exit(exitCodes.interrupted);
    controller.abort(interrupted);
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  process.on("SIGHUP", stop);
  // A reader that left, such as `head`, is no error.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(exitCodes.done);
    // An answer that was cut off must not look like a whole one.
    process.stderr.write(`✗ The answer cannot be written: ${error.code ?? error.message}\n`);
    process.exit(exitCodes.refused);
  });
  process.stderr.on("error", () => {});
  const { before, command } = splitCommand(argv);
  const invocation: Invocation = { command, signal: controller.signal };
  const program = createProgram(invocation);
  try {
    if (before.length === 0) {
      program.outputHelp();
      return exitCodes.done;
    }
    await program.parseAsync(before, { from: "user" });
    return exitCodes.done;
  } catch (error) {
    if (controller.signal.aborted && error === interrupted) return exitCodes.interrupted;
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return exitCodes.done;
      return tell(usageFailure(error), before);
    }
    if (controller.signal.aborted) return exitCodes.interrupted;
    return tell(shownFailure(error), before, error);
  }
}

/** What follows `--` is a command of its own for those that run one, and plain arguments for the others. */
function splitCommand(argv: readonly string[]): { before: string[]; command: string[] } {
  const at = argv.indexOf("--");
  const name = argv.find((one) => !one.startsWith("-"));
  const isRunning = argv.slice(0, at === -1 ? undefined : at).some((one) => one === "publish" || one === "verify");
  if (at === -1 || !isRunning || name === undefined) return { before: [...argv], command: [] };
  return { before: argv.slice(0, at), command: argv.slice(at + 1) };
}

/** Commander's sentence in our form. */
function usageFailure({ code, message }: CommanderError): ShownFailure {
  if (code === "commander.help") {
    return {
      exitCode: exitCodes.usage,
      code: "ErrorUsage",
      status: 0,
      message: "This needs a command after it",
      hint: "Add --help to see them.",
      lines: [],
    };
  }
  const [first = "", ...rest] = message.replace(/^error: /, "").split("\n");
  const suggestion = rest
    .join(" ")
    .replace(/^\(|\)$/g, "")
    .trim();
  const what = first.replace(/^./, (letter) => letter.toUpperCase());
  return {
    exitCode: exitCodes.usage,
    code: "ErrorUsage",
    status: 0,
    message: what,
    hint: suggestion || "Add --help to see how it is used.",
    lines: [],
  };
}

function tell(failure: ShownFailure, argv: readonly string[], cause?: unknown): number {
  const { exitCode, code, status, message, where, details, hint, requestId, lines } = failure;
  const json = argv.includes("--json");
  const out = createOutput({
    json,
    colour: !argv.includes("--no-color"),
    quiet: false,
    verbose: argv.includes("--verbose"),
  });
  if (json) {
    out.error(
      printableJson({
        error: { code, status, message, where, details, hint, requestId, lines: lines.length > 0 ? lines : undefined },
      }),
    );
    return exitCode;
  }
  out.error(`✗ ${printable(message)}`);
  if (where !== undefined) out.error(`  ${printable(where)}`);
  for (const line of lines) out.error(`  ${printable(line)}`);
  if (requestId !== undefined && status >= 500) out.error(`  request ${printable(requestId)}`);
  if (hint !== undefined) out.error(`  → ${printable(hint)}`);
  if (out.isVerbose && cause instanceof Error && cause.stack !== undefined) out.error(cause.stack);
  return exitCode;
}
