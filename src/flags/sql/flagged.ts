import { canonicalJson, digestOfTextSync } from "../../kernel/digest.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { Flag } from "../../manifest/flag.ts";
import { shownFlags } from "../../manifest/flag.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import { itemFlagsIn, obstacleTo, serverFlags } from "../../registry/record.ts";
import type { ServerConfig } from "../../registry/schema.ts";
import { acknowledgedFlags } from "../../registry/sql/acknowledged.ts";
import { flagsOfRow, type ServerRow } from "../../registry/sql/servers.ts";
import type { FlagPosition } from "../contract.ts";
import type { FlaggedContent } from "../schema.ts";

interface ItemRow extends Record<string, SqlStorageValue> {
  kind: CapabilityKind;
  key: string;
  id: string;
  digest: string;
  flags: string;
}

/** What is flagged, in order of server, kind and name. Reads whole servers until the page is full. */
export function flaggedContent(
  sql: SqlStorage,
  [server, kind, name]: FlagPosition,
  limit: number,
): { items: FlaggedContent[]; next?: FlagPosition } {
  const items: FlaggedContent[] = [];
  const rows = sql.exec<ServerRow>(
    `SELECT * FROM server WHERE name >= ? AND deleted_at IS NULL AND (flags <> '[]' OR EXISTS (
       SELECT 1 FROM capability WHERE server = name AND last_revision IS NULL AND capability.flags <> '[]'))
     ORDER BY name`,
    server,
  );
  for (const row of rows) {
    const found = flaggedOf(sql, row).filter((one) => isAfter(one, [server, kind, name]));
    for (const one of found) {
      if (items.length === limit) return { items, next: positionOf(items.at(-1)) };
      items.push(one);
    }
  }
  return { items };
}

/** The flagged content of one server, in order of kind and name. */
export function flaggedOf(sql: SqlStorage, row: ServerRow): FlaggedContent[] {
  const head = {
    flags: flagsOfRow(row),
    acknowledged: acknowledgedFlags(sql, row.name),
    digest: row.digest ?? undefined,
  };
  const flagsOf = itemFlagsIn(head);
  const named = head.flags.flatMap(({ capability }) => capability ?? []);
  const items = sql
    .exec<ItemRow>(
      `SELECT kind, key, id, digest, flags FROM capability WHERE server = ?1 AND last_revision IS NULL
         AND (flags <> '[]' OR id IN (SELECT value FROM json_each(?2)))`,
      row.name,
      JSON.stringify(named),
    )
    .toArray()
    .map(({ kind, key: name, id, digest, flags }): FlaggedContent => {
      const shown = shownFlags(flagsOf({ id, digest, flags: readJson(flags) as Flag[] }));
      const leftOut = obstacleTo({ flags: shown, status: "active" }) !== undefined;
      return { server: row.name, kind, name, id, digest, flags: shown, leftOut };
    });
  const own = Map.groupBy(serverFlags(head), ({ of }) => of ?? "server");
  const texts = [...own].map(([kind, flags]): FlaggedContent => {
    const digest = kind === "config" ? configDigest(row) : (row.digest ?? "");
    return { server: row.name, kind, name: row.name, digest, flags: shownFlags(flags), leftOut: false };
  });
  return [...items, ...texts].sort((a, b) => compare(positionOf(a), positionOf(b)));
}

function configDigest({ config }: ServerRow): string {
  return digestOfTextSync(canonicalJson(readJson(config) as ServerConfig));
}

function positionOf(content: FlaggedContent): FlagPosition;
function positionOf(content: FlaggedContent | undefined): FlagPosition | undefined;
function positionOf(content: FlaggedContent | undefined): FlagPosition | undefined {
  return content && [content.server, content.kind, content.name];
}

function isAfter(content: FlaggedContent, position: FlagPosition): boolean {
  return compare(positionOf(content), position) > 0;
}

function compare(a: FlagPosition, b: FlagPosition): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] ?? "";
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}
