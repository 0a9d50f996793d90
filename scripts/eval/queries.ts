import { readFile } from "node:fs/promises";
import { join } from "node:path";
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

async function readLines<T>(file: string): Promise<T[]> {
  const text = await readFile(file, "utf8").catch(() => {
    throw new CommandError(`There is no ${file} to read.`);
  });
  return text
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
