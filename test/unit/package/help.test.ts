import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import schema from "../../../packages/rollcall/schemas/command-output.schema.json" with { type: "json" };
import { createProgram } from "../../../packages/rollcall/src/cli/program.ts";
import { version } from "../../../packages/rollcall/src/cli/version.ts";
import { version as workerVersion } from "../../../src/kernel/version.ts";

const program = createProgram({ command: [], signal: new AbortController().signal });

function* all(command: Command, path: string[] = []): Generator<{ name: string; command: Command }> {
  yield { name: path.join(" "), command };
  for (const below of command.commands) if (!below.name().startsWith("__")) yield* all(below, [...path, below.name()]);
}

/** The whole help, with what is added after it. */
function helpOf(command: Command): string {
  let text = "";
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text;
}

const commands = [...all(program)];

describe("the help", () => {
  it("is there for every command", () => {
    expect(commands.length).toBeGreaterThan(50);
  });

  it.each(commands.map(({ name, command }) => [name || "rollcall", command] as const))(
    "of %s fits 80 columns and has an example",
    (_name, command) => {
      const lines = helpOf(command).split("\n");
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      expect(lines.some((line) => /^ {2}\$ /.test(line))).toBe(true);
    },
  );
});

describe("the schema of outputs", () => {
  it("has a definition for every command that prints an answer", () => {
    const leaves = commands.filter(({ command }) => command.commands.length === 0).map(({ name }) => name);
    const without = ["api", "mcp", "serve"];
    expect(leaves.filter((name) => !Object.hasOwn(schema.$defs, name) && !without.includes(name))).toEqual([]);
  });
});

describe("the version", () => {
  it("is the Worker's", () => {
    expect(version).toBe(workerVersion);
  });
});
