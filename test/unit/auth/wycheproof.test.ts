import { decodeProtectedHeader } from "jose";
import { expect, it } from "vitest";
import { createJwks } from "../../../src/auth/jwks.ts";
import { type KeySource, verifySignature } from "../../../src/auth/verify-token.ts";
import { describeFixture, readJson } from "../../support/fixtures.ts";

interface Jwk {
  kty: string;
  alg?: string;
  kid?: string;
  k?: string;
}

interface Vector {
  tcId: number;
  comment: string;
  jws: string;
  result: "valid" | "invalid";
}

interface Group<Keys> {
  public?: Keys;
  private?: Keys;
  tests: Vector[];
}

const vectors = <Keys>(location: string) =>
  (readJson(location) as { testGroups: Group<Keys>[] }).testGroups.flatMap((group) =>
    group.tests.map((test) => ({ ...test, key: (group.public ?? group.private) as Keys })),
  );

const secretOf = (key: Jwk): KeySource => ({ kind: "secret", secret: Buffer.from(key.k ?? "", "base64url") });
const jwksOf = (keys: Jwk[]) =>
  createJwks({ url: "https://id.example/jwks", fetch: async () => Response.json({ keys }) });

async function verdict(jws: string, keys: KeySource): Promise<Vector["result"]> {
  return (await verifySignature(jws, keys, 0)).ok ? "valid" : "invalid";
}

describeFixture("JSON Web Signature vectors", "security/wycheproof/json_web_signature_test.json", (location) => {
  /** The same text as the valid vector 357: what they are named after was lost upstream. */
  const defective = new Set([367, 370]);
  /** Called valid upstream: an empty payload, and characters outside base64url that a lenient decoder skips. */
  const stricter = new Set([259, 372, 373]);
  const allowed = new Set(["HS256", "RS256", "ES256", undefined]);

  const all = vectors<Jwk>(location).filter(({ tcId }) => !defective.has(tcId));
  const refused = all.filter(({ tcId, key }) => stricter.has(tcId) || !allowed.has(key.alg));
  const judged = all.filter((vector) => !refused.includes(vector));
  const sourceOf = (key: Jwk): KeySource => (key.kty === "oct" ? secretOf(key) : { kind: "jwks", jwks: jwksOf([key]) });

  it("are all accounted for", () => {
    expect(all).toHaveLength(399);
    // RS384 and RS512 4 each, PS256 50, PS384 5, PS512 20, ES512 2: algorithms that are not on the list.
    expect(refused).toHaveLength(stricter.size + 85);
    expect(judged.filter(({ result }) => result === "valid")).toHaveLength(17);
    expect(judged.filter(({ result }) => result === "invalid")).toHaveLength(294);
  });

  it.each(judged)("$tcId $comment is $result", async ({ jws, key, result }) => {
    expect(await verdict(jws, sourceOf(key))).toBe(result);
  });

  it.each(refused)("$tcId $comment is refused, though $result elsewhere", async ({ jws, key }) => {
    expect(await verdict(jws, sourceOf(key))).toBe("invalid");
  });
});

describeFixture("JSON Web Key vectors", "security/wycheproof/json_web_key_test.json", (location) => {
  const all = vectors<{ keys: Jwk[] }>(location);
  /** A key made by a broken generator, which only its owner can replace. */
  const weakAtItsSource = new Set([7]);
  /** Other lengths of HMAC are refused whatever their key. */
  const otherAlgorithms = all.filter(({ key }) => key.keys.some(({ alg }) => alg === "HS384" || alg === "HS512"));
  /** Wrong in a set of keys; a secret here is one configured value, without a set, an id or a declared purpose. */
  const setsOfSecrets = new Set([1, 4, 25, 26]);

  const left = all.filter((vector) => !weakAtItsSource.has(vector.tcId) && !setsOfSecrets.has(vector.tcId));
  const judged = left.filter((vector) => !otherAlgorithms.includes(vector));
  const secrets = judged.filter(({ key }) => key.keys.every(({ kty }) => kty === "oct"));
  const published = judged.filter((vector) => !secrets.includes(vector));

  it("are all accounted for", () => {
    expect([all.length, otherAlgorithms.length, secrets.length, published.length]).toEqual([26, 6, 5, 10]);
  });

  it.each(secrets)("$tcId $comment is $result", async ({ jws, key, result }) => {
    const [first] = key.keys;
    expect(await verdict(jws, secretOf(first ?? { kty: "oct" }))).toBe(result);
  });

  it.each(published)("$tcId $comment is $result, and so is its key", async ({ jws, key, result }) => {
    const jwks = jwksOf(key.keys);
    expect(await verdict(jws, { kind: "jwks", jwks })).toBe(result);
    const { alg = "", kid } = decodeProtectedHeader(jws);
    const found = await jwks.key(kid === undefined ? { alg } : { alg, kid }, 0);
    expect(found).toMatchObject(result === "valid" ? { ok: true } : { ok: false, error: "unknown-key" });
  });

  it.each(all.filter(({ tcId }) => setsOfSecrets.has(tcId)))("$tcId $comment is refused", async ({ jws, key }) => {
    expect(await verdict(jws, { kind: "jwks", jwks: jwksOf(key.keys) })).toBe("invalid");
  });

  it.each(otherAlgorithms)("$tcId $comment is refused, though $result elsewhere", async ({ jws, key }) => {
    const [first] = key.keys;
    expect(await verdict(jws, secretOf(first ?? { kty: "oct" }))).toBe("invalid");
  });
});
