import { spawn } from "node:child_process";
import { once } from "node:events";
import { CommandError, runCommand } from "./command.ts";
import { projectPath, projectRoot } from "./project.ts";
import { runTool, toolEnvironment } from "./run-tool.ts";

const help = `
Usage: npm run deploy [-- [--env NAME] [--dry-run]]

Runs every check, then deploys the Worker with wrangler. Needs a Cloudflare account (npx wrangler login) and its secrets;
docs/how-to/deploying.md has the steps.
  --env NAME   the environment of wrangler.toml to deploy
  --dry-run    bundles as a deployment would, and uploads nothing
`;

const options = { env: { type: "string" }, "dry-run": { type: "boolean", default: false } } as const;

await runCommand({ help, options }, async ({ env, "dry-run": dryRun }) => {
  const { exitCode, output } = await runTool("node", ["scripts/check.ts"]);
  if (exitCode !== 0) throw new CommandError(`Nothing was deployed.\n\n${output.trim()}`);
  const args = ["deploy", ...(env === undefined ? [] : ["--env", env]), ...(dryRun ? ["--dry-run"] : [])];
  const wrangler = spawn(projectPath("node_modules", ".bin", "wrangler"), args, {
    cwd: projectRoot,
    env: toolEnvironment,
    stdio: "inherit",
  });
  const [code] = await once(wrangler, "close");
  if (code !== 0) throw new CommandError("wrangler did not deploy. Logged in? npx wrangler whoami shows it.");
});
