import { catalogTables, dropCatalogTables } from "../../catalog/sql/tables.ts";
import { segmentTables } from "../../directory/sql/tables.ts";
import { directoryVersionFlags, directoryVersionTables, versionUpdatedIndex } from "../../official/sql/tables.ts";
import { cardRecordColumns, directoryCardIndex, directorySearchTables } from "../../search/sql/tables.ts";
import type { Step } from "../migrate.ts";

/** Tables of the directory: its list of servers, and the tables of other features. */
export const directorySteps: readonly Step[] = [
  {
    tables: `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL);
  INSERT INTO meta (key, value) VALUES ('generation', 0);
  CREATE TABLE server (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    generation INTEGER NOT NULL,
    public INTEGER NOT NULL,
    entry TEXT,
    PRIMARY KEY (tenant, name)
  );
  CREATE INDEX server_public ON server (public, tenant, name) WHERE entry IS NOT NULL;
  ${catalogTables}
  ${directorySearchTables}
  ${directoryVersionTables}
  `,
  },
  // Tenants send their items again, with tokens counted anew. Until then the cards stay as they are.
  { tables: "DELETE FROM indexed_server;" },
  { tables: `${cardRecordColumns} ${directoryVersionFlags} DELETE FROM indexed_server;` },
  { tables: versionUpdatedIndex },
  { tables: segmentTables },
  { tables: dropCatalogTables },
  // Tenants send their items again, with attributes and vectors. Until then they are found by their words.
  { tables: `${directoryCardIndex} DELETE FROM indexed_server;` },
];
