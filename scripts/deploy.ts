import { spawn } from "node:child_process";
import { once } from "node:events";
import { CommandError, runCommand } from "./command.ts";
import { type Finding, findings, type Secrets } from "./deploy/checks.ts";
import { deployedSecrets, readDeployConfig, secretsInFile } from "./deploy/read-config.ts";
import { projectPath, projectRoot } from "./project.ts";
import { runTool, toolEnvironment } from "./run-tool.ts";

const help = `
Usage: npm run deploy [-- [--env NAME] [--secrets-file FILE] [--dry-run]]

Looks for bindings, secrets, settings and limits that are missing or wrong, runs every check of npm run check, then deploys the
Worker with wrangler. Needs a Cloudflare account (npx wrangler login) and its secrets; docs/how-to/deploying.md has the steps.
  --env NAME            the environment of wrangler.toml to deploy, such as staging
  --secrets-file FILE   upload these secrets with it: JSON, or lines NAME=VALUE
  --dry-run             bundles as a deployment would, and uploads nothing; needs no account
`;

const options = {
  env: { type: "string" },
  "secrets-file": { type: "string" },
  "dry-run": { type: "boolean", default: false },
} as const;

const notAsked: Secrets = {
  unknown: { level: "note", text: "Secrets were not looked at: a dry run asks no account." },
};

await runCommand({ help, options }, async ({ env, "secrets-file": file, "dry-run": dryRun }) => {
  const config = await readDeployConfig(env);
  const given = file === undefined ? {} : await secretsInFile(file);
  const deployed = dryRun ? notAsked : await deployedSecrets(env);
  const known = "known" in deployed ? { known: [...deployed.known, ...Object.keys(given)] } : deployed;
  const secrets = { ...known, given };
  report(findings(config, secrets));
  const { exitCode, output } = await runTool("node", ["scripts/check.ts"]);
  if (exitCode !== 0) throw new CommandError(`Nothing was deployed.\n\n${output.trim()}`);
  const upload = file === undefined ? [] : ["--secrets-file", file];
  const args = ["deploy", `--env=${env ?? ""}`, ...upload, ...(dryRun ? ["--dry-run"] : [])];
  const wrangler = spawn(projectPath("node_modules", ".bin", "wrangler"), args, {
    cwd: projectRoot,
    env: toolEnvironment,
    stdio: "inherit",
  });
  const [code] = await once(wrangler, "close");
  if (code !== 0) throw new CommandError("wrangler did not deploy. Logged in? npx wrangler whoami shows it.");
  if (!dryRun) console.log("Try it: npm run smoke -- URL (docs/how-to/deploying.md#trying-it).");
});

/** Shows everything that was found; stops if the deployment would not work. */
function report(found: Finding[]): void {
  for (const { level, text } of found) console.error(`${level === "stop" ? "✗" : "·"} ${text}`);
  const stops = found.filter(({ level }) => level === "stop").length;
  if (stops > 0)
    throw new CommandError(`Nothing was deployed: ${stops} ${stops === 1 ? "thing is" : "things are"} wrong.`);
}
