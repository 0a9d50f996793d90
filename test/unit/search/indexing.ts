import { tenantKey } from "../../../src/kernel/names.ts";
import type { Attribute } from "../../../src/manifest/attributes.ts";
import type { CapabilityKind } from "../../../src/manifest/schema/capability.ts";
import { buildPart, type IndexPart } from "../../../src/search/index/part.ts";
import { packVector } from "../../../src/search/index/vector.ts";
import { itemTermWeights } from "../../../src/search/item-terms.ts";
import { hashOf, readTermWeights } from "../../../src/search/term-weights.ts";
import { termsOf } from "../../../src/search/terms.ts";
import { noRow, readVectors, vectorOfItem, type WordVectors, writeVectors } from "../../../src/search/word-vectors.ts";

export interface Item {
  name: string;
  description?: string;
  server?: string;
  tenant?: string;
  kind?: CapabilityKind;
  attributes?: Attribute[];
  deprecated?: boolean;
}

/** A table in which words of one line mean the same, and words of different lines nothing to each other. */
export function tableOf(...meanings: string[][]): WordVectors {
  const terms = meanings.flatMap((words, dimension) =>
    words.map((word) => ({ hash: hashOf(String(termsOf(word)[0])), dimension })),
  );
  const neighbours = terms.map(({ dimension }, row) => {
    const other = terms.findIndex((term, at) => term.dimension === dimension && at !== row);
    return other === -1 ? noRow : other;
  });
  const values = terms.flatMap(({ dimension }) => Array.from({ length: 128 }, (_, at) => (at === dimension ? 100 : 0)));
  const table = readVectors(
    writeVectors({
      hashes: Uint32Array.from(terms, ({ hash }) => hash),
      scales: new Float32Array(terms.length).fill(0.01),
      neighbours: Uint16Array.from(neighbours),
      values: Int8Array.from(values),
    }),
  );
  if (table === undefined) throw new Error("the table cannot be read back");
  return table;
}

/** A part with these items, neighbours of a server together. */
export function partOf(items: readonly Item[], table?: WordVectors): IndexPart {
  const servers: { tenant: string; name: string; items: Item[] }[] = [];
  for (const item of items) {
    const { tenant = "t", server = "s" } = item;
    const last = servers.at(-1);
    if (last?.tenant === tenant && last.name === server) last.items.push(item);
    else servers.push({ tenant, name: server, items: [item] });
  }
  return buildPart(
    servers.map(({ tenant, name: server, items: own }) => ({
      tenant: tenantKey(tenant),
      name: server,
      items: own.map(({ name, description = "", kind = "tool", attributes = [], deprecated = false }) => {
        const terms = itemTermWeights({ key: name, declared: { name, description } }, { name: server });
        const vector = table && packVector(vectorOfItem(table, readTermWeights(terms)));
        return { kind, key: name, attributes, deprecated, terms, vector };
      }),
    })),
  );
}
