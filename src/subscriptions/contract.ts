import type { Failure } from "../kernel/failure.ts";
import type { Result } from "../kernel/result.ts";
import type { Writer } from "../registry/contract.ts";
import type {
  Attempt,
  ChangeFilters,
  CreatedSubscription,
  RemovedSubscription,
  RotatedSubscription,
  Subscription,
  SubscriptionChange,
  SubscriptionList,
  SubscriptionWithAttempts,
} from "./schema.ts";

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
  createSubscription(writer: Writer, request: SubscriptionRequest): Promise<Result<CreatedSubscription, Failure>>;
  subscriptions(): Promise<SubscriptionList>;
  /** The subscription with its recent attempts, newest first. */
  subscription(id: string): Promise<Result<SubscriptionWithAttempts, Failure>>;
  changeSubscription(
    writer: Writer,
    id: string,
    change: SubscriptionChange,
    ownHost: string,
  ): Promise<Result<Subscription, Failure>>;
  rotateSubscription(writer: Writer, id: string, overlapSeconds: number): Promise<Result<RotatedSubscription, Failure>>;
  /** Sends a message without changes and returns how the delivery went. */
  testSubscription(writer: Writer, id: string): Promise<Result<Attempt, Failure>>;
  removeSubscription(writer: Writer, id: string): Promise<Result<RemovedSubscription, Failure>>;
}
