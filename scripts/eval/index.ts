import { readFile } from "node:fs/promises";
import { tenantKey } from "../../src/kernel/names.ts";
import { createWasmKernel } from "../../src/search/index/kernel.ts";
import { buildPart, type IndexPart } from "../../src/search/index/part.ts";
import { packVector } from "../../src/search/index/vector.ts";
import type { RankTools } from "../../src/search/index/weigh.ts";
import { itemTermWeights } from "../../src/search/item-terms.ts";
import { readTermWeights } from "../../src/search/term-weights.ts";
import { readVectors, vectorOfItem, type WordVectors } from "../../src/search/word-vectors.ts";
import { projectPath } from "../project.ts";

/** A tool as it is indexed. */
export interface IndexedTool {
  name: string;
  description?: string;
  inputSchema?: object;
}

/** What the Worker ranks with, in this process. */
export async function rankTools(): Promise<RankTools & { vectors: WordVectors }> {
  const bytes = await readFile(projectPath("assets/word-vectors.bin"));
  const vectors = readVectors(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
  if (vectors === undefined) throw new Error("assets/word-vectors.bin cannot be read");
  const module = await WebAssembly.compile(new Uint8Array(await readFile(projectPath("src/search/index/kernel.wasm"))));
  return { kernel: createWasmKernel(module), vectors };
}

/** The index of some servers, as a tenant or the directory would build it. */
export function indexOf(
  servers: Iterable<{ name: string; title: string; tools: readonly IndexedTool[] }>,
  vectors: WordVectors,
): IndexPart {
  const indexed = Array.from(servers, ({ name, title, tools }) => ({
    tenant: tenantKey("eval"),
    name,
    items: tools.map((tool) => {
      const terms = itemTermWeights({ key: tool.name, declared: { ...tool } }, { name, title });
      const vector = packVector(vectorOfItem(vectors, readTermWeights(terms)));
      return { kind: "tool" as const, key: tool.name, attributes: [], deprecated: false, terms, vector };
    }),
  }));
  return buildPart(indexed);
}
