import type { Topic, TopicChange } from "../../domain/topic.ts";
import { type ChangeRow, changeOf, generationOf } from "./change-log.ts";
import { findLive } from "./servers.ts";

export interface TopicChanges {
  changes: TopicChange[];
  /** The generation up to which this is everything. */
  upTo: number;
  /** False where the log no longer reaches back far enough, or there is more than one answer holds. */
  complete: boolean;
}

/** Of one server in one answer: a reader that far behind negotiates anew rather than catch up. */
const mostPerServer = 1_000;

/** What happened to the followed items since each of their servers was last seen. */
export function topicChanges(sql: SqlStorage, tenant: string, topic: Topic): TopicChanges {
  const oldest = oldestGeneration(sql);
  const changes: TopicChange[] = [];
  let complete = true;
  for (const { server, since, items } of topic.servers) {
    const rows = sql
      .exec<ChangeRow>(
        "SELECT * FROM change WHERE server = ? AND generation > ? ORDER BY sequence LIMIT ?",
        server,
        since,
        mostPerServer,
      )
      .toArray();
    if (since < oldest - 1 || rows.length === mostPerServer) complete = false;
    const ids = new Map(items.map(({ kind, key, id }) => [`${kind} ${key}`, id]));
    const hidden = topic.onlyPublic && findLive(sql, server)?.visibility !== "public";
    for (const row of rows) {
      const whole = takesServerAway(row);
      const id = ids.get(`${row.kind} ${row.key}`);
      if (id === undefined && !whole) continue;
      const change = changeOf(row);
      // Why something changed is the tenant's own business.
      const reasons = topic.onlyPublic ? [] : change.reasons;
      changes.push({ tenant, ...change, reasons, ...(id === undefined || whole ? {} : { id }) });
      // The last that someone outside learns of a server is that they have lost it.
      if (hidden && whole) break;
    }
  }
  changes.sort((a, b) => a.sequence - b.sequence);
  return { changes, upTo: generationOf(sql), complete };
}

/** A deleted server takes its items along, and so does one that is no longer public for those outside. */
function takesServerAway({ kind, classification }: ChangeRow): boolean {
  return kind === "server" && (classification === "removed" || classification === "breaking");
}

/** Entries of earlier generations may have been pruned. */
function oldestGeneration(sql: SqlStorage): number {
  const first = sql
    .exec<{ sequence: number; generation: number }>("SELECT sequence, generation FROM change ORDER BY sequence LIMIT 1")
    .toArray()[0];
  return first === undefined || first.sequence === 1 ? 0 : first.generation;
}
