import { err, ok, type Result } from "../kernel/result.ts";

/** Why a message is refused. For tests and logs only: the sender learns no reason. */
type GithubFault = "header-missing" | "signature-header" | "unmatched";

/**
 * Verifies GitHub's `X-Hub-Signature-256` over the raw body. One matching secret is enough, so that a secret can be
 * rotated. GitHub signs neither a timestamp nor the delivery id: a replayed message verifies again under any id, so a
 * replay can only be detected by the content.
 */
export async function verifyGithub(
  { headers, body }: { headers: Pick<Headers, "get">; body: Uint8Array },
  secrets: readonly string[],
): Promise<Result<void, GithubFault>> {
  const header = headers.get("x-hub-signature-256");
  if (!header) return err("header-missing");
  const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(header) ?? [];
  if (hex === undefined) return err("signature-header");
  const signature = Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
  // An empty secret is known to everybody.
  for (const secret of secrets.filter((text) => text !== "")) {
    const key = await hmacKey(secret);
    if (await crypto.subtle.verify("HMAC", key, signature, body)) return ok(undefined);
  }
  return err("unmatched");
}

function hmacKey(secret: string): Promise<CryptoKey> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", new TextEncoder().encode(secret), algorithm, false, ["verify"]);
}
