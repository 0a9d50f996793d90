import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { CommandError } from "../command.ts";

/** A tool of the corpus. */
export interface CorpusTool {
  id: string;
  server: string;
  name: string;
  description?: string;
  inputSchema?: object;
}

/** A task with the tools that serve it. */
export interface Judged {
  query: string;
  relevant: string[];
}

export async function readSet(directory: string): Promise<{ corpus: CorpusTool[]; queries: Judged[] }> {
  return {
    corpus: await readLines<CorpusTool>(join(directory, "corpus.ndjson")),
    queries: await readLines<Judged>(join(directory, "queries.ndjson")),
  };
}

/** A server of a catalogue, one JSON object a line. */
interface CatalogueLine {
  identifier: string;
  server?: { name?: string };
  tools?: Omit<CorpusTool, "id" | "server">[];
}

/** The tools of a catalogue that a set is searched among. None of them is an answer to a task. */
export async function readCatalogue(file: string): Promise<CorpusTool[]> {
  const servers = await readLines<CatalogueLine>(file);
  return servers.flatMap(({ identifier, server, tools = [] }) =>
    tools.map((tool) => ({ ...tool, id: `among ${identifier}/${tool.name}`, server: server?.name ?? identifier })),
  );
}

async function readLines<T>(file: string): Promise<T[]> {
  const bytes = await readFile(file).catch(() => {
    throw new CommandError(`There is no ${file} to read.`);
  });
  return textOf(file, bytes)
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line, index) => {
      try {
        return JSON.parse(line) as T;
      } catch {
        throw new CommandError(`${file}, line ${index + 1} is not JSON.`);
      }
    });
}

function textOf(file: string, bytes: Buffer): string {
  if (!file.endsWith(".gz")) return bytes.toString("utf8");
  try {
    return gunzipSync(bytes).toString("utf8");
  } catch {
    throw new CommandError(`${file} is not a gzip file.`);
  }
}
