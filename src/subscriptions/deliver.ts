import type { FetchFailureKind } from "../outbound/fetch-failure.ts";
import type { GuardedFetch } from "../outbound/guarded-fetch.ts";
import { importSigningKey, type WebhookKey } from "../webhooks/keys.ts";
import { signWebhook } from "../webhooks/sign.ts";
import type { AttemptOutcome } from "./retry-schedule.ts";

/** Result of one attempt: a response with any status, or none. */
export type DeliveryResult = { status: number; retryAfter: string | null } | { failure: FetchFailureKind };

interface Message {
  /** The same for every attempt, so that a receiver can detect repeats. */
  id: string;
  url: string;
  body: Uint8Array;
}

interface DeliveryTerms {
  fetch: GuardedFetch;
  /** All secrets to sign with, in their `whsec_` form. */
  secrets: readonly string[];
  now: number;
  deadlineMs: number;
}

/**
 * One attempt to deliver a message by Standard Webhooks 1.0. Only the status and Retry-After of the response are read.
 */
export async function deliver(message: Message, terms: DeliveryTerms): Promise<DeliveryResult> {
  const signed = await signWebhook(message, await signingKeys(terms.secrets), terms.now);
  if (!signed.ok) throw new Error(`message ${message.id} cannot be signed: ${signed.error}`);
  const answer = await terms.fetch(message.url, {
    method: "POST",
    headers: { ...signed.value, "content-type": "application/json", "user-agent": "Rollcall-Webhooks" },
    body: message.body,
    // No redirects: only this address was subscribed.
    redirect: "manual",
    patience: { deadlineMs: terms.deadlineMs },
    // The response body is not read, so it may have any size.
    maxBytes: Number.MAX_SAFE_INTEGER,
  });
  if (!answer.ok) return { failure: answer.error.kind };
  const { status, headers, body } = answer.value;
  body?.cancel().catch(() => {});
  return { status, retryAfter: headers.get("retry-after") };
}

/** The result as the retry schedule takes it. */
export function outcomeOf(result: DeliveryResult): AttemptOutcome {
  if ("status" in result) return { kind: "answered", ...result };
  return { kind: result.failure === "refused" ? "refused" : "unanswered" };
}

async function signingKeys(secrets: readonly string[]): Promise<WebhookKey<"sign">[]> {
  const keys = await Promise.all(secrets.map(importSigningKey));
  return keys.map((key) => {
    // The error is logged, so it must not contain the secret.
    if (!key.ok) throw new Error(`a stored secret is none: ${key.error}`);
    return key.value;
  });
}
