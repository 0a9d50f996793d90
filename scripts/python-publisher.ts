import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CommandError, runCommand } from "./command.ts";
import { loadDemoOnce } from "./demo.ts";
import { startEmbedded } from "./embedded.ts";
import { projectPath } from "./project.ts";
import { installPython, lastLine, run } from "./python.ts";

const help = `
Usage: npm run python-publisher [-- --verbose]

Runs the tests of packages/python with the official SDK, fastmcp and standardwebhooks from the package index. Then connects
the official Python SDK and the MCP Inspector to a running copy of the registry, through \`rollcall mcp\` and through a file that
\`rollcall config --write\` wrote. Everything it installs and writes is in a directory that is removed afterwards. Without Python
or the package index it says so, and connects the Inspector alone.
`;

/** Exact, as in package.json. */
const packages = ["mcp==2.3.0", "fastmcp==4.1.2", "standardwebhooks==1.1.0"];

await runCommand({ help, options: { verbose: { type: "boolean", default: false } } }, async ({ verbose }) => {
  await mkdir(projectPath(".wrangler"), { recursive: true });
  const scratch = await mkdtemp(projectPath(".wrangler", "python-publisher-"));
  try {
    const missing = await installPython(join(scratch, "venv"), packages);
    const python = join(scratch, "venv", "bin", "python");
    if (missing !== undefined) console.log(`Skipped the Python publisher: ${missing}`);
    else await testPublisher(python, verbose);
    await connect(scratch, missing === undefined ? python : undefined);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
});

async function testPublisher(python: string, verbose: boolean): Promise<void> {
  const args = ["-m", "unittest", "discover", "-s", "packages/python"];
  const tested = await run("", python, args, { PYTHONDONTWRITEBYTECODE: "1" });
  if (tested.exitCode !== 0) throw new CommandError(`The tests of packages/python fail.\n\n${tested.output}`);
  if (verbose) console.log(tested.output);
  console.log(`✓ packages/python: ${/Ran .*/.exec(tested.output)?.[0] ?? "no tests"}`);
}

/** Real clients, through the command and through a written file. */
async function connect(scratch: string, python: string | undefined): Promise<void> {
  const server = await startEmbedded({
    ...{ host: "127.0.0.1", port: 0, data: join(scratch, "data"), vars: {}, quiet: true },
  });
  try {
    await loadDemoOnce(server);
    const rollcall = projectPath("scripts/rollcall.ts");
    const file = join(scratch, "mcp.json");
    await required("rollcall config", process.execPath, [
      ...[rollcall, "config", "claude-code", "--write", "--file", file, "--url", server.url],
    ]);
    const stdio = {
      mcpServers: { rollcall: { command: process.execPath, args: [rollcall, "mcp", "--url", server.url] } },
    };
    const bridged = join(scratch, "bridged.json");
    await writeFile(bridged, JSON.stringify(stdio));
    const inspector = projectPath("node_modules/.bin/mcp-inspector");
    for (const [how, config] of [
      ["a written file", file],
      ["rollcall mcp", bridged],
    ] as const) {
      const args = ["--cli", "--config", config, "--server", "rollcall", "--method", "tools/list"];
      const listed = await required(`The Inspector through ${how}`, inspector, args);
      if (!listed.includes("search_capabilities")) throw new CommandError(`The Inspector sees no tools.\n\n${listed}`);
      console.log(`✓ the MCP Inspector lists the tools through ${how}`);
      if (python === undefined) continue;
      const said = await required(`The Python SDK through ${how}`, python, [
        "test/e2e/clients/connected_client.py",
        config,
      ]);
      console.log(`✓ through ${how}: ${lastLine(said)}`);
    }
  } finally {
    await server.stop();
  }
}

async function required(what: string, command: string, args: string[]): Promise<string> {
  const { exitCode, output } = await run("", command, args);
  if (exitCode !== 0) throw new CommandError(`${what} does not work.\n\n${output}`);
  return output;
}
