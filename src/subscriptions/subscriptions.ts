import { bytesToHex } from "@noble/hashes/utils.js";
import type { Config } from "../config.ts";
import { type Failure, failure } from "../kernel/failure.ts";
import type { ObjectStorage } from "../kernel/platform/counted-storage.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import { type AddressPolicyFor, checkAddress } from "../outbound/address.ts";
import type { Writer } from "../registry/contract.ts";
import { generationOf } from "../registry/sql/change-log.ts";
import { firstResult, keepResult, once } from "../registry/sql/idempotency.ts";
import { shownTenant, spelledBy } from "../registry/sql/tenant-name.ts";
import { generateSecret } from "../webhooks/keys.ts";
import type { ChosenAddress, SubscriptionRequest } from "./contract.ts";
import type { Deliveries } from "./deliveries.ts";
import type {
  Attempt,
  CreatedSubscription,
  RemovedSubscription,
  RotatedSubscription,
  Subscription,
  SubscriptionChange,
  SubscriptionList,
  SubscriptionWithAttempts,
} from "./schema.ts";
import { recentAttempts } from "./sql/attempts.ts";
import { removeUnwanted, resetAttempts, startAtCurrentGeneration } from "./sql/queue.ts";
import {
  countSubscriptions,
  deleteSubscription,
  disable,
  insertSubscription,
  listSubscriptions,
  requireSubscription,
  type Secret,
  secretsOf,
  subscriptionOf,
} from "./sql/subscriptions.ts";

/** Per tenant. */
const maxSubscriptions = 100;

/** Besides the newest: a fourth rotation within one overlap ends the oldest secret early. */
const maxEarlierSecrets = 3;

/** Address policy for messages: never the registry itself, by its public host or the host it was reached at. */
export function addressPolicyFor({
  publicUrl,
  allowLoopbackFetch,
}: Pick<Config, "publicUrl" | "allowLoopbackFetch">): AddressPolicyFor {
  const published = publicUrl === undefined ? [] : [new URL(publicUrl).host];
  return (ownHost) => ({ ownHosts: [...published, ownHost], allowLoopback: allowLoopbackFetch });
}

/** What subscriptions need from the tenant object. */
interface SubscriptionsOptions {
  storage: ObjectStorage;
  deliveries: Pick<Deliveries, "drain" | "forget" | "test">;
  policyFor: AddressPolicyFor;
  now: () => number;
  /** False before the tenant's first write: the tables do not exist yet. */
  isReady: () => boolean;
  /** Counts a write against its writer and creates missing tables; returns why the writer may not write. */
  admit: (writer: Writer) => Failure | undefined;
  reschedule: () => Promise<void>;
}

/** The outbound subscriptions of a tenant. Every change is one transaction. */
export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #sql: SqlStorage;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
    this.#sql = options.storage.sql;
  }

  create(writer: Writer, request: SubscriptionRequest): Result<CreatedSubscription, Failure> {
    return this.#write(writer, (now) => {
      const error = this.#checkAddress(request);
      if (error !== undefined) return err(error);
      if (countSubscriptions(this.#sql) >= maxSubscriptions) {
        return err(failure("ErrorTooManySubscriptions", `A tenant has at most ${maxSubscriptions} subscriptions`));
      }
      const id = `sub_${bytesToHex(crypto.getRandomValues(new Uint8Array(16)))}`;
      const secret = generateSecret();
      insertSubscription(this.#sql, { id, ...request, secrets: [{ text: secret }] }, writer.subject, isoTime(now));
      startAtCurrentGeneration(this.#sql);
      const created = this.#read(id);
      return created.ok ? ok({ ...created.value, secret }) : created;
    });
  }

  list(): SubscriptionList {
    if (!this.#options.isReady()) return { items: [], generation: 0 };
    const items = listSubscriptions(this.#sql).map((row) => subscriptionOf(this.#sql, row));
    return { items, generation: generationOf(this.#sql) };
  }

  /** The subscription with its recent attempts, newest first. */
  show(id: string): Result<SubscriptionWithAttempts, Failure> {
    if (!this.#options.isReady()) return err(failure("ErrorSubscriptionNotFound"));
    const found = this.#read(id);
    return found.ok ? ok({ ...found.value, attempts: recentAttempts(this.#sql, id) }) : found;
  }

  /**
   * Changes the given fields. A new start or a new address restarts the retry schedule of pending messages; changes
   * made while the subscription was disabled are not sent.
   */
  change(writer: Writer, id: string, change: SubscriptionChange, ownHost: string): Result<Subscription, Failure> {
    const { deliveries, reschedule } = this.#options;
    const changed = this.#write(writer, (now) => this.#apply(id, change, ownHost, now));
    if (changed.ok) {
      // Pending messages may be sent at once. The alarm is set first, in case the process dies meanwhile.
      void reschedule();
      void deliveries.drain();
    }
    return changed;
  }

  /** Adds a new secret. Earlier secrets sign until the overlap ends at the latest, even if they had longer before. */
  rotate(writer: Writer, id: string, overlapSeconds: number): Result<RotatedSubscription, Failure> {
    return this.#write(writer, (now) => {
      const found = requireSubscription(this.#sql, id);
      if (!found.ok) return found;
      const secret = generateSecret();
      const end = now + overlapSeconds * 1_000;
      const earlier = secretsOf(found.value, now)
        .map(({ text, until }) => ({ text, until: Math.min(until ?? end, end) }))
        .filter(({ until }) => until > now)
        .slice(0, maxEarlierSecrets);
      const secrets: Secret[] = [{ text: secret }, ...earlier];
      this.#sql.exec("UPDATE subscription SET secrets = ? WHERE id = ?", JSON.stringify(secrets), id);
      return ok({ tenant: shownTenant(this.#sql), id, secret, overlapUntil: isoTime(end) });
    });
  }

  /** Removes a subscription with its pending messages. A running attempt may still arrive. */
  remove(writer: Writer, id: string): Result<RemovedSubscription, Failure> {
    const removed = this.#write(writer, () => {
      const found = requireSubscription(this.#sql, id);
      if (!found.ok) return found;
      deleteSubscription(this.#sql, id);
      return ok({ tenant: shownTenant(this.#sql), id });
    });
    if (removed.ok) this.#options.deliveries.forget(id);
    return removed;
  }

  /** Sends a test message and returns the attempt. */
  async test(writer: Writer, id: string): Promise<Result<Attempt, Failure>> {
    const { deliveries, isReady, admit, now } = this.#options;
    if (!isReady()) return err(failure("ErrorSubscriptionNotFound"));
    const error = admit(writer);
    if (error !== undefined) return err(error);
    const first = firstResult<Attempt>(this.#sql, writer, now());
    if (first !== undefined) return first;
    // Only one test of a tenant runs at a time, so no other request with this key has an answer by now.
    const tested = await deliveries.test(id);
    keepResult(this.#sql, writer, now(), tested);
    return tested;
  }

  #apply(id: string, change: SubscriptionChange, ownHost: string, now: number): Result<Subscription, Failure> {
    const sql = this.#sql;
    const found = requireSubscription(sql, id);
    if (!found.ok) return found;
    const { url, filters, description, enabled } = change;
    const error = url === undefined ? undefined : this.#checkAddress({ url, ownHost });
    if (error !== undefined) return err(error);

    if (description !== undefined) sql.exec("UPDATE subscription SET description = ? WHERE id = ?", description, id);
    if (filters !== undefined) {
      sql.exec("UPDATE subscription SET filters = ? WHERE id = ?", JSON.stringify(filters), id);
      removeUnwanted(sql, id, filters);
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
      startAtCurrentGeneration(sql);
      sql.exec(
        `UPDATE subscription SET state = 'active', reason = NULL, since = ?, not_before = 0, version = version + 1
         WHERE id = ?`,
        isoTime(now),
        id,
      );
    }
    if (moved || started) resetAttempts(sql, id, now);
    if (enabled === false) disable(sql, id, "paused", isoTime(now));
    return this.#read(id);
  }

  #read(id: string): Result<Subscription, Failure> {
    const found = requireSubscription(this.#sql, id);
    return found.ok ? ok(subscriptionOf(this.#sql, found.value)) : found;
  }

  /** The response does not say which rule refuses an address: that would let callers map the internal network. */
  #checkAddress({ url, ownHost }: ChosenAddress): Failure | undefined {
    return checkAddress(url, this.#options.policyFor(ownHost)).ok ? undefined : failure("ErrorAddressRefused");
  }

  #write<T>(writer: Writer, work: (now: number) => Result<T, Failure>): Result<T, Failure> {
    const { storage, admit, now } = this.#options;
    const error = admit(writer);
    if (error !== undefined) return err(error);
    return storage.transactionSync(() =>
      spelledBy(this.#sql, writer, generationOf(this.#sql), () => once(this.#sql, writer, now(), () => work(now()))),
    );
  }
}

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
