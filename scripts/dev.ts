import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { parseEnv } from "node:util";
import { CommandError } from "./command.ts";
import { demoLoaderToken, loadDemo } from "./demo.ts";
import { devVarsName, ensureDevSecret, readDevSecret } from "./dev-vars.ts";
import { projectPath, projectRoot } from "./project.ts";
import { toolEnvironment } from "./run-tool.ts";
import { welcomeText } from "./things-to-try.ts";
import { readWorkerConfig } from "./worker-config.ts";

const help = `
Usage: npm run dev [-- [--demo | --no-demo] WRANGLER-ARGUMENTS]

Runs \`wrangler dev\`: rebuilds as you edit, with the bindings of wrangler.toml and the secret in ${devVarsName} (made the
first time). Loads the demo catalogue on the first run, and prints the URL, a token and three commands to try. Further
arguments go to wrangler, for example --port 9000. Data stays in .wrangler/state.
  --demo      load the demo catalogue now, though this is not the first run
  --no-demo   do not load it
`;

/** Written once the demo was loaded: what somebody deleted must stay deleted. Gone with the data it speaks of. */
const demoLoaded = projectPath(".wrangler", "state", "demo-loaded");

// Not runCommand: every argument but these is wrangler's.
const own = new Set(["--demo", "--no-demo"]);
const args = process.argv.slice(2).filter((argument) => !own.has(argument));
if (args.includes("--help") || args.includes("-h")) {
  console.log(`${help.trim()}\n\nWrangler's own: npx wrangler dev --help`);
  process.exit(0);
}

if (await ensureDevSecret()) console.log(`Made a secret in ${devVarsName}`);
console.log("Starting wrangler dev …");

const wrangler = spawn(
  projectPath("node_modules", ".bin", "wrangler"),
  ["dev", "--show-interactive-dev-session=false", ...args],
  {
    cwd: projectRoot,
    env: { ...toolEnvironment, ...(process.stdout.isTTY ? { FORCE_COLOR: "1" } : {}) },
    stdio: ["ignore", "pipe", "pipe"],
  },
);
// Ctrl-C reaches wrangler by itself; it decides when to end, and this process ends with it.
process.on("SIGINT", () => {});
let isStopping = false;
for (const signal of ["SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    isStopping = true;
    wrangler.kill("SIGTERM");
  });
}

/** Lists of bindings and hints up to the moment it answers, and the loading of the demo: not shown. */
const early: string[] = [];
let isReady = false;
let isWelcomed = false;
for (const [stream, out] of [
  [wrangler.stdout, process.stdout],
  [wrangler.stderr, process.stderr],
] as const) {
  createInterface({ input: stream }).on("line", (line) => {
    if (isWelcomed) out.write(`${line}\n`);
    else if (!isReady) early.push(line);
    const [, url] = /Ready on (https?:\/\/\S+)/.exec(line) ?? [];
    if (url === undefined || isReady) return;
    isReady = true;
    welcome(url)
      .catch((error: unknown) => console.error(error instanceof CommandError ? error.message : error))
      .finally(() => {
        isWelcomed = true;
      });
  });
}

wrangler.on("error", (error) => {
  console.error(`${error.message}. Has npm ci been run?`);
  process.exit(1);
});
wrangler.on("close", (code) => {
  if (!isReady && code !== 0) console.error(failureOf(early));
  process.exit(isStopping ? 0 : (code ?? 0));
});

async function welcome(url: string): Promise<void> {
  const secret = (await readDevSecret()) ?? "";
  const { vars } = await readWorkerConfig();
  const settings = { ...vars, ...parseEnv(await readFile(projectPath(devVarsName), "utf8")) } as Record<string, string>;
  const isAsked = process.argv.includes("--demo");
  if (isAsked || (!process.argv.includes("--no-demo") && !(await isLoaded()))) {
    console.log("Loading the demo catalogue …");
    await loadDemo(url, await demoLoaderToken(secret, settings));
    await writeFile(demoLoaded, "");
  }
  const about = "data in .wrangler/state; it is rebuilt as you edit, Ctrl-C stops it";
  const tokenCommand = "npm run token -- --dev";
  console.log(await welcomeText({ url, secret, vars: settings }, { about, tokenCommand, admin: false }));
}

function isLoaded(): Promise<boolean> {
  return readFile(demoLoaded).then(
    () => true,
    () => false,
  );
}

/** What wrangler says is wrong, without the page of help that it prints for a misspelt option. */
function failureOf(lines: readonly string[]): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of the terminal
  const plain = lines.map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, "").trim()).filter((line) => line !== "");
  const isError = /\[ERROR\]|^unknown argument/i;
  const error = plain.find((line) => isError.test(line)) ?? plain.at(-1) ?? "it gave no reason";
  return `wrangler dev did not start: ${error.replace(/^✘ \[ERROR\] /, "")}\nIts options: npx wrangler dev --help`;
}
