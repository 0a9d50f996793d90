import { compactVerify } from "jose";
import { ok, type Result } from "../kernel/result.ts";
import { type ClaimRules, readClaims } from "./claims.ts";
import type { Jwks } from "./jwks.ts";
import { type JwsHeader, readHeader, readObject } from "./jwt-header.ts";
import type { Principal } from "./principal.ts";
import { fault, type TokenFault } from "./token-error.ts";

export type { TokenFault };

export type KeySource = { kind: "secret"; secret: Uint8Array } | { kind: "jwks"; jwks: Jwks };

export interface TokenRules extends ClaimRules {
  keys: KeySource;
}

/** The sets are disjoint, so that a public key can never be used as a shared secret. */
const algorithms: Record<KeySource["kind"], readonly string[]> = {
  secret: ["HS256"],
  jwks: ["RS256", "ES256", "EdDSA"],
};

/** A shorter HS256 secret can be guessed from a single token. */
const minSecretBytes = 32;

/** The principal of a bearer token, or why the token is refused. `now` is in milliseconds. */
export async function verifyToken(
  token: string,
  rules: TokenRules,
  now: number,
): Promise<Result<Principal, TokenFault>> {
  const verified = await verifySignature(token, rules.keys, now);
  if (!verified.ok) return verified;
  const claims = readObject(verified.value);
  if (claims === undefined) return fault("malformed", "the payload is not a JSON object without repeated members");
  return readClaims(claims, rules, now);
}

/**
 * Verifies the signature with a key of the source and returns the payload. Only the canonical encoding of a token is
 * accepted.
 */
export async function verifySignature(
  token: string,
  keys: KeySource,
  now: number,
): Promise<Result<Uint8Array, TokenFault>> {
  const header = readHeader(token);
  if (!header.ok) return header;
  const key = await findKey(keys, header.value, now);
  if (!key.ok) return key;
  try {
    const { payload } = await compactVerify(token, key.value, { algorithms: [header.value.alg] });
    return ok(payload);
  } catch {
    return fault("signature", "the signature does not match");
  }
}

/** The key for a token with this header. */
export async function findKey(
  keys: KeySource,
  header: JwsHeader,
  now: number,
): Promise<Result<CryptoKey | Uint8Array, TokenFault>> {
  if (!algorithms[keys.kind].includes(header.alg)) {
    return fault("algorithm", `alg must be ${algorithms[keys.kind].join(" or ")}`);
  }
  if (keys.kind === "secret") {
    if (keys.secret.byteLength >= minSecretBytes) return ok(keys.secret);
    return fault("keys-unavailable", `the secret is shorter than ${minSecretBytes} bytes`);
  }
  const found = await keys.jwks.key(header, now);
  if (found.ok) return found;
  const messages = {
    "unknown-key": "no key of the issuer matches the header",
    "keys-unavailable": "the keys of the issuer cannot be read at the moment",
  };
  return fault(found.error, messages[found.error]);
}
