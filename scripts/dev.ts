import { spawn } from "node:child_process";
import { devVarsName, ensureDevSecret } from "./dev-vars.ts";
import { projectPath, projectRoot } from "./project.ts";
import { toolEnvironment } from "./run-tool.ts";

const help = `
Usage: npm run dev [-- WRANGLER-ARGUMENTS]

Runs \`wrangler dev\`: rebuilds as you edit, with the bindings of wrangler.toml and the secret in ${devVarsName} (made the
first time). Further arguments go to wrangler, for example --port 9000. Data stays in .wrangler/state.
`;

// Not runCommand: every argument but --help is wrangler's.
const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(`${help.trim()}\n\nWrangler's own: npx wrangler dev --help`);
  process.exit(0);
}

if (await ensureDevSecret()) console.log(`Made a secret in ${devVarsName}`);
console.log('A token for it: npm run --silent token -- --dev --tenant demo --scope "registry:read registry:publish"\n');

const wrangler = spawn(projectPath("node_modules", ".bin", "wrangler"), ["dev", ...args], {
  cwd: projectRoot,
  env: toolEnvironment,
  stdio: "inherit",
});
// Ctrl-C reaches wrangler by itself; it decides when to end, and this process ends with it.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => wrangler.kill("SIGTERM"));
wrangler.on("error", (error) => {
  console.error(`${error.message}. Has npm ci been run?`);
  process.exit(1);
});
wrangler.on("exit", (code) => process.exit(code ?? 0));
