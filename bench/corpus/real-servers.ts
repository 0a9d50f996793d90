import { readdir, readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { projectPath } from "../../scripts/project.ts";
import { fixturePath } from "./fixtures.ts";
import type { RealServer, Tool } from "./server.ts";

const catalogue = "catalog/mcp-servers.ndjson.gz";

/** Which of the two a run has gone by. */
export function catalogueKind(): "real" | "demo-derived" {
  return fixturePath(catalogue) === undefined ? "demo-derived" : "real";
}

/** The public catalogue where it is installed beside the project; else the demo, said aloud. */
export async function realServers(): Promise<RealServer[]> {
  const file = fixturePath(catalogue);
  if (file !== undefined) return serversIn(file);
  console.error(`No ${catalogue} in ROLLCALL_FIXTURES: everything is derived from examples/demo.`);
  return demoServers();
}

interface Line {
  identifier: string;
  server?: { name?: string };
  categories?: string[];
  tools?: Tool[];
}

/** One JSON object a line, with "identifier" and "tools". */
async function serversIn(file: string): Promise<RealServer[]> {
  const text = gunzipSync(await readFile(file)).toString("utf8");
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line): RealServer => {
    const { identifier, server, categories = [], tools = [] } = JSON.parse(line) as Line;
    return { identifier, title: server?.name ?? identifier, categories, tools };
  });
}

async function demoServers(): Promise<RealServer[]> {
  const names = (await readdir(projectPath("examples/demo"))).filter((name) => name.endsWith(".json")).sort();
  const servers: RealServer[] = [];
  for (const name of names) {
    const { config, manifest } = JSON.parse(await readFile(projectPath("examples/demo", name), "utf8")) as {
      config: { name: string; title?: string };
      /** Absent where a document of another format is imported. */
      manifest?: { tools?: Tool[] };
    };
    if (manifest?.tools === undefined || manifest.tools.length === 0) continue;
    const tools = manifest.tools.map(({ name, description, inputSchema }) => ({
      name,
      ...(description === undefined ? {} : { description }),
      ...(inputSchema === undefined ? {} : { inputSchema }),
    }));
    servers.push({
      identifier: `demo/${config.name}`,
      title: config.title ?? config.name,
      categories: ["Demo"],
      tools,
    });
  }
  return servers;
}
