import { type Failure, failure } from "../../domain/failure.ts";
import { err, type Result } from "../../domain/result.ts";
import type { SubscriptionChange } from "../../schemas/index.ts";
import type { ObjectStorage } from "../counted-storage.ts";
import { setNextAlarm } from "./alarm.ts";
import { generationOf } from "./change-log.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Attempt } from "./delivery-attempts.ts";
import type { Subscription } from "./subscription-rows.ts";
import {
  type AddressPolicyFor,
  changeSubscription,
  createSubscription,
  deleteSubscription,
  listSubscriptions,
  rotateSecret,
  type SubscriptionRequest,
  showSubscription,
} from "./subscriptions.ts";
import type { AsOf, Writer } from "./tenant-object.ts";

/** What the desk needs of the object it belongs to. */
export interface SubscriptionDeskOptions {
  storage: ObjectStorage;
  deliveries: Deliveries;
  policyFor: AddressPolicyFor;
  /** False while nothing was ever written: then there are no tables either. */
  isReady: () => boolean;
  /** Counts a write against its writer and sees that there are tables; answers why not, where it may not write. */
  admit: (writer: Writer) => Failure | undefined;
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
    const { policyFor, deliveries, storage } = this.#options;
    const changed = this.#write(writer, (sql, now) => changeSubscription(sql, id, change, { ownHost, policyFor, now }));
    if (changed.ok) {
      // What waited for it may go at once. Durable before that, should the process die on the way.
      void setNextAlarm(storage, Date.now());
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
