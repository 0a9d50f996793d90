import type { Topic, TopicChange } from "../../domain/topic.ts";
import { type ChangeRow, changeOf, generationOf } from "./change-log.ts";
import { findLive } from "./servers.ts";

export interface TopicChanges {
  changes: TopicChange[];
  /** The generation up to which this is everything; below the tenant's own where one answer does not hold it all. */
  upTo: number;
  generation: number;
  /** False where the log no longer reaches back as far as was asked. */
  complete: boolean;
}

/**
 * Of one server in one answer, or as many as one generation can bring (an item changes and is switched, and so may the
 * server): whoever is further behind asks again from where this ends, which is always further on.
 */
function mostOf(items: number): number {
  return Math.max(1_000, 2 * items + 2);
}

/** What happened to the followed items since each of their servers was last seen. */
export function topicChanges(sql: SqlStorage, tenant: string, topic: Topic): TopicChanges {
  const generation = generationOf(sql);
  const oldest = oldestGeneration(sql);
  const pages = topic.servers.map((followed) => pageOf(sql, topic, followed));
  const upTo = Math.min(generation, ...pages.map((page) => page.upTo));
  const changes = pages
    .flatMap((page) => page.changes)
    .filter((change) => change.generation <= upTo)
    .map((change) => ({ ...change, tenant }))
    .sort((a, b) => a.sequence - b.sequence);
  return { changes, upTo, generation, complete: topic.servers.every(({ since }) => since >= oldest - 1) };
}

function pageOf(
  sql: SqlStorage,
  { onlyPublic }: Topic,
  { server, since, items }: Topic["servers"][number],
): { changes: Omit<TopicChange, "tenant">[]; upTo: number } {
  const most = mostOf(items.length);
  const rows = sql
    .exec<ChangeRow>(
      `SELECT * FROM change WHERE server = ?1 AND generation > ?2 AND (
         (kind, key) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?3))
         OR (kind = 'server' AND classification IN ('removed', 'breaking')))
       ORDER BY sequence LIMIT ?4`,
      server,
      since,
      JSON.stringify(items.map(({ kind, key }) => [kind, key])),
      most,
    )
    .toArray();
  const ids = new Map(items.map(({ kind, key, id }) => [`${kind} ${key}`, id]));
  const lost = onlyPublic && findLive(sql, server)?.visibility !== "public";
  // The last that someone outside learns of a server is that they have lost it.
  const end = lost ? rows.findIndex(({ kind }) => kind === "server") + 1 : 0;
  const changes = (end > 0 ? rows.slice(0, end) : rows).map((row) => {
    const id = ids.get(`${row.kind} ${row.key}`);
    const { reasons, ...change } = changeOf(row);
    // Why something changed is the tenant's own business.
    return { ...change, reasons: onlyPublic ? [] : reasons, ...(id === undefined ? {} : { id }) };
  });
  // The last generation of a full page may go on behind it.
  const full = rows.length === most && end === 0;
  return { changes, upTo: full ? (rows.at(-1)?.generation ?? since) - 1 : Number.MAX_SAFE_INTEGER };
}

/** Entries of earlier generations may have been pruned. */
function oldestGeneration(sql: SqlStorage): number {
  const first = sql
    .exec<{ sequence: number; generation: number }>("SELECT sequence, generation FROM change ORDER BY sequence LIMIT 1")
    .toArray()[0];
  return first === undefined || first.sequence === 1 ? 0 : first.generation;
}
