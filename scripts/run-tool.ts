import { spawn } from "node:child_process";
import { devNull } from "node:os";
import { delimiter, join } from "node:path";
import { projectPath, projectRoot } from "./project.ts";

export interface ToolResult {
  exitCode: number;
  /** What it wrote to stdout and stderr, in the order it came. */
  output: string;
}

const bin = projectPath("node_modules", ".bin");

/** Keeps tools to themselves: no reports, no look for newer versions, no log files in the home directory. */
export const toolEnvironment: NodeJS.ProcessEnv = {
  ...process.env,
  // The project's own Node comes first, as in every npm script: the machine's may be too old for wrangler.
  PATH: `${bin}${delimiter}${process.env["PATH"]}`,
  WRANGLER_HIDE_BANNER: "true",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_WRITE_LOGS: "false",
  REDOCLY_TELEMETRY: "off",
  REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
  // Otherwise wrangler asks a Cloudflare server where on earth it is, to fill in request.cf.
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
};

/** Arguments of wrangler for worker-configuration.d.ts: blind to .dev.vars, whose names it would take for bindings. */
export const bindingTypes = ["types", "--include-runtime=false", "--strict-vars=false", `--env-file=${devNull}`];

/** Runs a tool from node_modules/.bin in the project and keeps its output, to be shown only where it failed. */
export function runTool(name: string, args: string[]): Promise<ToolResult> {
  const child = spawn(join(bin, name), args, {
    cwd: projectRoot,
    // CI: nothing asks a question.
    env: { ...toolEnvironment, CI: "true" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8");
    stream.on("data", (text: string) => {
      output += text;
    });
  }
  return new Promise((resolve) => {
    child.on("error", (error) => resolve({ exitCode: 1, output: `${error.message}. Has npm ci been run?\n` }));
    child.on("close", (code) => resolve({ exitCode: code ?? 1, output }));
  });
}
