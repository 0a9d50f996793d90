import type { Config } from "../config.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import type { ObjectStorage } from "../kernel/platform/counted-storage.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { type AddressPolicyFor, judgeAddress } from "../outbound/address.ts";
import type { AsOf, Writer } from "../registry/contract.ts";
import { generationOf } from "../registry/sql/change-log.ts";
import { generateSecret } from "../webhooks/keys.ts";
import type { Attempt, Subscription } from "./contract.ts";
import type { Deliveries } from "./deliveries.ts";
import type { ChangeFilters, SubscriptionChange } from "./schema.ts";
import { recentAttempts } from "./sql/attempts.ts";
import { forgetUnwanted, skipThePast, startOver } from "./sql/queue.ts";
import {
  disable,
  requireSubscription,
  type Secret,
  type SubscriptionRow,
  secretsOf,
  subscriptionOf,
} from "./sql/subscriptions.ts";

/** Who wants to be told of a tenant's changes, and where. Writes are called inside one transaction each. */

/** Of one tenant. */
export const mostSubscriptions = 100;

/** Beside the newest: a third rotation within one overlap ends the oldest early. */
const mostEarlierSecrets = 3;

/** An address somebody chose, and the host at which they reached the registry to say so. */
interface Chosen {
  url: string;
  ownHost: string;
}

export interface SubscriptionRequest extends Chosen {
  filters: ChangeFilters;
  description?: string;
}

/** What messages may reach: never the registry itself, by its public name or the one it was reached under. */
export function addressPolicyFor({
  publicUrl,
  allowLoopbackFetch,
}: Pick<Config, "publicUrl" | "allowLoopbackFetch">): AddressPolicyFor {
  const published = publicUrl === undefined ? [] : [new URL(publicUrl).host];
  return (ownHost) => ({ ownHosts: [...published, ownHost], allowLoopback: allowLoopbackFetch });
}

export function listSubscriptions(sql: SqlStorage): Subscription[] {
  const rows = sql.exec<SubscriptionRow>("SELECT * FROM subscription ORDER BY created_at, id").toArray();
  return rows.map((row) => subscriptionOf(sql, row));
}

/** With its recent attempts, the newest first. */
export function showSubscription(sql: SqlStorage, id: string): Result<Subscription & { attempts: Attempt[] }, Failure> {
  const found = requireSubscription(sql, id);
  if (!found.ok) return found;
  return ok({ ...subscriptionOf(sql, found.value), attempts: recentAttempts(sql, id) });
}

export function createSubscription(
  sql: SqlStorage,
  request: SubscriptionRequest,
  policyFor: AddressPolicyFor,
  by: string,
  now: number,
): Result<Subscription & { secret: string }, Failure> {
  const refused = objection(request, policyFor);
  if (refused !== undefined) return err(refused);
  const { count } = sql.exec<{ count: number }>("SELECT count(*) AS count FROM subscription").one();
  if (count >= mostSubscriptions) {
    return err(failure("ErrorTooManySubscriptions", `A tenant has at most ${mostSubscriptions} subscriptions`));
  }
  const id = newId();
  const secret = generateSecret();
  sql.exec(
    `INSERT INTO subscription (id, url, own_host, filters, description, secrets, state, since, created_at, created_by)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'active', ?7, ?7, ?8)`,
    id,
    request.url,
    request.ownHost,
    JSON.stringify(request.filters),
    request.description ?? null,
    JSON.stringify([{ text: secret }] satisfies Secret[]),
    new Date(now).toISOString(),
    by,
  );
  skipThePast(sql);
  const created = read(sql, id);
  return created.ok ? ok({ ...created.value, secret }) : created;
}

/**
 * Changes what is named. Starting it again, or at another address, gives what waits a whole schedule of its own; what
 * happened while it was stopped is not told.
 */
export function changeSubscription(
  sql: SqlStorage,
  id: string,
  change: SubscriptionChange,
  { ownHost, policyFor, now }: { ownHost: string; policyFor: AddressPolicyFor; now: number },
): Result<Subscription, Failure> {
  const found = requireSubscription(sql, id);
  if (!found.ok) return found;
  const { url, filters, description, enabled } = change;
  const refused = url === undefined ? undefined : objection({ url, ownHost }, policyFor);
  if (refused !== undefined) return err(refused);
  const at = new Date(now).toISOString();

  if (description !== undefined) sql.exec("UPDATE subscription SET description = ? WHERE id = ?", description, id);
  if (filters !== undefined) {
    sql.exec("UPDATE subscription SET filters = ? WHERE id = ?", JSON.stringify(filters), id);
    forgetUnwanted(sql, id, filters);
  }
  const moved = url !== undefined && url !== found.value.url;
  if (moved) {
    sql.exec(
      "UPDATE subscription SET url = ?, own_host = ?, not_before = 0, version = version + 1 WHERE id = ?",
      url,
      ownHost,
      id,
    );
  }
  const started = enabled === true && found.value.state === "disabled";
  if (started) {
    skipThePast(sql);
    sql.exec(
      `UPDATE subscription SET state = 'active', reason = NULL, since = ?, not_before = 0, version = version + 1
       WHERE id = ?`,
      at,
      id,
    );
  }
  if (moved || started) startOver(sql, id, now);
  if (enabled === false) disable(sql, id, "paused", at);
  return read(sql, id);
}

/** A new secret. Those before it sign for the overlap and no longer, however long they were given earlier. */
export function rotateSecret(
  sql: SqlStorage,
  id: string,
  overlapSeconds: number,
  now: number,
): Result<{ id: string; secret: string; overlapUntil: string }, Failure> {
  const found = requireSubscription(sql, id);
  if (!found.ok) return found;
  const secret = generateSecret();
  const end = now + overlapSeconds * 1_000;
  const earlier = secretsOf(found.value, now)
    .map(({ text, until }) => ({ text, until: Math.min(until ?? end, end) }))
    .filter(({ until }) => until > now)
    .slice(0, mostEarlierSecrets);
  const secrets: Secret[] = [{ text: secret }, ...earlier];
  sql.exec("UPDATE subscription SET secrets = ? WHERE id = ?", JSON.stringify(secrets), id);
  return ok({ id, secret, overlapUntil: new Date(end).toISOString() });
}

/** With all that waits for it. An attempt that is under way may still arrive. */
export function deleteSubscription(sql: SqlStorage, id: string): Result<{ id: string }, Failure> {
  const found = requireSubscription(sql, id);
  if (!found.ok) return found;
  sql.exec("DELETE FROM subscription WHERE id = ?", id);
  sql.exec("DELETE FROM delivery WHERE subscription = ?", id);
  sql.exec("DELETE FROM delivery_attempt WHERE subscription = ?", id);
  return ok({ id });
}

function read(sql: SqlStorage, id: string): Result<Subscription, Failure> {
  const found = requireSubscription(sql, id);
  return found.ok ? ok(subscriptionOf(sql, found.value)) : found;
}

/** Which rule refuses an address is not said: who can tell them apart has a map of what is inside. */
function objection({ url, ownHost }: Chosen, policyFor: AddressPolicyFor): Failure | undefined {
  return judgeAddress(url, policyFor(ownHost)).ok ? undefined : failure("ErrorAddressRefused");
}

function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `sub_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** What the desk needs of the object it belongs to. */
export interface SubscriptionDeskOptions {
  storage: ObjectStorage;
  deliveries: Deliveries;
  policyFor: AddressPolicyFor;
  /** False while nothing was ever written: then there are no tables either. */
  isReady: () => boolean;
  /** Counts a write against its writer and sees that there are tables; answers why not, where it may not write. */
  admit: (writer: Writer) => Failure | undefined;
  reschedule: () => Promise<void>;
}

/** The subscriptions of a tenant: what their owners do with them. */
export class SubscriptionDesk {
  readonly #options: SubscriptionDeskOptions;

  constructor(options: SubscriptionDeskOptions) {
    this.#options = options;
  }

  create(writer: Writer, request: SubscriptionRequest): Result<Subscription & { secret: string }, Failure> {
    const { policyFor } = this.#options;
    return this.#write(writer, (sql, now) => createSubscription(sql, request, policyFor, writer.subject, now));
  }

  list(): AsOf<{ items: Subscription[] }> {
    const { isReady, storage } = this.#options;
    if (!isReady()) return { items: [], generation: 0 };
    return { items: listSubscriptions(storage.sql), generation: generationOf(storage.sql) };
  }

  /** With its recent attempts, the newest first. */
  show(id: string): Result<Subscription & { attempts: Attempt[] }, Failure> {
    const { isReady, storage } = this.#options;
    return isReady() ? showSubscription(storage.sql, id) : err(failure("ErrorSubscriptionNotFound"));
  }

  change(writer: Writer, id: string, change: SubscriptionChange, ownHost: string): Result<Subscription, Failure> {
    const { policyFor, deliveries, reschedule } = this.#options;
    const changed = this.#write(writer, (sql, now) => changeSubscription(sql, id, change, { ownHost, policyFor, now }));
    if (changed.ok) {
      // What waited for it may go at once. Durable before that, should the process die on the way.
      void reschedule();
      void deliveries.drain();
    }
    return changed;
  }

  rotate(
    writer: Writer,
    id: string,
    overlapSeconds: number,
  ): Result<{ id: string; secret: string; overlapUntil: string }, Failure> {
    return this.#write(writer, (sql, now) => rotateSecret(sql, id, overlapSeconds, now));
  }

  remove(writer: Writer, id: string): Result<{ id: string }, Failure> {
    const removed = this.#write(writer, (sql) => deleteSubscription(sql, id));
    if (removed.ok) this.#options.deliveries.forget(id);
    return removed;
  }

  /** Sends a message that tells of nothing, and says what came of it. */
  async test(writer: Writer, id: string): Promise<Result<Attempt, Failure>> {
    const { deliveries, isReady, admit } = this.#options;
    if (!isReady()) return err(failure("ErrorSubscriptionNotFound"));
    const objection = admit(writer);
    return objection === undefined ? deliveries.test(id) : err(objection);
  }

  #write<T>(writer: Writer, work: (sql: SqlStorage, now: number) => Result<T, Failure>): Result<T, Failure> {
    const { storage, admit } = this.#options;
    const objection = admit(writer);
    if (objection !== undefined) return err(objection);
    return storage.transactionSync(() => work(storage.sql, Date.now()));
  }
}
