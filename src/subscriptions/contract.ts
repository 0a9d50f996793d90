import type { Failure } from "../kernel/failure.ts";
import type { Result } from "../kernel/result.ts";
import type { AsOf, Writer } from "../registry/contract.ts";
import type { ChangeFilters, SubscriptionChange } from "./schema.ts";

/** Why a subscription gets no messages: its owner stopped it, or the schedule of deliveries did. */
export type DisabledReason = "paused" | "gone" | "refused" | "dead";

/** A subscription as its tenant sees it. */
export interface Subscription {
  id: string;
  url: string;
  filters: ChangeFilters;
  description?: string;
  state: "active" | "disabled";
  reason?: DisabledReason;
  /** Since when it is in that state. */
  since: string;
  /** Messages that wait. */
  pending: number;
  /** Messages that were given up: too many waited, or the log no longer reached back to what they were about. */
  dropped: number;
  createdAt: string;
  createdBy: string;
}

/** One attempt to deliver, as the subscription shows it: with the status that was answered, or why there was none. */
export interface Attempt {
  message: string;
  at: string;
  /** Which of the message's attempts it was, from 1. */
  attempt: number;
  status?: number;
  failure?: string;
  /** When the next one comes; absent where there is none. */
  nextAt?: string;
}

/** An address somebody chose, and the host at which they reached the registry to say so. */
export interface ChosenAddress {
  url: string;
  ownHost: string;
}

export interface SubscriptionRequest extends ChosenAddress {
  filters: ChangeFilters;
  description?: string;
}

/** What subscriptions ask a tenant's object. */
export interface SubscriptionsTenant {
  createSubscription(
    writer: Writer,
    request: SubscriptionRequest,
  ): Promise<Result<Subscription & { secret: string }, Failure>>;
  subscriptions(): Promise<AsOf<{ items: Subscription[] }>>;
  /** With its recent attempts, the newest first. */
  subscription(id: string): Promise<Result<Subscription & { attempts: Attempt[] }, Failure>>;
  changeSubscription(
    writer: Writer,
    id: string,
    change: SubscriptionChange,
    ownHost: string,
  ): Promise<Result<Subscription, Failure>>;
  rotateSubscription(
    writer: Writer,
    id: string,
    overlapSeconds: number,
  ): Promise<Result<{ id: string; secret: string; overlapUntil: string }, Failure>>;
  /** Sends a message without changes and returns how the delivery went. */
  testSubscription(writer: Writer, id: string): Promise<Result<Attempt, Failure>>;
  removeSubscription(writer: Writer, id: string): Promise<Result<{ id: string }, Failure>>;
}
