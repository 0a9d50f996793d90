import { encodeBase64 } from "../kernel/base64.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { WebhookKey } from "./keys.ts";
import { isMessageId, signedBytes } from "./message.ts";

export type WebhookHeaders = Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>;

/**
 * The headers of a message by Standard Webhooks 1.0, signed with every key given: while a secret is being replaced, old
 * and new both. `now` is in milliseconds; each attempt to deliver is signed anew, and keeps its id.
 */
export async function signWebhook(
  message: { id: string; body: Uint8Array },
  keys: readonly WebhookKey<"sign">[],
  now: number,
): Promise<Result<WebhookHeaders, "id" | "no-keys">> {
  if (!isMessageId(message.id)) return err("id");
  if (keys.length === 0) return err("no-keys");
  const head = { id: message.id, timestamp: Math.floor(now / 1_000) };
  const bytes = signedBytes(head, message.body);
  const signatures = await Promise.all(
    keys.map(async ({ scheme, key }) => {
      const signature = await crypto.subtle.sign(key.algorithm.name, key, bytes);
      return `${scheme},${encodeBase64(new Uint8Array(signature))}`;
    }),
  );
  return ok({
    "webhook-id": head.id,
    "webhook-timestamp": String(head.timestamp),
    "webhook-signature": signatures.join(" "),
  });
}
