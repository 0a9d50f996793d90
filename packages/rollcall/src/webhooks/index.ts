import { importSigningKey, importVerifyingKey, type WebhookKey } from "../../../../src/webhooks/keys.ts";
import { signWebhook } from "../../../../src/webhooks/sign.ts";
import { verifyWebhook as verifyMessage } from "../../../../src/webhooks/verify.ts";

/** Signs and sends hook events, and verifies what subscriptions deliver: the same code as the registry's own. */

export type EventType = "manifest.published" | "manifest.changed" | "server.removed" | "server.status";

export interface SenderOptions {
  /** Address of the hook, as `rollcall hooks add` printed it. */
  url: string;
  /** `whsec_…`, or the private key `whsk_…` of a hook that has a public key. */
  secret: string;
  fetch?: (input: string, init: RequestInit) => Promise<Response>;
}

export interface SentEvent {
  status: number;
  /** What the registry answered: outcome, generation, digest, changes. */
  answer: Record<string, unknown>;
  /** Seconds that the registry asks to wait. */
  retryAfter?: number;
}

export interface Sender {
  /** Sends one event. `sequence` orders them: the registry ignores an event below the last one. */
  send(
    type: EventType,
    data: Record<string, unknown>,
    options: { sequence: number; id?: string; now?: number; signal?: AbortSignal },
  ): Promise<SentEvent>;
}

/** Throws a TypeError if the secret is none. */
export async function createSender({ url, secret, fetch: fetchIt = fetch }: SenderOptions): Promise<Sender> {
  const key = await importSigningKey(secret);
  if (!key.ok) throw new TypeError("The hook's secret is not one: it looks like whsec_ and base64");
  return {
    async send(type, data, { sequence, id = crypto.randomUUID(), now = Date.now(), signal }) {
      const timestamp = new Date(now).toISOString();
      const body = new TextEncoder().encode(JSON.stringify({ type, timestamp, data: { ...data, sequence } }));
      const signed = await signWebhook({ id, body }, [key.value], now);
      if (!signed.ok) throw new TypeError("The id of an event has 1 to 128 of A-Z, a-z, 0-9, '_' and '-'");
      const headers = { "Content-Type": "application/json", ...signed.value };
      const response = await fetchIt(url, { method: "POST", headers, body, signal, redirect: "manual" });
      const text = await response.text();
      let answer: Record<string, unknown> = {};
      try {
        answer = JSON.parse(text);
      } catch {
        answer = { message: text.slice(0, 1_000) };
      }
      const wait = Number(response.headers.get("retry-after") ?? Number.NaN);
      return { status: response.status, answer, retryAfter: wait >= 0 ? wait : undefined };
    },
  };
}

export interface VerifyOptions {
  /** Milliseconds; the clock of this machine if absent. */
  now?: number;
}

export type Verified =
  | { ok: true; id: string; timestamp: number; body: Uint8Array }
  /** For logs: the sender must not learn the reason. */
  | { ok: false; reason: string };

/**
 * Verifies a message by Standard Webhooks 1.0, over the raw body. One secret that matches is enough, so that secrets can
 * be rotated. Remember each id for ten minutes: a message that is replayed within them verifies again.
 */
export async function verifyWebhook(
  request: Request,
  secrets: readonly string[],
  { now = Date.now() }: VerifyOptions = {},
): Promise<Verified> {
  const keys: WebhookKey<"verify">[] = [];
  for (const secret of secrets) {
    const key = await importVerifyingKey(secret);
    if (!key.ok) return { ok: false, reason: `secret: ${key.error}` };
    keys.push(key.value);
  }
  const body = new Uint8Array(await request.arrayBuffer());
  const head = await verifyMessage({ headers: request.headers, body }, keys, now);
  return head.ok ? { ok: true, ...head.value, body } : { ok: false, reason: head.error };
}
