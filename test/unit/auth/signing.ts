import { createHmac, generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from "node:crypto";

type Key = KeyObject | Uint8Array;

/**
 * Signs any header and any payload text, also such as no library would: what an attacker can write must be testable.
 * `how` is the real algorithm; the header may claim another.
 */
export function compact(header: unknown, payload: unknown, key: Key, how = algorithmOf(header)): string {
  const input = `${encoded(header)}.${encoded(payload)}`;
  return `${input}.${signatureOf(input, key, how).toString("base64url")}`;
}

export function signatureOf(input: string, key: Key, how: string): Buffer {
  const data = Buffer.from(input);
  if (how === "HS256") return createHmac("sha256", key).update(data).digest();
  if (key instanceof Uint8Array) throw new TypeError(`${how} needs a key pair`);
  if (how === "EdDSA") return sign(null, data, key);
  if (how === "PS256") return sign("sha256", data, { key, padding: 6, saltLength: 32 });
  if (how === "ES256-DER") return sign("sha256", data, key);
  return sign("sha256", data, { key, dsaEncoding: "ieee-p1363" });
}

export function encoded(part: unknown): string {
  if (part instanceof Uint8Array) return Buffer.from(part).toString("base64url");
  return Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");
}

function algorithmOf(header: unknown): string {
  return (header as { alg: string }).alg;
}

export interface KeyPair {
  alg: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
  jwk: JsonWebKey & { kid: string };
}

export function keyPair(alg: "RS256" | "ES256" | "EdDSA", kid: string, bits = 2_048): KeyPair {
  const pair =
    alg === "RS256"
      ? generateKeyPairSync("rsa", { modulusLength: bits })
      : alg === "ES256"
        ? generateKeyPairSync("ec", { namedCurve: bits === 384 ? "P-384" : "P-256" })
        : generateKeyPairSync("ed25519");
  return { alg, ...pair, jwk: { ...pair.publicKey.export({ format: "jwk" }), kid } };
}
