import type { ObjectStorage } from "../../kernel/platform/counted-storage.ts";

/** The furthest that anything is ever scheduled ahead: pauses of the outbox, looks at sources, deliveries. */
const farthestMs = { task: 600_000, look: 4_500_000, delivery: 108_000_000 };

/**
 * Makes due what lies further ahead than anything is scheduled: the clock went back, and it would wait until the clock has
 * caught up. Returns whether there was any. Call when the object wakes and when its alarm fires.
 */
export function pullBack({ sql }: Pick<ObjectStorage, "sql">, now: number): boolean {
  const { task, look, delivery } = farthestMs;
  const moved = (query: string, farthest: number) => sql.exec(query, now, now + farthest).toArray().length > 0;
  return [
    moved("UPDATE outbox SET due_at = ?1 WHERE due_at > ?2 RETURNING 1", task),
    moved("UPDATE source SET next_at = ?1 WHERE next_at > ?2 RETURNING 1", look),
    moved(
      `UPDATE delivery SET due_at = ?1 WHERE subscription IN (SELECT id FROM subscription) AND due_at > ?2
       RETURNING 1`,
      delivery,
    ),
    moved("UPDATE subscription SET not_before = ?1 WHERE not_before > ?2 RETURNING 1", delivery),
  ].includes(true);
}
