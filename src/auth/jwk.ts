import { base64url, importJWK } from "jose";

/** A public key that verifies tokens, with the one algorithm it is used for. */
export interface VerificationKey {
  alg: string;
  kid: string | undefined;
  key: CryptoKey;
}

const kinds = [
  { kty: "RSA", crv: undefined, alg: "RS256", parts: ["n", "e"] },
  { kty: "EC", crv: "P-256", alg: "ES256", parts: ["x", "y"] },
  { kty: "OKP", crv: "Ed25519", alg: "EdDSA", parts: ["x"] },
];

const MIN_RSA_BITS = 2_048;

/** A key of a JWK Set; undefined where it is none we verify with: of another type, purpose or strength, or damaged. */
export async function importVerificationKey(jwk: unknown): Promise<VerificationKey | undefined> {
  if (typeof jwk !== "object" || jwk === null) return undefined;
  const members = jwk as Record<string, unknown>;
  const kind = kinds.find(({ kty, crv }) => kty === members.kty && crv === members.crv);
  if (kind === undefined || !isForVerifying(members, kind.alg)) return undefined;
  const { kid } = members;
  if (kid !== undefined && typeof kid !== "string") return undefined;
  const names = kind.crv === undefined ? kind.parts : ["crv", ...kind.parts];
  try {
    const parts = Object.fromEntries(names.map((name) => [name, members[name]]));
    const key = await importJWK({ ...parts, kty: kind.kty }, kind.alg);
    return key instanceof Uint8Array || !isStrong(key, members.e) ? undefined : { alg: kind.alg, kid, key };
  } catch {
    return undefined;
  }
}

function isForVerifying({ use, key_ops, alg, d }: Record<string, unknown>, expected: string): boolean {
  if (use !== undefined && use !== "sig") return false;
  if (key_ops !== undefined && !(Array.isArray(key_ops) && key_ops.includes("verify"))) return false;
  // A private key that was published is no longer its owner's alone.
  return (alg === undefined || alg === expected) && d === undefined;
}

/** RSA has two ways to be weak: a short modulus, and the exponent 1 that makes every message its own signature. */
function isStrong({ algorithm }: CryptoKey, exponent: unknown): boolean {
  if (!("modulusLength" in algorithm)) return true;
  const bytes = typeof exponent === "string" ? base64url.decode(exponent) : new Uint8Array();
  const isTrivial = bytes.every((byte, index) => byte === (index === bytes.length - 1 ? 1 : 0));
  return algorithm.modulusLength >= MIN_RSA_BITS && !isTrivial;
}
