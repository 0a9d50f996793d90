import type { ObjectStorage } from "../counted-storage.ts";
import { nextDelivery } from "./delivery-queue.ts";

/**
 * An object has one alarm. This is the only place that decides when it rings next: at the earliest time at which any
 * table has something due, or never. Called when something was done or put off, after the rows say so.
 */
export async function setNextAlarm(storage: ObjectStorage, now: number): Promise<void> {
  const { sql } = storage;
  const times = [nextTask(sql), nextDelivery(sql, now)].filter((time) => time !== undefined);
  if (times.length === 0) await storage.deleteAlarm();
  else await storage.setAlarm(Math.max(Math.min(...times), now + 50));
}

function nextTask(sql: SqlStorage): number | undefined {
  const { at } = sql.exec<{ at: number | null }>("SELECT min(due_at) AS at FROM outbox").one();
  return at ?? undefined;
}
