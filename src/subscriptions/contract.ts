import type { ChangeFilters } from "./schema.ts";

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
