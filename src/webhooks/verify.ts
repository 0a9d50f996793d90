import { decodeBase64 } from "../kernel/base64.ts";
import { err, type Result } from "../kernel/result.ts";
import type { Scheme, WebhookKey } from "./keys.ts";
import { type MessageFault, type MessageHead, readMessageHead, signedBytes } from "./message.ts";

/**
 * Why a message is refused. For tests and logs only: the sender learns no reason that depends on keys or signatures, since
 * distinct reasons would help an attacker who tries signatures.
 */
type WebhookFault = MessageFault | "headers-missing" | "signature-header" | "unmatched";

interface ReceivedWebhook {
  headers: Pick<Headers, "get">;
  /** Raw bytes, as received. */
  body: Uint8Array;
}

interface Signature {
  scheme: Scheme;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Old and new keys of both schemes make four signatures; the limit is twice that. */
const maxSignatures = 8;
const maxSignatureHeader = 1_024;

const signatureLengths: Record<Scheme, number> = { v1: 32, v1a: 64 };

/**
 * Verifies a message by Standard Webhooks 1.0. One signature that matches one of the keys is enough, so that a secret
 * can be rotated while messages are in flight; a key accepts only its own scheme. The caller must detect replays:
 * remember each message id for twice the tolerance. `now` is in milliseconds.
 */
export async function verifyWebhook(
  { headers, body }: ReceivedWebhook,
  keys: readonly WebhookKey<"verify">[],
  now: number,
): Promise<Result<MessageHead, WebhookFault>> {
  const id = headers.get("webhook-id");
  const timestamp = headers.get("webhook-timestamp");
  const header = headers.get("webhook-signature");
  if (!id || !timestamp || !header) return err("headers-missing");
  const head = readMessageHead(id, timestamp, now);
  if (!head.ok) return head;
  const signatures = readSignatures(header);
  if (signatures === undefined) return err("signature-header");

  const bytes = signedBytes(head.value, body);
  for (const { scheme, key } of keys) {
    for (const signature of signatures.filter((candidate) => candidate.scheme === scheme)) {
      // Compares in constant time.
      if (await crypto.subtle.verify(key.algorithm.name, key, signature.bytes, bytes)) return head;
    }
  }
  return err("unmatched");
}

/**
 * Signatures of known schemes with the right length; undefined if the header is too long or has too many entries.
 * Unknown schemes are ignored.
 */
function readSignatures(header: string): Signature[] | undefined {
  if (header.length > maxSignatureHeader) return undefined;
  const entries = header.split(" ");
  if (entries.length > maxSignatures) return undefined;
  return entries.flatMap((entry) => {
    const [, scheme, text] = /^(v1a?),(.+)$/.exec(entry) ?? [];
    const bytes = decodeBase64(text ?? "");
    if ((scheme !== "v1" && scheme !== "v1a") || bytes?.byteLength !== signatureLengths[scheme]) return [];
    return [{ scheme, bytes }];
  });
}
