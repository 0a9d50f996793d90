import { encodeBase64 } from "../kernel/base64.ts";
import { err, ok, type Result } from "../kernel/result.ts";
import type { WebhookKey } from "./keys.ts";
import { isMessageId, signedBytes } from "./message.ts";

type WebhookHeaders = Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>;

/**
 * Headers of a message by Standard Webhooks 1.0, signed with every given key: with the old and the new one while a
 * secret is rotated. `now` is in milliseconds. Each delivery attempt is signed again, with the same id.
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
