import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import canonicalize from "canonicalize";
import { readingUnits, type Steps } from "./pace/pace.ts";

/** RFC 8785 canonical JSON. The value must be plain JSON data, as the strict parser returns it. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError("only JSON data has a canonical form");
  return text;
}

const encoder = new TextEncoder();

/** `sha256-` and hex of the UTF-8 bytes. */
export async function digestOfText(text: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", encoder.encode(text)));
  return `sha256-${bytesToHex(hash)}`;
}

/** Synchronous variant, for use inside a transaction; slower on long texts. */
export function digestOfTextSync(text: string): string {
  return `sha256-${bytesToHex(sha256(encoder.encode(text)))}`;
}

/** The same in steps. */
export function* digestOfTextSteps(text: string): Steps<string> {
  const bytes = encoder.encode(text);
  const hash = sha256.create();
  for (let at = 0; at < bytes.length; at += bytesPerStep) {
    const part = bytes.subarray(at, at + bytesPerStep);
    hash.update(part);
    yield readingUnits(part.length);
  }
  return `sha256-${bytesToHex(hash.digest())}`;
}

const bytesPerStep = 64 * 1024;

export function digestOf(value: unknown): Promise<string> {
  return digestOfText(canonicalJson(value));
}
