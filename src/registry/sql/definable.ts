import { readJson } from "../../kernel/read-json.ts";
import { analysisVersion } from "../../manifest/describe.ts";
import type { CapabilityFlag, Flag } from "../../manifest/flag.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import type { StoredDefinition } from "../contract.ts";
import { itemFlagsIn } from "../record.ts";
import type { ServerStatus } from "../schema.ts";
import { acknowledgedFlags } from "./acknowledged.ts";
import { boundIds, itemsWithIds } from "./item-ids.ts";

/** Longer items are not sent to models. The longest of some 12,000 public tools has 52,000 characters. */
const maxDeclaredLength = 65_536;

interface Row extends Record<string, SqlStorageValue> {
  server: string;
  kind: CapabilityKind;
  key: string;
  id: string;
  digest: string;
  tokens: number | null;
  flags: string;
  server_flags: string;
  status: ServerStatus | null;
  declared: string | null;
}

/** Current, enabled items by id; for callers outside the tenant only of public servers. */
export function definableItems(sql: SqlStorage, ids: readonly string[], onlyPublic: boolean): StoredDefinition[] {
  const rows = sql
    .exec<Row>(
      `SELECT c.server, c.kind, c.key, c.id, c.digest, c.flags, iif(c.analysis = ?, c.tokens, NULL) AS tokens,
         s.flags AS server_flags, s.config ->> '$.status' AS status,
         iif(length(c.declared) <= ${maxDeclaredLength}, c.declared, NULL) AS declared
       FROM ${itemsWithIds} AS c JOIN server s ON s.name = c.server
       WHERE s.deleted_at IS NULL
         ${onlyPublic ? "AND s.public_since IS NOT NULL" : ""} AND NOT EXISTS
           (SELECT 1 FROM disabled d WHERE d.server = c.server AND d.kind = c.kind AND d.key = c.key)`,
      analysisVersion,
      ...boundIds(ids),
    )
    .toArray();
  return rows.map(({ server, kind, key, id, digest, declared, ...row }) => {
    const head = {
      flags: readJson(row.server_flags) as CapabilityFlag[],
      acknowledged: acknowledgedFlags(sql, server),
    };
    const flags = itemFlagsIn(head)({ id, digest, flags: readJson(row.flags) as Flag[] });
    return {
      ...{ server, kind, key, id, digest, flags },
      tokens: row.tokens ?? undefined,
      status: row.status ?? "active",
      declared: declared ?? undefined,
    };
  });
}
