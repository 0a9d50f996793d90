import { readdir, readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { gunzipSync } from "node:zlib";
import { CommandError } from "../../cli/command.ts";
import { projectPath, projectRoot } from "../../cli/project.ts";

export interface Tool {
  name: string;
  description?: string;
  inputSchema?: Record<string, unknown>;
}

/** A server as somebody wrote it. */
export interface RealServer {
  identifier: string;
  title: string;
  categories: string[];
  tools: Tool[];
}

const fixtures = resolve(projectRoot, process.env["ROLLCALL_FIXTURES"] ?? "../shared/fixtures");

/** The public catalogue where it is installed beside the project; else the demo, said aloud. */
export async function realServers(): Promise<RealServer[]> {
  const file = resolve(fixtures, "catalog/mcp-servers.ndjson.gz");
  const bytes = await readFile(file).catch(() => undefined);
  if (bytes !== undefined) return parseServers(bytes, file);
  console.error("No catalog/mcp-servers.ndjson.gz in ROLLCALL_FIXTURES: everything is derived from examples/demo.");
  return demoServers();
}

/** One JSON object a line, with "identifier" and "tools", gzipped or not. */
export async function serversIn(file: string): Promise<RealServer[]> {
  const bytes = await readFile(file).catch(() => {
    throw new CommandError(`There is no ${file} to read.`);
  });
  return parseServers(bytes, file);
}

interface Line {
  identifier: string;
  server?: { name?: string };
  categories?: string[];
  tools?: Tool[];
}

function parseServers(bytes: Buffer, file: string): RealServer[] {
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
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
      manifest: { tools?: Tool[] };
    };
    if (manifest.tools === undefined || manifest.tools.length === 0) continue;
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
