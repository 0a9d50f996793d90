import { glob, mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { CommandError, runCommand } from "./command.ts";
import { loadDemoOnce } from "./demo.ts";
import { startEmbedded } from "./embedded.ts";
import { mintToken } from "./mint-token.ts";
import { projectPath } from "./project.ts";
import { installPython, lastLine, run } from "./python.ts";

const help = `
Usage: npm run python-client [-- --verbose]

Makes a Python client of schemas/openapi.json with openapi-python-client, and calls a running copy of the registry with
it: test/e2e/clients/search_client.py. Everything it installs and writes is in a directory that is removed afterwards.
Without Python or the package index it says so, and does nothing.
`;

/** Exact, as in package.json. */
const generator = "openapi-python-client==0.29.1";

await runCommand({ help, options: { verbose: { type: "boolean", default: false } } }, async ({ verbose }) => {
  await mkdir(projectPath(".wrangler"), { recursive: true });
  const scratch = await mkdtemp(projectPath(".wrangler", "python-client-"));
  try {
    const bin = join(scratch, "venv", "bin");
    const missing = await installPython(join(scratch, "venv"), [generator]);
    if (missing !== undefined) {
      console.log(`Skipped the Python client: ${missing}`);
      return;
    }
    const client = join(scratch, "rollcall_client");
    // The generator looks for its formatter on the path.
    const made = await run(bin, join(bin, "openapi-python-client"), [
      ...["generate", "--path", "schemas/openapi.json", "--meta", "none", "--output-path", client],
    ]);
    if (made.exitCode !== 0) throw new CommandError(`The client could not be generated.\n\n${made.output}`);
    if (verbose) console.log(made.output);
    console.log(`✓ openapi-python-client: ${await summary(client, made.output)}`);
    await call(bin, scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
});

async function summary(client: string, output: string): Promise<string> {
  let [files, lines] = [0, 0];
  for await (const path of glob("**/*.py", { cwd: client })) {
    files += 1;
    lines += (await readFile(join(client, path), "utf8")).split("\n").length - 1;
  }
  const warnings = output.split("\n").filter((line) => line.startsWith("WARNING")).length;
  return `${files} files, ${lines} lines, ${warnings} warnings`;
}

async function call(bin: string, scratch: string): Promise<void> {
  const server = await startEmbedded({
    ...{ host: "127.0.0.1", port: 0, data: join(scratch, "data"), vars: {}, quiet: true },
  });
  try {
    await loadDemoOnce(server);
    const token = await mintToken(server.data.secret.value, server.vars, {
      ...{ subject: "python-client", tenants: ["demo"], admin: false, scope: "registry:read", lifetime: 600 },
    });
    const called = await run(bin, join(bin, "python"), ["test/e2e/clients/search_client.py", server.url], {
      PYTHONPATH: scratch,
      PYTHONDONTWRITEBYTECODE: "1",
      ROLLCALL_TOKEN: token,
    });
    if (called.exitCode !== 0) throw new CommandError(`The client does not work.\n\n${called.output}`);
    console.log(`✓ ${lastLine(called.output)}`);
  } finally {
    await server.stop();
  }
}
