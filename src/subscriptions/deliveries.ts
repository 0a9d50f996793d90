import { type Failure, failure } from "../kernel/failure.ts";
import type { ObjectStorage } from "../kernel/platform/counted-storage.ts";
import { readJson } from "../kernel/read-json.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { AddressPolicyFor } from "../outbound/address.ts";
import { createGuardedFetch } from "../outbound/guarded-fetch.ts";
import { shownTenant } from "../registry/sql/tenant-name.ts";
import { type DeliveryResult, deliver, outcomeOf } from "./deliver.ts";
import { changeMessage, testMessage } from "./message.ts";
import { maxRetryAfterMs, nextAttempt, readRetryAfter } from "./retry-schedule.ts";
import type { Attempt, ChangeFilters } from "./schema.ts";
import { recentAttempts, recordAttempt } from "./sql/attempts.ts";
import {
  type DueDelivery,
  dropDelivery,
  dueOf,
  removeDelivery,
  rescheduleDelivery,
  subscriptionsDue,
} from "./sql/queue.ts";
import {
  disable,
  findSubscription,
  requireSubscription,
  type SubscriptionRow,
  secretsOf,
} from "./sql/subscriptions.ts";

interface DeliveriesOptions {
  fetch: (request: Request) => Promise<Response>;
  policyFor: AddressPolicyFor;
  now: () => number;
  /** Sets the alarm to the next due time. */
  reschedule: () => Promise<void>;
  random?: () => number;
  /** How long a receiver may take to respond. */
  deadlineMs?: number;
}

/**
 * The platform allows six requests per object that wait for a response. The other two are for KV and for one test
 * message.
 */
const maxConcurrent = 4;
/** Concurrent attempts per subscription. A receiver that failed last time gets only one: it may be slow, too. */
const maxPerSubscription = 2;

const defaultDeadlineMs = 15_000;

/**
 * Delivers messages to their receivers. Attempts are independent, and the subscription served longest ago comes next,
 * so that a hanging receiver delays no other.
 */
export class Deliveries {
  readonly #storage: ObjectStorage;
  readonly #options: Required<DeliveriesOptions>;
  /** Running attempts: message id → subscription id. */
  readonly #running = new Map<string, string>();
  readonly #servedAt = new Map<string, number>();
  readonly #failing = new Set<string>();
  #isTesting = false;
  #turnCounter = 0;

  constructor(storage: ObjectStorage, options: DeliveriesOptions) {
    this.#storage = storage;
    this.#options = { random: Math.random, deadlineMs: defaultDeadlineMs, ...options };
  }

  /** Starts due deliveries within the concurrency limits, and continues until none is left. No write waits for this. */
  async drain(): Promise<void> {
    const started: Promise<void>[] = [];
    for (let due = this.#next(); due !== undefined; due = this.#next()) started.push(this.#run(due));
    await Promise.all(started);
  }

  /** Sends one test message, once, in any state of the subscription. */
  async test(id: string): Promise<Result<Attempt, Failure>> {
    const { sql } = this.#storage;
    const found = requireSubscription(sql, id);
    if (!found.ok) return found;
    if (this.#isTesting) {
      return err(
        failure("ErrorTooManyRequests", "Another test message is being sent for this tenant. Retry in 15 s", {
          retryAfterSeconds: 15,
        }),
      );
    }
    this.#isTesting = true;
    try {
      const at = this.#options.now();
      const message = `msg_test_${crypto.randomUUID()}`;
      const body = testMessage(shownTenant(sql), id, new Date(at).toISOString());
      const result = await this.#send(found.value, message, body);
      if (findSubscription(sql, id) === undefined) return err(failure("ErrorSubscriptionNotFound"));
      recordAttempt(sql, id, { message, at, attempt: 1 }, result);
      const attempt = recentAttempts(sql, id).find((recent) => recent.message === message);
      return attempt === undefined ? err(failure("ErrorSubscriptionNotFound")) : ok(attempt);
    } finally {
      this.#isTesting = false;
    }
  }

  /** Deletes the in-memory state of a removed subscription. */
  forget(id: string): void {
    this.#servedAt.delete(id);
    this.#failing.delete(id);
  }

  /** The next delivery to attempt, from the subscription served longest ago. */
  #next(): DueDelivery | undefined {
    if (this.#running.size >= maxConcurrent) return undefined;
    const { sql } = this.#storage;
    const now = this.#options.now();
    const turn = (id: string) => this.#servedAt.get(id) ?? 0;
    for (const id of subscriptionsDue(sql, now).sort((a, b) => turn(a) - turn(b))) {
      const own = [...this.#running.values()].filter((other) => other === id).length;
      if (own >= (this.#failing.has(id) ? 1 : maxPerSubscription)) continue;
      const due = dueOf(sql, id, now, maxPerSubscription).find((delivery) => !this.#running.has(messageId(delivery)));
      if (due !== undefined) return due;
    }
    return undefined;
  }

  async #run(due: DueDelivery): Promise<void> {
    const message = messageId(due);
    this.#running.set(message, due.subscription);
    this.#servedAt.set(due.subscription, ++this.#turnCounter);
    let ended = false;
    try {
      await this.#attempt(due, message);
      ended = true;
    } catch (cause) {
      console.error(JSON.stringify({ event: "delivery", message, cause: String(cause) }));
    } finally {
      this.#running.delete(message);
    }
    await this.#options.reschedule();
    // Internal errors are left to the alarm: draining here would repeat them at once, in a loop.
    if (ended) await this.drain();
  }

  async #attempt(due: DueDelivery, message: string): Promise<void> {
    const { sql } = this.#storage;
    const row = findSubscription(sql, due.subscription);
    if (row === undefined) return removeDelivery(sql, due.subscription, due.generation);
    const filters = readJson(row.filters) as ChangeFilters;
    const body = changeMessage(sql, shownTenant(sql), { ...due, filters });
    // The log has been pruned past this generation.
    if (body === undefined) return dropDelivery(sql, due.subscription, due.generation);
    const at = this.#options.now();
    const result = await this.#send(row, message, body);
    this.#storage.transactionSync(() => this.#recordResult(row, due, { message, at, attempt: due.attempt }, result));
  }

  /**
   * Stores the result of an attempt and schedules the next. The subscription may have been changed or deleted
   * meanwhile.
   */
  #recordResult(
    row: SubscriptionRow,
    due: DueDelivery,
    made: { message: string; at: number; attempt: number },
    result: DeliveryResult,
  ): void {
    const { sql } = this.#storage;
    const { now, random } = this.#options;
    const outcome = outcomeOf(result);
    const next = nextAttempt(outcome, due.attempt, now(), random());
    if (next.kind === "delivered") {
      this.#failing.delete(row.id);
      removeDelivery(sql, row.id, due.generation);
    } else {
      this.#failing.add(row.id);
    }
    const current = findSubscription(sql, row.id);
    if (current === undefined) return;
    const isCurrent = current.version === row.version;
    if (next.kind === "retry" && isCurrent) {
      rescheduleDelivery(sql, due, next);
      this.#honourRetryAfter(row.id, result);
    }
    if (next.kind === "disable" && isCurrent) {
      disable(sql, row.id, next.reason, new Date(now()).toISOString());
      console.log(JSON.stringify({ event: "subscription-disabled", subscription: row.id, reason: next.reason }));
    }
    recordAttempt(sql, row.id, made, result, next.kind === "retry" && isCurrent ? next.at : undefined);
  }

  /** Retry-After applies to all messages of the subscription, not only to the one that received it. */
  #honourRetryAfter(id: string, result: DeliveryResult): void {
    if (!("status" in result) || (result.status !== 429 && result.status !== 503)) return;
    const until = readRetryAfter(result.retryAfter, this.#options.now(), maxRetryAfterMs);
    if (until !== undefined) {
      this.#storage.sql.exec("UPDATE subscription SET not_before = ? WHERE id = ?", until, id);
    }
  }

  async #send(row: SubscriptionRow, message: string, body: Uint8Array): Promise<DeliveryResult> {
    const { fetch, policyFor, now, deadlineMs } = this.#options;
    return deliver(
      { id: message, url: row.url, body },
      {
        fetch: createGuardedFetch({ policy: policyFor(row.own_host), fetch }),
        secrets: secretsOf(row, now()).map(({ text }) => text),
        now: now(),
        deadlineMs,
      },
    );
  }
}

function messageId({ generation, subscription }: DueDelivery): string {
  return `msg_${generation}_${subscription}`;
}
