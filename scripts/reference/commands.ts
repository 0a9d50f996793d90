import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { projectPath, projectRoot } from "../project.ts";
import { generated } from "./document.ts";

/** What every command says of itself with `--help`. */
export async function commandsPage(): Promise<string> {
  const { scripts } = JSON.parse(await readFile(projectPath("package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const texts = await Promise.all(
    Object.entries(scripts).map(async ([name, line]) => {
      const [, file] = /^node (\S+\.ts)$/.exec(line) ?? [];
      const command = name === "start" || name === "test" ? `npm ${name}` : `npm run ${name}`;
      return `## ${command}\n\n\`\`\`text\n${file === undefined ? line : await helpOf(file)}\n\`\`\``;
    }),
  );
  return `${generated}

# Commands

What \`--help\` prints. Options of a command stand behind \`--\`: \`npm run token -- --tenant demo\`. A command refuses what it does not
know, with what was probably meant (exit code 2); a failure is one sentence with a next step (exit code 1).

${texts.join("\n\n")}
`;
}

async function helpOf(file: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [projectPath(file), "--help"], { cwd: projectRoot });
  return stdout.trim();
}
