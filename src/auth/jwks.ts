import { base64url, importJWK } from "jose";
import { err, ok, type Result } from "../kernel/result.ts";
import { parseStrictJson } from "../kernel/strict-json.ts";
import { withTimeout } from "../kernel/timeout.ts";

/** A public key that verifies tokens, with the one algorithm it is used for. */
interface VerificationKey {
  alg: string;
  kid: string | undefined;
  key: CryptoKey;
}

const kinds = [
  { kty: "RSA", crv: undefined, alg: "RS256", parts: ["n", "e"] },
  { kty: "EC", crv: "P-256", alg: "ES256", parts: ["x", "y"] },
  { kty: "OKP", crv: "Ed25519", alg: "EdDSA", parts: ["x"] },
];

const minRsaBits = 2_048;

/** Imports a key of a JWK Set; undefined if its type, purpose or strength is not accepted, or if it is damaged. */
async function importVerificationKey(jwk: unknown): Promise<VerificationKey | undefined> {
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
  // A published private key is compromised.
  return (alg === undefined || alg === expected) && d === undefined;
}

/** Refuses weak RSA keys: a short modulus, or the exponent 1, which makes every message its own signature. */
function isStrong({ algorithm }: CryptoKey, exponent: unknown): boolean {
  if (!("modulusLength" in algorithm)) return true;
  const bytes = typeof exponent === "string" ? base64url.decode(exponent) : new Uint8Array();
  const isTrivial = bytes.every((byte, index) => byte === (index === bytes.length - 1 ? 1 : 0));
  return algorithm.modulusLength >= minRsaBits && !isTrivial;
}

export interface Jwks {
  /** The key that matches a token's header. `now` is in milliseconds. */
  key(
    header: { alg: string; kid?: string },
    now: number,
  ): Promise<Result<CryptoKey, "unknown-key" | "keys-unavailable">>;
}

export interface JwksOptions {
  url: string;
  fetch: (request: Request) => Promise<Response>;
  /** Minimum time between two fetches, whatever triggers them and whether or not they succeed. */
  cooldownMs?: number;
  /**
   * Older keys are fetched again before they are used, so that a removed key is refused from then on. While the
   * endpoint is down, keys are used for the same time once more: a removed key lasts at most 2 × maxAge.
   */
  maxAgeMs?: number;
  timeoutMs?: number;
  /** Counted after decompression, as the compressed size says nothing about the real size. */
  maxBytes?: number;
  /**
   * Lets a fetch outlive the request that started it: if that caller disconnects, others need not wait for the
   * cooldown.
   */
  keepAlive?: (work: Promise<unknown>) => void;
}

interface KeySet {
  keys: VerificationKey[];
  fetchedAt: number;
}

interface Attempt {
  startedAt: number;
  work: Promise<void>;
}

const maxKeyIdLength = 256;
const maxKeys = 100;
const maxDepth = 8;

/** The public keys of an issuer, fetched on first use and cached in the isolate. */
export function createJwks(options: JwksOptions): Jwks {
  const { cooldownMs = 30_000, maxAgeMs = 600_000, timeoutMs = 5_000 } = options;
  let held: KeySet | undefined;
  let attempt: Attempt | undefined;

  const ageOf = (set: KeySet | undefined, now: number) => (set === undefined ? Infinity : now - set.fetchedAt);

  async function load(startedAt: number): Promise<void> {
    const keys = await fetchKeys(options);
    // A slow fetch must not overwrite the newer keys of a later fetch.
    if (keys !== undefined && (held === undefined || held.fetchedAt <= startedAt))
      held = { keys, fetchedAt: startedAt };
  }

  /** Starts a fetch, or waits for the one in progress; does nothing within the cooldown of the last fetch. */
  async function refresh(now: number): Promise<void> {
    if (attempt === undefined || now - attempt.startedAt >= cooldownMs) {
      // Set before the fetch ends, so that callers during the fetch, or after it failed, do not start another.
      attempt = { startedAt: now, work: load(now) };
      options.keepAlive?.(attempt.work);
    }
    // The work never rejects: the only error is the timeout.
    await withTimeout(attempt.work, attempt.startedAt + timeoutMs - now).catch(() => {});
  }

  return {
    async key({ alg, kid }, now) {
      if (kid !== undefined && kid.length > maxKeyIdLength) return err("unknown-key");
      const matches = () => held?.keys.filter((key) => key.alg === alg && (kid === undefined || key.kid === kid)) ?? [];
      if (ageOf(held, now) >= maxAgeMs || matches().length === 0) await refresh(now);
      if (ageOf(held, now) >= 2 * maxAgeMs) return err("keys-unavailable");
      const [match, ...others] = matches();
      // Two matching keys are refused: choosing one would be a guess.
      return match === undefined || others.length > 0 ? err("unknown-key") : ok(match.key);
    },
  };
}

/** Fetches the usable keys; undefined if there is no readable response. Never rejects. */
async function fetchKeys(options: JwksOptions): Promise<VerificationKey[] | undefined> {
  const { url, timeoutMs = 5_000, maxBytes = 262_144 } = options;
  try {
    const request = new Request(url, {
      headers: { accept: "application/jwk-set+json, application/json" },
      // The issuer's URL is configured; the endpoint may not redirect to another one.
      redirect: "manual",
      signal: AbortSignal.timeout(timeoutMs),
    });
    const response = await options.fetch(request);
    if (response.status !== 200) {
      await response.body?.cancel();
      return undefined;
    }
    const bytes = await readBytes(response, maxBytes);
    return bytes === undefined ? undefined : await readKeys(bytes);
  } catch {
    return undefined;
  }
}

async function readBytes(response: Response, maxBytes: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cancels the body.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

async function readKeys(bytes: Uint8Array): Promise<VerificationKey[] | undefined> {
  const parsed = parseStrictJson(bytes, { maxDepth: maxDepth });
  if (!parsed.ok || parsed.value.issues.length > 0) return undefined;
  const { keys } = (parsed.value.value ?? {}) as { keys?: unknown };
  if (!Array.isArray(keys)) return undefined;
  const imported = await Promise.all(keys.slice(0, maxKeys).map(importVerificationKey));
  return imported.filter((key) => key !== undefined);
}
