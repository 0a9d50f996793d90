import { type Failure, failure } from "../../kernel/failure.ts";
import { insert } from "../../kernel/platform/insert.ts";
import { readJson } from "../../kernel/read-json.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import { shownTenant } from "../../registry/sql/tenant-name.ts";
import type { SubscriptionRequest } from "../contract.ts";
import type { ChangeFilters, DisabledReason, Subscription } from "../schema.ts";

/** A signing secret. `until` is in milliseconds; the newest secret has none. */
export interface Secret {
  text: string;
  until?: number;
}

export interface SubscriptionRow extends Record<string, SqlStorageValue> {
  id: string;
  url: string;
  /** Host that the registry was reached at when the address was set. */
  own_host: string;
  filters: string;
  description: string | null;
  secrets: string;
  state: "active" | "disabled";
  reason: DisabledReason | null;
  since: string;
  /** Incremented when the address or the state changes, so that a late result of an earlier attempt has no effect. */
  version: number;
  /** Time until which the receiver asked for no messages (Retry-After). */
  not_before: number;
  dropped: number;
  created_at: string;
  created_by: string;
}

export function findSubscription(sql: SqlStorage, id: string): SubscriptionRow | undefined {
  return sql.exec<SubscriptionRow>("SELECT * FROM subscription WHERE id = ?", id).toArray()[0];
}

export function listSubscriptions(sql: SqlStorage): SubscriptionRow[] {
  return sql.exec<SubscriptionRow>("SELECT * FROM subscription ORDER BY created_at, id").toArray();
}

export function countSubscriptions(sql: SqlStorage): number {
  return sql.exec<{ count: number }>("SELECT count(*) AS count FROM subscription").one().count;
}

export function insertSubscription(
  sql: SqlStorage,
  { id, url, ownHost, filters, description, secrets }: SubscriptionRequest & { id: string; secrets: Secret[] },
  by: string,
  at: string,
): void {
  insert(sql, "subscription", {
    id,
    url,
    own_host: ownHost,
    filters: JSON.stringify(filters),
    description: description ?? null,
    secrets: JSON.stringify(secrets),
    state: "active",
    since: at,
    created_at: at,
    created_by: by,
  });
}

/** Deletes a subscription with its pending messages and its attempts. */
export function deleteSubscription(sql: SqlStorage, id: string): void {
  sql.exec("DELETE FROM subscription WHERE id = ?", id);
  sql.exec("DELETE FROM delivery WHERE subscription = ?", id);
  sql.exec("DELETE FROM delivery_attempt WHERE subscription = ?", id);
}

/** The subscription without its secrets, which are shown once, when they are created. */
export function subscriptionOf(sql: SqlStorage, row: SubscriptionRow): Subscription {
  const { pending } = sql
    .exec<{ pending: number }>("SELECT count(*) AS pending FROM delivery WHERE subscription = ?", row.id)
    .one();
  return {
    tenant: shownTenant(sql),
    id: row.id,
    url: row.url,
    filters: readJson(row.filters) as ChangeFilters,
    description: row.description ?? undefined,
    state: row.state,
    reason: row.reason ?? undefined,
    since: row.since,
    pending,
    dropped: row.dropped,
    createdAt: row.created_at,
    createdBy: row.created_by,
  };
}

/** Secrets that are valid at `now`, newest first. */
export function secretsOf(row: Pick<SubscriptionRow, "secrets">, now: number): Secret[] {
  const secrets = readJson(row.secrets) as Secret[];
  return secrets.filter(({ until }) => until === undefined || until > now);
}

/** Disables a subscription, unless it is disabled already. */
export function disable(sql: SqlStorage, id: string, reason: DisabledReason, at: string): void {
  sql.exec(
    `UPDATE subscription SET state = 'disabled', reason = ?, since = ?, version = version + 1
     WHERE id = ? AND state = 'active'`,
    reason,
    at,
    id,
  );
}

export function requireSubscription(sql: SqlStorage, id: string): Result<SubscriptionRow, Failure> {
  const row = findSubscription(sql, id);
  return row === undefined ? err(failure("ErrorSubscriptionNotFound")) : ok(row);
}
