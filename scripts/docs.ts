import { spawn } from "node:child_process";
import { CommandError, runCommand } from "./command.ts";
import { projectPath, projectRoot } from "./project.ts";
import { toolEnvironment } from "./run-tool.ts";

const help = `
Usage: npm run docs -- [--update] [--page FILE]

Runs every \`sh\` block of the docs against a demo registry of its own, page by page, and compares what the pages show.
  --update      writes what was printed into the pages, where it differs
  --page FILE   one page alone, such as docs/tutorial/publisher.md
`;

const options = { update: { type: "boolean", default: false }, page: { type: "string" } } as const;

await runCommand({ help, options }, async ({ update, page }) => {
  const env = { ...toolEnvironment, ROLLCALL_DOCS_UPDATE: String(update), ...(page && { ROLLCALL_DOCS_PAGE: page }) };
  const args = ["run", "--project", "commands", "test/e2e/docs"];
  const child = spawn(projectPath("node_modules", ".bin", "vitest"), args, { cwd: projectRoot, env, stdio: "inherit" });
  const exitCode = await new Promise((resolve, reject) => child.once("error", reject).once("close", resolve));
  if (exitCode !== 0) throw new CommandError("Mend the pages or the commands, or run: npm run docs -- --update");
});
