import { watcherTables } from "../../changes/sql/tables.ts";
import { hookTables } from "../../hooks/sql/tables.ts";
import { statusBeforeColumn, tenantVersionFlags, tenantVersionTables } from "../../official/sql/tables.ts";
import { fillVersionFlags } from "../../official/sql/tenant-versions.ts";
import { idempotencyTable } from "../../registry/sql/idempotency.ts";
import { fillOwnIds, ownIdColumn } from "../../registry/sql/item-ids.ts";
import { fillOrigins, originsColumn } from "../../registry/sql/origins.ts";
import { enqueueReanalysis } from "../../registry/sql/reanalysis.ts";
import {
  acknowledgedTable,
  analysisColumn,
  changeRecordColumn,
  changeRestColumn,
  nextLookColumn,
  outboxWithoutRowid,
  registryTables,
  sourceCopyTables,
  stageTables,
} from "../../registry/sql/tables.ts";
import { cardIndexColumns, cardRecordColumns, dropCardIds, tenantSearchTables } from "../../search/sql/tables.ts";
import { fillCardRecords, rebuildCards } from "../../search/sql/tenant-cards.ts";
import { fillSourceCopies } from "../../sources/sql/first-copies.ts";
import { subscriptionTables } from "../../subscriptions/sql/tables.ts";
import type { Step } from "../migrate.ts";
import { reviveWithdrawn } from "./revive-withdrawn.ts";

/**
 * Tables of one tenant, each declared by the feature that uses it. `meta` is STRICT because it stores the tenant's
 * name: in a non-strict table, a column of type ANY stores the text 007 as the number 7.
 */
export const tenantSteps: readonly Step[] = [
  {
    tables: `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT;
  INSERT INTO meta (key, value) VALUES ('generation', 0);
  ${registryTables}
  ${tenantSearchTables}
  ${watcherTables}
  ${hookTables}
  ${subscriptionTables}
  ${tenantVersionTables}
  `,
  },
  { tables: originsColumn, fill: fillOrigins },
  { tables: analysisColumn, fill: enqueueReanalysis },
  { tables: `${cardRecordColumns} ${acknowledgedTable} ${changeRecordColumn}`, fill: fillCardRecords },
  { tables: statusBeforeColumn, fill: reviveWithdrawn },
  { tables: tenantVersionFlags, fill: fillVersionFlags },
  { tables: sourceCopyTables, fill: fillSourceCopies },
  { tables: `${nextLookColumn} ${idempotencyTable}` },
  { tables: stageTables },
  { tables: cardIndexColumns, fill: rebuildCards },
  { tables: `${changeRestColumn} ${dropCardIds} ${outboxWithoutRowid}` },
  { tables: ownIdColumn, fill: fillOwnIds },
];
