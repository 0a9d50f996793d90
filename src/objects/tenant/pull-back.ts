import type { ObjectStorage } from "../../kernel/platform/counted-storage.ts";

/** The furthest that anything is ever scheduled ahead: pauses of the outbox, looks at sources, deliveries. */
const farthestMs = { task: 600_000, look: 4_500_000, delivery: 108_000_000 };

/** Clocks are set right by seconds all the time; more than that is a clock that went back. */
const toleranceMs = 60_000;

/** Notices that the clock went back since an object last looked at it. */
export class ClockWatch {
  #seen = 0;

  wentBack(now: number): boolean {
    const isBack = now < this.#seen - toleranceMs;
    this.#seen = now;
    return isBack;
  }
}

/** Subscriptions whose newest attempt was made by a later clock than ?2. Those without deliveries ahead are not looked into. */
const attemptedAhead = `
  SELECT id FROM subscription
  WHERE (not_before > ?1 OR EXISTS (SELECT 1 FROM delivery WHERE subscription = id AND due_at > ?1))
  AND (SELECT at FROM delivery_attempt WHERE subscription = id ORDER BY number DESC LIMIT 1) > ?2`;

/**
 * Makes due what lies further ahead than anything is scheduled: the clock went back, and it would wait until the clock has
 * caught up. So do deliveries after an attempt that lies ahead of now: their own pauses are longer than most steps of a clock.
 * Returns whether there was any. Call when the object wakes, when its alarm fires and when `ClockWatch` says so.
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
    moved(
      `UPDATE delivery SET due_at = ?1 WHERE due_at > ?1 AND subscription IN (${attemptedAhead}) RETURNING 1`,
      toleranceMs,
    ),
    moved(
      `UPDATE subscription SET not_before = ?1 WHERE not_before > ?1 AND id IN (${attemptedAhead}) RETURNING 1`,
      toleranceMs,
    ),
    moved("UPDATE subscription SET not_before = ?1 WHERE not_before > ?2 RETURNING 1", delivery),
  ].includes(true);
}
