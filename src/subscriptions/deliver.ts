import type { FetchFailureKind } from "../outbound/fetch-failure.ts";
import type { GuardedFetch } from "../outbound/guarded-fetch.ts";
import { importSigningKey, type WebhookKey } from "../webhooks/keys.ts";
import { signWebhook } from "../webhooks/sign.ts";
import type { AttemptOutcome } from "./retry-schedule.ts";

/** How one attempt ended: with an answer, whichever, or without. */
export type DeliveryResult = { status: number; retryAfter: string | null } | { failure: FetchFailureKind };

export interface Message {
  /** The same at each attempt, so that a receiver can tell a repeat. */
  id: string;
  url: string;
  body: Uint8Array;
}

export interface DeliveryTerms {
  fetch: GuardedFetch;
  /** All that sign, in their `whsec_` form. */
  secrets: readonly string[];
  now: number;
  deadlineMs: number;
}

/** One attempt to deliver a message by Standard Webhooks 1.0. What the receiver answers is its status and no more. */
export async function deliver(message: Message, terms: DeliveryTerms): Promise<DeliveryResult> {
  const signed = await signWebhook(message, await signingKeys(terms.secrets), terms.now);
  if (!signed.ok) throw new Error(`message ${message.id} cannot be signed: ${signed.error}`);
  const answer = await terms.fetch(message.url, {
    method: "POST",
    headers: { ...signed.value, "content-type": "application/json", "user-agent": "Rollcall-Webhooks" },
    body: message.body,
    // A subscription is to one address: what stands elsewhere was never subscribed.
    redirect: "manual",
    patience: { deadlineMs: terms.deadlineMs },
    // The body is not read, so it may announce any size.
    maxBytes: Number.MAX_SAFE_INTEGER,
  });
  if (!answer.ok) return { failure: answer.error.kind };
  const { status, headers, body } = answer.value;
  body?.cancel().catch(() => {});
  return { status, retryAfter: headers.get("retry-after") };
}

/** The same in the words of the schedule. */
export function outcomeOf(result: DeliveryResult): AttemptOutcome {
  if ("status" in result) return { kind: "answered", ...result };
  return { kind: result.failure === "refused" ? "refused" : "unanswered" };
}

async function signingKeys(secrets: readonly string[]): Promise<WebhookKey<"sign">[]> {
  const keys = await Promise.all(secrets.map(importSigningKey));
  return keys.map((key) => {
    // It must not be repeated here: this ends in a log.
    if (!key.ok) throw new Error(`a stored secret is none: ${key.error}`);
    return key.value;
  });
}
