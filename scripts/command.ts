import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { nearest } from "../src/kernel/nearest.ts";

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
    const { values, positionals } = parseArgs({ options, strict: true, allowPositionals: true });
    const [surplus] = positionals.slice(takes.length);
    if (surplus !== undefined) throw new UsageError(`Unexpected argument "${surplus}".${npmTookOptions()}`);
    const missing = takes.slice(positionals.length);
    if (missing.length > 0) throw new UsageError(`${missing.join(" and ")} must be given.`);
    return { values: values as Values<Options>, positionals };
  } catch (error) {
    throw usageError(error, [...Object.keys(options), "help"]) ?? error;
  }
}

/** What is wrong with the command line, in our own words; undefined for every other error. */
function usageError(error: unknown, known: string[]): UsageError | undefined {
  const option = /'(?:-\w, )?--?([^\s'=]+)/.exec(error instanceof TypeError ? error.message : "")?.[1] ?? "";
  switch (errorCode(error)) {
    case "ERR_PARSE_ARGS_UNKNOWN_OPTION":
      return new UsageError(`Unknown option --${option}${didYouMean(option, known, "--") || "."}`);
    case "ERR_PARSE_ARGS_INVALID_OPTION_VALUE":
      return new UsageError(
        /does not take/.test(String(error)) ? `--${option} takes no value.` : `--${option} needs a value.`,
      );
    default:
      return undefined;
  }
}

/** `; did you mean X?` for a name that is close to one that is known, else nothing. */
export function didYouMean(name: string, known: Iterable<string>, prefix = ""): string {
  const meant = nearest(name, known);
  return meant === undefined ? "" : `; did you mean ${prefix}${meant}?`;
}

/** npm takes options that stand before `--` for its own and hands on only their values. */
function npmTookOptions(): string {
  const script = process.env["npm_lifecycle_event"];
  if (script === undefined) return "";
  const run = script === "start" ? "npm start" : `npm run ${script}`;
  return ` npm takes options before \`--\` for itself: ${run} -- --option value.`;
}

/** The code of a system error, such as "ENOENT"; undefined for everything else. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** True for the error of a disk that is full, or that may only be read. */
export function isUnwritable(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EROFS", "EACCES", "EPERM"].includes(errorCode(error) ?? "");
}
