import { bytesToHex } from "@noble/hashes/utils.js";
import { decodeBase64, encodeBase64 } from "../kernel/base64.ts";
import { err, ok, type Result } from "../kernel/result.ts";

/** Signature scheme: `v1` uses a shared secret (HMAC), `v1a` a key pair (Ed25519). */
export type Scheme = "v1" | "v1a";

export interface WebhookKey<Use extends "sign" | "verify"> {
  scheme: Scheme;
  use: Use;
  key: CryptoKey;
}

/** Why a text is not a valid key. The reason never contains the text. */
type KeyFault = "wrong-kind" | "encoding" | "length" | "halves-differ" | "small-order";

/** Each reason in words. */
export const faultTexts: Record<KeyFault, string> = {
  "wrong-kind": "it starts with the prefix of another kind of key",
  encoding: "it is not base64",
  length: "it has another length",
  "halves-differ": "its two halves do not belong together",
  "small-order": "it is a point of small order, for which any signature can be made",
};

const hmac = { name: "HMAC", hash: "SHA-256" };
const ed25519 = { name: "Ed25519" };

/**
 * PKCS #8 prefix of a 32-byte Ed25519 private key. PKCS #8 is the only import format that accepts the private key
 * without its public key.
 */
const pkcs8 = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

export function generateSecret(): string {
  return `whsec_${encodeBase64(crypto.getRandomValues(new Uint8Array(32)))}`;
}

/** Imports a `whsec_` or `whpk_` key. */
export async function importVerifyingKey(text: string): Promise<Result<WebhookKey<"verify">, KeyFault>> {
  if (!text.startsWith("whpk_")) return importSecret(text, "verify");
  const bytes = readBytes(text.slice("whpk_".length), 32, 32);
  if (!bytes.ok) return bytes;
  if (isSmallOrder(bytes.value)) return err("small-order");
  return ok({ scheme: "v1a", use: "verify", key: await importPublic(bytes.value) });
}

/** Imports a `whsec_` or `whsk_` key. */
export async function importSigningKey(text: string): Promise<Result<WebhookKey<"sign">, KeyFault>> {
  if (!text.startsWith("whsk_")) return importSecret(text, "sign");
  const bytes = readBytes(text.slice("whsk_".length), 64, 64);
  if (!bytes.ok) return bytes;
  const [seed, published] = [bytes.value.slice(0, 32), bytes.value.slice(32)];
  const key = await crypto.subtle.importKey("pkcs8", new Uint8Array([...pkcs8, ...seed]), ed25519, false, ["sign"]);
  // The second half is the public key. If it does not match the first half, receivers could not verify the signatures.
  const proof = await crypto.subtle.sign(ed25519, key, published);
  const belongs = await crypto.subtle.verify(ed25519, await importPublic(published), proof, published);
  return belongs ? ok({ scheme: "v1a", use: "sign", key }) : err("halves-differ");
}

/** The prefix is optional: some senders show the bare base64. */
async function importSecret<Use extends "sign" | "verify">(
  text: string,
  use: Use,
): Promise<Result<WebhookKey<Use>, KeyFault>> {
  if (/^wh[a-z]+_/.test(text) && !text.startsWith("whsec_")) return err("wrong-kind");
  const bytes = readBytes(text.replace(/^whsec_/, ""), 24, 64);
  if (!bytes.ok) return bytes;
  return ok({ scheme: "v1", use, key: await crypto.subtle.importKey("raw", bytes.value, hmac, false, [use]) });
}

/** Ed25519 points whose order divides 8, without the sign bit: with such a public key a signature proves nothing. */
const smallOrder = new Set([
  "00".repeat(32),
  `01${"00".repeat(31)}`,
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  `ec${"ff".repeat(30)}7f`,
  `ed${"ff".repeat(30)}7f`,
  `ee${"ff".repeat(30)}7f`,
]);

function isSmallOrder(point: Uint8Array): boolean {
  const unsigned = Uint8Array.from(point, (byte, index) => (index === 31 ? byte & 0x7f : byte));
  return smallOrder.has(bytesToHex(unsigned));
}

function importPublic(bytes: Uint8Array<ArrayBuffer>): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", bytes, ed25519, false, ["verify"]);
}

function readBytes(text: string, least: number, most: number): Result<Uint8Array<ArrayBuffer>, KeyFault> {
  const bytes = decodeBase64(text);
  if (bytes === undefined) return err("encoding");
  return bytes.byteLength < least || bytes.byteLength > most ? err("length") : ok(bytes);
}
