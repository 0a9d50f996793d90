import { bytesToHex } from "@noble/hashes/utils.js";

/** A resume token is the session's id and a secret. The session stores only the hash of the secret. */

/** The secret is created before the session's id is known; `resumeToken` joins the two. */
export async function newResumeSecret(): Promise<{ secret: string; hash: string }> {
  const secret = bytesToHex(crypto.getRandomValues(new Uint8Array(32)));
  return { secret, hash: await hashOf(secret) };
}

export function resumeToken(sessionId: string, secret: string): string {
  return `${sessionId}.${secret}`;
}

/** undefined if the token is malformed. */
export async function readResumeToken(token: string): Promise<{ sessionId: string; hash: string } | undefined> {
  const match = /^([0-9a-f]{64})\.([0-9a-f]{64})$/.exec(token);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  return { sessionId: match[1], hash: await hashOf(match[2]) };
}

async function hashOf(secret: string): Promise<string> {
  return bytesToHex(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(secret))));
}
