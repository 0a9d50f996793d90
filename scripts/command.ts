import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

/** Something the person at the keyboard can put right: told in a sentence, without a stack trace. */
export class CommandError extends Error {
  readonly exitCode: number = 1;
}

/** The command line itself is wrong. */
export class UsageError extends CommandError {
  override readonly exitCode = 2;
}

/** The registry refused a request. */
export class RequestRefused extends CommandError {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface Command<Options extends ParseArgsOptionsConfig> {
  /** The whole help text; its first line is the usage. */
  help: string;
  options: Options;
  /** What stands on the command line beside the options, by name; none where absent. */
  takes?: readonly string[];
}

type Values<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; strict: true }>
>["values"];

/** Parses the command line, answers --help, runs the command and ends the process with its exit code. */
export async function runCommand<const Options extends ParseArgsOptionsConfig>(
  command: Command<Options>,
  main: (values: Values<Options>, taken: string[]) => Promise<void>,
): Promise<never> {
  try {
    if (process.argv.slice(2).some((argument) => argument === "--help" || argument === "-h")) {
      console.log(command.help.trim());
      process.exit(0);
    }
    const { values, positionals } = parseCommandLine(command);
    await main(values, positionals);
    process.exit(0);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    console.error(error.message);
    if (error instanceof UsageError) console.error(`\n${command.help.trim().split("\n")[0]}\nMore: --help`);
    process.exit(error.exitCode);
  }
}

function parseCommandLine<const Options extends ParseArgsOptionsConfig>({ options, takes = [] }: Command<Options>) {
  try {
    const { values, positionals } = parseArgs({ options, strict: true, allowPositionals: takes.length > 0 });
    if (positionals.length !== takes.length) throw new UsageError(`It takes ${takes.join(" ")}.`);
    return { values: values as Values<Options>, positionals };
  } catch (error) {
    if (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS")) {
      throw new UsageError(error.message);
    }
    throw error;
  }
}

/** The code of a system error, such as "ENOENT"; undefined for everything else. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
