import { Command, Option } from "commander";
import type { CommandSpec } from "./command-spec.ts";
import { commandGroups } from "./command-table.ts";
import type { Context, GlobalOptions } from "./context.ts";
import { UsageError } from "./failure.ts";
import { createOutput } from "./terminal/output.ts";
import { version } from "./version.ts";

/** What stands around a command: the part of the command line after `--`, and the end by ^C. */
export interface Invocation {
  /** After `--`: a command to run, for those that take one. */
  command: string[];
  signal: AbortSignal;
}

const helpLayout = { helpWidth: 80, subcommandTerm: (command: Command) => command.name() };
const takesCommand = ["publish", "verify"];

const collect = (value: string, previous: string[] = []) => [...previous, value];

export function createProgram(invocation: Invocation): Command {
  const program = new Command("rollcall")
    .description("A capability registry for MCP: publish, find, pin and verify what servers can do.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "show help")
    .helpCommand("help [command]", "show help of a command")
    .configureHelp(helpLayout)
    .showHelpAfterError(false)
    .exitOverride();
  // Errors are printed in one place, in one form.
  program.configureOutput({ writeErr: () => {}, outputError: () => {} });
  const globals: [string, string][] = [
    ["--url <url>", "address of the registry"],
    ["--profile <name>", "which login to use"],
    ["--json", "print JSON"],
    ["--no-color", "print without colours"],
    ["--quiet", "print answers and errors alone"],
    ["--verbose", "print requests and timing"],
    ["--timeout <seconds>", "how long to wait for an answer (30)"],
  ];
  for (const [flags, description] of globals) program.option(flags, description);
  program.addOption(new Option("--tenant <tenant>", "tenant, where a command needs one").argParser(collect));
  for (const [group, specs] of Object.entries(commandGroups)) {
    program.commandsGroup(group);
    for (const spec of specs) add(program, program, spec, invocation);
  }
  program
    .command("__complete", { hidden: true })
    .argument("[words...]")
    .allowUnknownOption()
    .helpOption(false)
    .action(async (words: string[]) => {
      const context = await contextOf(program, invocation);
      await (await import("./commands/completion.ts")).complete(context, program, words);
    });
  program.addHelpText(
    "after",
    "\nExamples:\n  $ rollcall search will it rain tomorrow\n  $ rollcall publish acme/weather -- node server.js\n  $ rollcall pin acme/weather && rollcall verify\n\nExit codes: 0 done, 1 refused, 2 usage, 3 found what was asked for,\n4 sign-in, 5 not reachable, 130 interrupted.",
  );
  return program;
}

function add(parent: Command, program: Command, spec: CommandSpec, invocation: Invocation): void {
  const command = parent.command(spec.usage).description(spec.summary);
  command.configureHelp(helpLayout);
  for (const [flags, description] of spec.options ?? []) command.option(flags, description);
  const name = command.name();
  if (takesCommand.includes(name)) command.usage(`${command.usage()} [-- COMMAND ...]`);
  command.addHelpText(
    "after",
    `\nExample:\n  $ ${spec.example}${parent === program ? "\n\nOptions for every command: rollcall --help" : ""}`,
  );
  for (const below of spec.commands ?? []) add(command, program, below, invocation);
  const { run } = spec;
  if (run === undefined) return;
  command.action(async (...given: unknown[]) => {
    const args = positional(given, command.processedArgs.length);
    const options = { ...command.opts(), command: invocation.command, tenants: program.opts()["tenant"] ?? [] };
    await run(await contextOf(program, invocation), args, options);
  });
}

/** Arguments in their order; lists are spread, optional ones that are absent are left out. */
function positional(given: unknown[], count: number): string[] {
  return given
    .slice(0, count)
    .flatMap((one) => (Array.isArray(one) ? one : [one]))
    .filter((one) => one !== undefined) as string[];
}

/** Loaded by commands alone: help needs none of it. */
async function contextOf(program: Command, { signal }: Pick<Invocation, "signal">): Promise<Context> {
  const flags = program.opts<Omit<GlobalOptions, "tenant"> & { tenant?: string[] }>();
  const { json = false, color, quiet = false, verbose = false } = flags;
  const tenant = flags.tenant?.[0];
  if (tenant !== undefined && !/^[A-Za-z0-9][A-Za-z0-9.-]{0,99}$/.test(tenant)) {
    throw new UsageError(`--tenant ${tenant} is not the name of a tenant`);
  }
  const { Context } = await import("./context.ts");
  return new Context({ ...flags, tenant }, createOutput({ json, colour: color, quiet, verbose }), signal);
}
