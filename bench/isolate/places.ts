import { readFile } from "node:fs/promises";
import { projectPath } from "../../scripts/project.ts";
import type { CardRow, Place, VersionRow } from "../../src/directory/rows.ts";
import { digestOfTextSync } from "../../src/kernel/digest.ts";
import { tenantKey } from "../../src/kernel/names.ts";
import { attributesOf, countAttributes } from "../../src/manifest/attributes.ts";
import { cardWords } from "../../src/search/card-words.ts";
import { smallVector } from "../../src/search/index/vector.ts";
import { itemTermWeights } from "../../src/search/item-terms.ts";
import { readTermWeights } from "../../src/search/term-weights.ts";
import { readVectors, vectorOfItem, type WordVectors } from "../../src/search/word-vectors.ts";
import type { CatalogueServer } from "../corpus/catalogue.ts";
import type { Tool } from "../corpus/server.ts";

const at = "2026-01-02T03:04:05.678Z";

/** Characters of a definition to a token, about: tokens are counted nowhere here. */
const charactersPerToken = 4;

/** The table that the Worker reads from its assets. */
export async function readWordVectors(): Promise<WordVectors> {
  const bytes = await readFile(projectPath("assets/word-vectors.bin"));
  const vectors = readVectors(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer);
  if (vectors === undefined) throw new Error("assets/word-vectors.bin cannot be read");
  return vectors;
}

/** A server as the directory would have it, without having been published. */
export function placeOf({ tenant, name, title, tools }: CatalogueServer, vectors: WordVectors): Place {
  const cards = tools.map((tool) => cardOf({ name, title }, tool, vectors));
  const tokens = cards.reduce((sum, card) => sum + card.tokens, 0);
  const { values } = countAttributes(cards.map(({ attributes }) => attributes));
  return {
    tenant: tenantKey(tenant),
    name,
    entry: {
      ...{ tenant, name, title, visibility: "public", status: "active", probe: "unknown" },
      ...{
        counts: { tool: cards.length },
        tokens,
        generation: 1,
        updatedAt: at,
        attributes: values.map(([dimension, value]) => [dimension, value]),
      },
      digest: digestOfTextSync(`${tenant}/${name}`),
    },
    cardsAsOf: 1,
    cards,
    versions: [derivedVersion(`${tenant}/${name}`, title)],
  };
}

function cardOf(server: { name: string; title: string }, tool: Tool, vectors: WordVectors): CardRow {
  const text = JSON.stringify(tool);
  const declared = tool as unknown as Record<string, unknown>;
  const terms = itemTermWeights({ key: tool.name, declared }, server);
  const { values, scale } = smallVector(vectorOfItem(vectors, readTermWeights(terms)));
  return {
    ...cardWords(declared),
    kind: "tool",
    key: tool.name,
    id: `mcp.${server.name}.${tool.name}`,
    digest: digestOfTextSync(text),
    tokens: Math.ceil(text.length / charactersPerToken),
    flags: [],
    attributes: attributesOf(declared),
    terms: new Uint8Array(terms),
    vector: { numbers: values, scale },
  };
}

/** What `/v0.1` shows of a server that published no version. */
function derivedVersion(name: string, title: string): VersionRow {
  return {
    ...{ version: "0.0.0", status: "active", statusChangedAt: at, publishedAt: at, updatedAt: at },
    ...{ isLatest: true, isDerived: true, description: title.toLowerCase(), flags: [], sequence: 1, generation: 1 },
    document: JSON.stringify({ name, title, version: "0.0.0" }),
  };
}
