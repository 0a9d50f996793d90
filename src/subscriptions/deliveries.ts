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
  nextDue,
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
/** Of these for receivers that failed last time: they may hang until their time is up. */
const maxRetrying = 2;

const defaultDeadlineMs = 15_000;
/** The share of it that a first attempt has while another subscription waits for a place. The second has all of it. */
const shareInCrowd = 1 / 3;

/**
 * Delivers messages to their receivers, one at a time to each. Who has not failed comes first, then who was served longest
 * ago. So hanging receivers delay each other; they delay others at their first attempt alone, and eight of them by less
 * than one time-out in all.
 */
export class Deliveries {
  readonly #storage: ObjectStorage;
  readonly #options: Required<DeliveriesOptions>;
  /** Running attempts by subscription; true for one whose receiver failed before. */
  readonly #running = new Map<string, boolean>();
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
      const result = await this.#send(found.value, message, body, this.#options.deadlineMs);
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

  /** The next delivery to attempt, with the time that its receiver has. */
  #next(): PlannedDelivery | undefined {
    const places = maxConcurrent - this.#running.size;
    if (places <= 0) return undefined;
    const { sql } = this.#storage;
    const now = this.#options.now();
    const turn = (id: string) => this.#servedAt.get(id) ?? 0;
    const failed = (id: string) => Number(this.#failing.has(id));
    const waiting = subscriptionsDue(sql, now)
      .filter((id) => !this.#running.has(id))
      .sort((a, b) => failed(a) - failed(b) || turn(a) - turn(b));
    const retrying = [...this.#running.values()].filter((isRetry) => isRetry).length;
    for (const id of waiting) {
      const due = nextDue(sql, id, now);
      if (due === undefined) continue;
      const isRetry = due.attempt > 1 || this.#failing.has(id);
      if (isRetry && retrying >= maxRetrying) continue;
      const share = waiting.length > places && !isRetry ? shareInCrowd : 1;
      return { ...due, isRetry, deadlineMs: this.#options.deadlineMs * share };
    }
    return undefined;
  }

  async #run({ isRetry, deadlineMs, ...due }: PlannedDelivery): Promise<void> {
    const message = messageId(due);
    this.#running.set(due.subscription, isRetry);
    this.#servedAt.set(due.subscription, ++this.#turnCounter);
    let ended = false;
    try {
      await this.#attempt(due, message, deadlineMs);
      ended = true;
    } catch (cause) {
      console.error(JSON.stringify({ event: "delivery", message, cause: String(cause) }));
    } finally {
      this.#running.delete(due.subscription);
    }
    await this.#options.reschedule();
    // Internal errors are left to the alarm: draining here would repeat them at once, in a loop.
    if (ended) await this.drain();
  }

  async #attempt(due: DueDelivery, message: string, deadlineMs: number): Promise<void> {
    const { sql } = this.#storage;
    const row = findSubscription(sql, due.subscription);
    if (row === undefined) return removeDelivery(sql, due.subscription, due.generation);
    const filters = readJson(row.filters) as ChangeFilters;
    const body = changeMessage(sql, shownTenant(sql), { ...due, filters });
    // The log has been pruned past this generation.
    if (body === undefined) return dropDelivery(sql, due.subscription, due.generation);
    const at = this.#options.now();
    const result = await this.#send(row, message, body, deadlineMs);
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

  async #send(row: SubscriptionRow, message: string, body: Uint8Array, deadlineMs: number): Promise<DeliveryResult> {
    const { fetch, policyFor, now } = this.#options;
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

interface PlannedDelivery extends DueDelivery {
  /** Its receiver failed before. */
  isRetry: boolean;
  deadlineMs: number;
}

function messageId({ generation, subscription }: DueDelivery): string {
  return `msg_${generation}_${subscription}`;
}
