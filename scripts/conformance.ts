import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { CommandError, runCommand } from "./command.ts";
import { startEmbedded } from "./embedded.ts";
import { projectPath } from "./project.ts";
import { runTool } from "./run-tool.ts";

const help = `
Usage: npm run conformance [-- --verbose]

Runs the official MCP conformance suite against the registry, in both revisions it serves: as it is deployed, but built
from test/conformance/worker.ts, which serves the suite's fixtures beside the registry's own tools, resources and
prompts. What is expected to fail is named, with its reason, in test/conformance/.
`;

const revisions: { name: string; baseline?: string }[] = [
  { name: "2026-07-28" },
  { name: "2025-11-25", baseline: "test/conformance/baseline-2025-11-25.yaml" },
];

await runCommand({ help, options: { verbose: { type: "boolean", default: false } } }, async ({ verbose }) => {
  // Ignored by git, and below the project: the runtime takes no module from above the directory it starts in.
  await mkdir(projectPath(".wrangler"), { recursive: true });
  const scratch = await mkdtemp(projectPath(".wrangler", "conformance-"));
  try {
    const built = await runTool("wrangler", [
      ...["deploy", "test/conformance/worker.ts", "--env=", "--dry-run", "--outdir", join(scratch, "worker")],
    ]);
    if (built.exitCode !== 0) throw new CommandError(`The Worker could not be built.\n\n${built.output}`);
    const server = await startEmbedded({
      ...{ host: "127.0.0.1", port: 0, data: join(scratch, "data"), vars: {}, quiet: true },
      bundle: join(scratch, "worker", "worker.js"),
    });
    try {
      let failed = 0;
      for (const revision of revisions) if (!(await passes(server.url, revision, verbose))) failed += 1;
      if (failed > 0) throw new CommandError(`${failed} of ${revisions.length} revisions do not conform.`);
    } finally {
      await server.stop();
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
});

async function passes(
  url: string,
  { name, baseline }: { name: string; baseline?: string },
  verbose: boolean,
): Promise<boolean> {
  const expected = baseline === undefined ? [] : ["--expected-failures", projectPath(baseline)];
  const { exitCode, output } = await runTool("conformance", [
    ...["server", "--url", `${url}/mcp`, "--requirements", name, ...expected],
  ]);
  const summary = output.slice(output.lastIndexOf("=== SUMMARY ==="));
  console.log(`${exitCode === 0 ? "✓" : "✗"} MCP ${name}\n${exitCode === 0 && !verbose ? summary : output}`);
  return exitCode === 0;
}
