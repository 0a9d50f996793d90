import { insert } from "../../kernel/platform/insert.ts";
import type { EventOutcome, HookDelivery } from "../schema.ts";

interface DeliveryRow extends Record<string, SqlStorageValue> {
  message: string;
  at: number;
  type: string;
  sequence: number | null;
  outcome: EventOutcome;
  generation: number | null;
  digest: string | null;
  reason: string | null;
}

/**
 * Messages are stored for an hour, far longer than their timestamps are accepted, so that none is applied twice. The
 * newest 100 are stored longer, for the owner to read.
 */
const rememberedMs = 3_600_000;
const maxStored = 100;

/** A message that was accepted before. A refused message may be sent again. */
export function findDelivery(sql: SqlStorage, hook: string, message: string): HookDelivery | undefined {
  const row = sql
    .exec<DeliveryRow>(
      "SELECT * FROM hook_delivery WHERE hook = ? AND message = ? AND outcome <> 'refused'",
      hook,
      message,
    )
    .toArray()[0];
  return row && deliveryOf(row);
}

export function recordDelivery(sql: SqlStorage, hook: string, delivery: Omit<HookDelivery, "at">, now: number): void {
  const { message, type, sequence = null, outcome, generation = null, digest = null, reason = null } = delivery;
  insert(
    sql,
    "hook_delivery",
    { hook, message, at: now, type, sequence, outcome, generation, digest, reason },
    `ON CONFLICT (hook, message) DO UPDATE SET
       at = excluded.at, type = excluded.type, sequence = excluded.sequence, outcome = excluded.outcome,
       generation = excluded.generation, digest = excluded.digest, reason = excluded.reason`,
  );
  sql.exec(
    `DELETE FROM hook_delivery WHERE hook = ?1 AND at < ?2 AND at <
       (SELECT min(at) FROM (SELECT at FROM hook_delivery WHERE hook = ?1 ORDER BY at DESC LIMIT ?3))`,
    hook,
    now - rememberedMs,
    maxStored,
  );
}

/** Newest first. */
export function listDeliveries(sql: SqlStorage, hook: string): HookDelivery[] {
  return sql
    .exec<DeliveryRow>("SELECT * FROM hook_delivery WHERE hook = ? ORDER BY at DESC, message LIMIT ?", hook, maxStored)
    .toArray()
    .map(deliveryOf);
}

function deliveryOf(row: DeliveryRow): HookDelivery {
  const { message, type, outcome, sequence, generation, digest, reason } = row;
  return {
    message,
    at: new Date(row.at).toISOString(),
    type,
    outcome,
    sequence: sequence ?? undefined,
    generation: generation ?? undefined,
    digest: digest ?? undefined,
    reason: reason ?? undefined,
  };
}
