import type { Failure } from "../kernel/failure.ts";
import type { Result } from "../kernel/result.ts";
import type { AsOf, Writer } from "../registry/contract.ts";
import type { ChangeFilters, SubscriptionChange } from "./schema.ts";

/** Why a subscription is disabled: by its owner (`paused`), or by the retry schedule. */
export type DisabledReason = "paused" | "gone" | "refused" | "dead";

/** A subscription as shown to its tenant. */
export interface Subscription {
  /** As shown. */
  tenant: string;
  id: string;
  url: string;
  filters: ChangeFilters;
  description?: string;
  state: "active" | "disabled";
  reason?: DisabledReason;
  /** When the state last changed. */
  since: string;
  /** Number of pending messages. */
  pending: number;
  /** Number of dropped messages: too many were pending, or the log was pruned past their changes. */
  dropped: number;
  createdAt: string;
  createdBy: string;
}

/** A delivery attempt with the status of the response, or why there was none. */
export interface Attempt {
  message: string;
  at: string;
  /** Number of the attempt for its message, from 1. */
  attempt: number;
  status?: number;
  failure?: string;
  /** Time of the next attempt; absent if there is none. */
  nextAt?: string;
}

/** The address of a receiver, and the registry host that the request with this address was sent to. */
export interface ChosenAddress {
  url: string;
  ownHost: string;
}

export interface SubscriptionRequest extends ChosenAddress {
  filters: ChangeFilters;
  description?: string;
}

/** Subscription methods of the tenant object. */
export interface SubscriptionsTenant {
  createSubscription(
    writer: Writer,
    request: SubscriptionRequest,
  ): Promise<Result<Subscription & { secret: string }, Failure>>;
  subscriptions(): Promise<AsOf<{ items: Subscription[] }>>;
  /** The subscription with its recent attempts, newest first. */
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
  ): Promise<Result<Pick<Subscription, "tenant" | "id"> & { secret: string; overlapUntil: string }, Failure>>;
  /** Sends a message without changes and returns how the delivery went. */
  testSubscription(writer: Writer, id: string): Promise<Result<Attempt, Failure>>;
  removeSubscription(writer: Writer, id: string): Promise<Result<Pick<Subscription, "tenant" | "id">, Failure>>;
}
