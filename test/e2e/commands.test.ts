import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { start } from "./support/process.ts";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };

/** Every command of the project's own; the tests and `format` are vitest's and biome's. */
const commands = Object.entries(scripts).flatMap(([name, line]) => {
  const [, file] = /^node (\S+\.ts)$/.exec(line) ?? [];
  // The command line of the npm package has tests of its own.
  return file === undefined || name === "rollcall" ? [] : [[name, file] as const];
});

const run = (file: string, ...args: string[]) => start("node_modules/.bin/node", [file, ...args]).finished;

it("all commands but those of other tools are the project's own", () => {
  const others = Object.keys(scripts).filter((name) => !commands.some(([own]) => own === name));
  expect(others.sort()).toEqual(["format", "rollcall", "test", "test:commands", "test:peers"]);
});

describe.each(commands)("npm run %s", (name, file) => {
  it("explains itself", async () => {
    const { exitCode, stdout } = await run(file, "--help");
    expect(exitCode).toBe(0);
    const usage = name === "start" ? "Usage: npm start" : `Usage: npm run (--silent )?${name}`;
    expect(stdout).toMatch(new RegExp(`^${usage}`));
  });

  // Arguments of `dev` are wrangler's.
  it.runIf(name !== "dev")("refuses an option that it does not know", async () => {
    const { exitCode, stdout, stderr } = await run(file, "--hepl");
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^Unknown option --hepl; did you mean --help\?\n\nUsage: npm/);
  });
});
