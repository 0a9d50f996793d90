import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { tenantKey } from "../../src/kernel/names.ts";
import { cardWords } from "../../src/search/card-words.ts";
import type { ItemChange } from "../../src/search/contract.ts";
import { itemTermWeights } from "../../src/search/item-terms.ts";
import { applyItems } from "../../src/search/sql/directory-cards.ts";
import { directorySearchTables } from "../../src/search/sql/tables.ts";
import type { CatalogueServer } from "../corpus/catalogue.ts";
import { openLocalSql } from "./local-sql.ts";

/** The directory's index of a catalogue, in a file that is used again where it is there. */
export async function openIndex(file: string, servers: () => Iterable<CatalogueServer>): Promise<SqlStorage> {
  if (existsSync(file)) return openLocalSql(file);
  await mkdir(dirname(file), { recursive: true });
  const unfinished = `${file}.part`;
  await rm(unfinished, { force: true });
  const sql = openLocalSql(unfinished);
  sql.exec(directorySearchTables);
  sql.exec("BEGIN");
  for (const { tenant, name, title, tools } of servers()) {
    const changed = tools.map((tool): ItemChange => {
      const [key, declared] = [tool.name, { ...tool }];
      const place = { tenant: tenantKey(tenant), server: name, kind: "tool", key } as const;
      const card = { ...place, id: `mcp.${name}.${key}`, digest: "", tokens: 0, flags: [], ...cardWords(declared) };
      return { kind: "tool", key, indexed: { card, bag: itemTermWeights({ key, declared }, { name, title }) } };
    });
    applyItems(sql, { tenant: tenantKey(tenant), name, generation: 1 }, { publicSince: 1, changed, complete: true });
  }
  sql.exec("COMMIT");
  sql.exec("PRAGMA wal_checkpoint(TRUNCATE);");
  await rename(unfinished, file);
  return openLocalSql(file);
}
