import { SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { createJwks } from "../../../src/auth/jwks.ts";
import { type KeySource, type TokenFault, type TokenRules, verifyToken } from "../../../src/auth/verify-token.ts";
import { describeFixture, readJson } from "../../support/fixtures.ts";
import { compact, encoded, keyPair, signatureOf } from "./signing.ts";

const now = 1_800_000_000_000;
const seconds = now / 1_000;
const secret = new Uint8Array(32).fill(7);
const base = { issuer: "https://id.example", audience: "https://rollcall.example", maxLifetimeSeconds: 86_400 };
const withSecret: TokenRules = { ...base, leewaySeconds: 60, keys: { kind: "secret", secret } };
const claims = { iss: base.issuer, aud: base.audience, sub: "ada", iat: seconds, exp: seconds + 600 };

const rsa = keyPair("RS256", "rsa");
const ec = keyPair("ES256", "ec");
const ed = keyPair("EdDSA", "ed");

/** An issuer with these keys, and a count of how often it was asked. */
function issuer(jwks: object[] = [rsa.jwk, ec.jwk, ed.jwk]): { rules: TokenRules; fetches: () => number } {
  let fetches = 0;
  const fetch = async () => {
    fetches += 1;
    return Response.json({ keys: jwks });
  };
  const keys: KeySource = { kind: "jwks", jwks: createJwks({ url: "https://id.example/jwks", fetch }) };
  return { rules: { ...withSecret, keys }, fetches: () => fetches };
}

async function reasonFor(token: string, rules = withSecret): Promise<TokenFault["reason"] | "accepted"> {
  const result = await verifyToken(token, rules, now);
  return result.ok ? "accepted" : result.error.reason;
}

const hs256 = (payload: unknown, header: object = {}) => compact({ alg: "HS256", ...header }, payload, secret);
const rs256 = (header: object, payload: unknown = claims) =>
  compact({ alg: "RS256", kid: "rsa", ...header }, payload, rsa.privateKey);

describe("a token that is in order", () => {
  it("says who is calling", async () => {
    const payload = {
      ...claims,
      tenants: ["acme", "io.github.acme"],
      scope: "registry:read registry:publish",
      admin: true,
    };
    expect(await verifyToken(hs256(payload), withSecret, now)).toEqual({
      ok: true,
      value: {
        subject: "ada",
        tenants: ["acme", "io.github.acme"],
        scopes: ["registry:read", "registry:publish"],
        admin: true,
        expiresAt: seconds + 600,
      },
    });
  });

  it("names a tenant in any spelling, once", async () => {
    const payload = { ...claims, tenants: ["Acme", "IO.GitHub.acme", "ACME"] };
    const result = await verifyToken(hs256(payload), withSecret, now);
    expect(result).toMatchObject({ value: { tenants: ["acme", "io.github.acme"] } });
  });

  it("grants nothing that it does not say", async () => {
    const result = await verifyToken(hs256(claims), withSecret, now);
    expect(result).toMatchObject({ value: { tenants: [], scopes: [], admin: false } });
  });

  it.each([rsa, ec, ed])("is accepted with a key of the issuer: $alg", async ({ alg, privateKey, jwk: { kid } }) => {
    const token = await new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(privateKey);
    expect(await reasonFor(token, issuer().rules)).toBe("accepted");
  });

  it("is accepted without a kid where only one key fits", async () => {
    expect(await reasonFor(compact({ alg: "EdDSA" }, claims, ed.privateKey), issuer().rules)).toBe("accepted");
  });
});

describe("claims", () => {
  const without = (name: string) => Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name));
  /** Claims as text, for what no value can express. */
  const raw = (members: string) => `${JSON.stringify(claims).slice(0, -1)},${members}}`;
  const tenants = (count: number) => Array.from({ length: count }, () => "a");

  it.each<[string, unknown, string]>([
    ["iss other", { ...claims, iss: "https://other.example" }, "issuer"],
    ["iss with a trailing slash", { ...claims, iss: `${base.issuer}/` }, "issuer"],
    ["iss in a list", { ...claims, iss: [base.issuer] }, "issuer"],
    ["iss absent", without("iss"), "issuer"],
    ["aud other", { ...claims, aud: "https://other.example" }, "audience"],
    ["aud absent", without("aud"), "audience"],
    ["aud in a list", { ...claims, aud: ["https://other.example", base.audience] }, "accepted"],
    ["aud in a list without us", { ...claims, aud: ["https://other.example"] }, "audience"],
    ["aud as a prefix of ours", { ...claims, aud: "https://rollcall" }, "audience"],
    ["aud with ours as its prefix", { ...claims, aud: `${base.audience}.evil.example` }, "audience"],
    ["aud in a nested list", { ...claims, aud: [[base.audience]] }, "audience"],
    ["exp absent", without("exp"), "claims"],
    ["exp past by 61 s", { ...claims, exp: seconds - 61 }, "expired"],
    ["exp a second past, as there is no leeway", { ...claims, exp: seconds - 1 }, "expired"],
    ["exp now", { ...claims, exp: seconds }, "expired"],
    ["exp a second ahead", { ...claims, exp: seconds + 1 }, "accepted"],
    ["exp a fraction ahead", { ...claims, exp: seconds + 0.5 }, "accepted"],
    ["exp as text", { ...claims, exp: String(seconds + 600) }, "claims"],
    ["exp null", { ...claims, exp: null }, "claims"],
    ["exp 1e400", `{"iss":"${base.issuer}","aud":"${base.audience}","sub":"ada","exp":1e400}`, "malformed"],
    ["nbf ahead by 61 s", { ...claims, nbf: seconds + 61 }, "not-yet-valid"],
    ["nbf ahead by 60 s", { ...claims, nbf: seconds + 60 }, "accepted"],
    ["nbf as text", { ...claims, nbf: "0" }, "claims"],
    ["iat ahead by 61 s", { ...claims, iat: seconds + 61 }, "not-yet-valid"],
    ["iat ahead by 60 s", { ...claims, iat: seconds + 60 }, "accepted"],
    ["iat as text", { ...claims, iat: "0" }, "claims"],
    ["a lifetime of a day", { ...claims, exp: seconds + 86_400 }, "accepted"],
    ["a lifetime above a day", { ...claims, exp: seconds + 86_401 }, "lifetime"],
    ["a lifetime above a day that began long ago", { ...claims, iat: seconds - 86_400, exp: seconds + 1 }, "lifetime"],
    ["a lifetime above a day without iat", { ...without("iat"), exp: seconds + 86_401 }, "lifetime"],
    ["a lifetime of a day without iat", { ...without("iat"), exp: seconds + 86_400 }, "accepted"],
    ["sub absent", without("sub"), "claims"],
    ["sub empty", { ...claims, sub: "" }, "claims"],
    ["sub of 256 characters", { ...claims, sub: "a".repeat(256) }, "accepted"],
    ["sub of 257 characters", { ...claims, sub: "a".repeat(257) }, "claims"],
    ["sub with a line break", { ...claims, sub: "a\nb" }, "claims"],
    ["sub as a number", { ...claims, sub: 7 }, "claims"],
    ["tenants in one text", { ...claims, tenants: "acme" }, "claims"],
    ["tenants null", { ...claims, tenants: null }, "claims"],
    ["tenants with a wildcard", { ...claims, tenants: ["*"] }, "claims"],
    ["tenants with __proto__", { ...claims, tenants: ["__proto__"] }, "claims"],
    ["tenants with an empty name", { ...claims, tenants: ["acme", ""] }, "claims"],
    ["tenants with a line break at the end", { ...claims, tenants: ["acme\n"] }, "claims"],
    ["tenants with a letter that only looks like one", { ...claims, tenants: ["\u212aacme"] }, "claims"],
    ["tenants with a number", { ...claims, tenants: [1] }, "claims"],
    ["tenants with a name of 101 characters", { ...claims, tenants: ["a".repeat(101)] }, "claims"],
    ["1,000 tenants", { ...claims, tenants: tenants(1_000) }, "accepted"],
    ["1,001 tenants", { ...claims, tenants: tenants(1_001) }, "claims"],
    ["scope empty", { ...claims, scope: "" }, "accepted"],
    ["scope as a list", { ...claims, scope: ["registry:read"] }, "claims"],
    ["scope separated by a tab", { ...claims, scope: "a\tb" }, "claims"],
    ["admin as text", { ...claims, admin: "true" }, "claims"],
    ["admin as a number", { ...claims, admin: 1 }, "claims"],
    ["admin null", { ...claims, admin: null }, "claims"],
    ["a claim twice", raw('"tenants":["a"],"tenants":["b"]'), "malformed"],
    ["a claim twice, once escaped", raw('"admin":false,"\\u0061dmin":true'), "malformed"],
    ["a __proto__ claim", raw('"__proto__":{"admin":true}'), "malformed"],
    ["a payload that is a list", [claims], "malformed"],
    ["a payload that is no JSON", "claims", "malformed"],
    ["a payload that is not UTF-8", Buffer.from(raw('"a":"é"'), "latin1"), "malformed"],
  ])("%s", async (_, payload, expected) => {
    expect(await reasonFor(hs256(payload))).toBe(expected);
  });
});

describe("typ", () => {
  it.each(["JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt", "Application/AT+JWT"])(
    "%s is accepted",
    async (typ) => {
      expect(await reasonFor(hs256(claims, { typ }))).toBe("accepted");
    },
  );
  it.each(["dpop+jwt", "logout+jwt", "secevent+jwt", "", "JWT ", 1, null, ["JWT"]])("%j is refused", async (typ) => {
    expect(await reasonFor(hs256(claims, { typ }))).toBe("header");
  });
});

describe("algorithms", () => {
  const signed = compact({ alg: "RS256", kid: "rsa" }, claims, rsa.privateKey);

  it.each(["none", "None", "NONE", "nOnE"])("alg %s", async (alg) => {
    const unsigned = `${encoded({ alg, kid: "rsa" })}.${encoded(claims)}.`;
    const kept = `${unsigned}${signed.split(".")[2]}`;
    for (const rules of [withSecret, issuer().rules]) {
      expect(await reasonFor(unsigned, rules)).toBe("malformed");
      expect(await reasonFor(kept, rules)).toBe("algorithm");
    }
  });

  it.each([
    ["the PEM of the public key", Buffer.from(rsa.publicKey.export({ type: "spki", format: "pem" }))],
    ["the DER of the public key", rsa.publicKey.export({ type: "spki", format: "der" })],
    ["the JSON of the public key", Buffer.from(JSON.stringify(rsa.jwk))],
  ])("HS256 with %s", async (_, bytes) => {
    const { rules, fetches } = issuer();
    expect(await reasonFor(compact({ alg: "HS256", kid: "rsa" }, claims, bytes), rules)).toBe("algorithm");
    expect(fetches()).toBe(0);
  });

  it("an issuer's algorithm where a secret is configured", async () => {
    expect(await reasonFor(signed)).toBe("algorithm");
  });

  it("PS256 with a key for RS256", async () => {
    const token = compact({ alg: "PS256", kid: "rsa" }, claims, rsa.privateKey);
    expect(await reasonFor(token, issuer().rules)).toBe("algorithm");
    const disguised = compact({ alg: "RS256", kid: "rsa" }, claims, rsa.privateKey, "PS256");
    expect(await reasonFor(disguised, issuer().rules)).toBe("signature");
  });

  it("ES256 with a P-384 key", async () => {
    const p384 = keyPair("ES256", "p384", 384);
    const token = compact({ alg: "ES256", kid: "p384" }, claims, p384.privateKey);
    expect(await reasonFor(token, issuer([p384.jwk]).rules)).toBe("unknown-key");
  });

  it.each([undefined, null, 5, "hs256", ["HS256"], ""])("alg %j", async (alg) => {
    expect(await reasonFor(compact({ alg }, claims, secret, "HS256"))).toBe("algorithm");
  });

  it("a secret that is too short to be one", async () => {
    const short = new Uint8Array(31);
    const rules: TokenRules = { ...withSecret, keys: { kind: "secret", secret: short } };
    expect(await reasonFor(compact({ alg: "HS256" }, claims, short), rules)).toBe("keys-unavailable");
  });
});

describe("header members that would choose the key or change what is signed", () => {
  const attacker = keyPair("RS256", "rsa");
  const members: [string, object][] = [
    ["jwk with an attacker's key", { jwk: attacker.jwk }],
    ["jku", { jku: "https://evil.example/jwks" }],
    ["x5u", { x5u: "https://evil.example/cert" }],
    ["x5c", { x5c: ["AAAA"] }],
    ["crit with an unknown name", { crit: ["x"], x: 1 }],
    ["crit empty", { crit: [] }],
    ["crit not a list", { crit: "b64" }],
    ["crit null", { crit: null }],
    ["crit that lists b64", { crit: ["b64"], b64: true }],
    ["b64 false with crit", { crit: ["b64"], b64: false }],
    ["b64 false without crit", { b64: false }],
  ];
  it.each(members)("%s", async (_, member) => {
    const { rules, fetches } = issuer();
    expect(await reasonFor(compact({ alg: "RS256", kid: "rsa", ...member }, claims, attacker.privateKey), rules)).toBe(
      "header",
    );
    expect(await reasonFor(rs256(member), rules)).toBe("header");
    expect(await reasonFor(hs256(claims, member))).toBe("header");
    expect(fetches()).toBe(0);
  });

  it.each([
    ["a member twice", '{"alg":"RS256","alg":"HS256"}'],
    ["no object", '["HS256"]'],
    ["no JSON", "HS256"],
    ["nested beyond reason", `{"alg":"HS256","a":${"[".repeat(20)}${"]".repeat(20)}}`],
  ])("a header with %s", async (_, header) => {
    expect(await reasonFor(compact(header, claims, secret, "HS256"))).toBe("malformed");
  });
});

describe("kid", () => {
  it.each([
    ["a path", "../../dev/null", 1],
    ["a quote", "a' OR '1'='1", 1],
    ["empty", "", 1],
    ["257 characters", "k".repeat(257), 0],
  ])("%s", async (_, kid, expected) => {
    const { rules, fetches } = issuer();
    expect(await reasonFor(rs256({ kid }), rules)).toBe("unknown-key");
    expect(fetches()).toBe(expected);
  });

  it("10 kB", async () => {
    const { rules, fetches } = issuer();
    expect(await reasonFor(rs256({ kid: "k".repeat(10_000) }), rules)).toBe("malformed");
    expect(fetches()).toBe(0);
  });

  it("absent where several keys fit", async () => {
    const other = keyPair("RS256", "other");
    expect(await reasonFor(rs256({ kid: undefined }), issuer([rsa.jwk, other.jwk]).rules)).toBe("unknown-key");
  });

  it("of a key for another algorithm", async () => {
    expect(await reasonFor(rs256({ kid: "ec" }), issuer().rules)).toBe("unknown-key");
  });

  it("that is no text", async () => {
    expect(await reasonFor(rs256({ kid: 1 }), issuer().rules)).toBe("header");
  });
});

describe("spelling", () => {
  const token = hs256(claims);
  const [header = "", payload = "", signature = ""] = token.split(".");
  const text = JSON.stringify({ payload, protected: header, signature });
  it.each([
    ["five parts", `${token}.${payload}.${signature}`],
    ["four parts", `${token}.`],
    ["two parts", `${header}.${payload}`],
    ["one part", header],
    ["nothing", ""],
    ["only dots", ".."],
    ["no header", `.${payload}.${signature}`],
    ["no payload", `${header}..${signature}`],
    ["no signature", `${header}.${payload}.`],
    ["JSON serialisation", text],
    ["100 kB", `${header}.${"A".repeat(100_000)}.${signature}`],
    ["100,000 dots", ".".repeat(100_000)],
    ["padding", `${token}=`],
    ["a space before", ` ${token}`],
    ["a line break after", `${token}\n`],
    ["a space inside the payload", `${header}.${payload.slice(0, 4)} ${payload.slice(4)}.${signature}`],
    ["a letter that only looks the same", `${header}.${payload}.${signature.replace(/.$/, "а")}`],
  ])("%s", async (_, spelling) => {
    expect(await reasonFor(spelling)).toBe("malformed");
  });

  it("the alphabet of plain base64", async () => {
    const odd = [...Array(64).keys()]
      .map((i) => hs256({ ...claims, jti: String(i) }))
      .find((t) => /[-_]/.test(t.split(".")[2] ?? ""));
    expect(await reasonFor(odd ?? "")).toBe("accepted");
    const [first, second, third = ""] = (odd ?? "").split(".");
    expect(await reasonFor(`${first}.${second}.${third.replaceAll("-", "+").replaceAll("_", "/")}`)).toBe("malformed");
  });

  it("unused bits at the end of a part", async () => {
    // 32 bytes leave two bits over, so four last letters decode to the same signature.
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const other = letters[letters.indexOf(signature.at(-1) ?? "") ^ 1];
    expect(Buffer.from(`${signature.slice(0, -1)}${other}`, "base64url")).toEqual(Buffer.from(signature, "base64url"));
    expect(await reasonFor(`${header}.${payload}.${signature.slice(0, -1)}${other}`)).toBe("signature");
  });
});

describe("signatures", () => {
  const { rules } = issuer();
  const input = `${encoded({ alg: "ES256", kid: "ec" })}.${encoded(claims)}`;
  const es256 = (signature: Uint8Array) => `${input}.${Buffer.from(signature).toString("base64url")}`;
  const good = signatureOf(input, ec.privateKey, "ES256");
  const part = (from: number, value: Uint8Array) =>
    Buffer.concat([good.subarray(0, from), value, good.subarray(from + 32)]);

  it.each([
    ["as it should be", good, "accepted"],
    ["DER", signatureOf(input, ec.privateKey, "ES256-DER"), "signature"],
    ["r = 0", part(0, new Uint8Array(32)), "signature"],
    ["s = 0", part(32, new Uint8Array(32)), "signature"],
    ["all zero", new Uint8Array(64), "signature"],
    ["a byte more", Buffer.concat([good, new Uint8Array(1)]), "signature"],
    ["of another key", signatureOf(input, keyPair("ES256", "ec").privateKey, "ES256"), "signature"],
  ])("ES256 %s", async (_, signature, expected) => {
    expect(await reasonFor(es256(signature), rules)).toBe(expected);
  });

  it("EdDSA with an S that was not reduced", async () => {
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const text = `${encoded({ alg: "EdDSA", kid: "ed" })}.${encoded(claims)}`;
    const bytes = signatureOf(text, ed.privateKey, "EdDSA");
    expect(await reasonFor(`${text}.${bytes.toString("base64url")}`, rules)).toBe("accepted");
    const s = BigInt(`0x${Buffer.from(bytes.subarray(32)).reverse().toString("hex")}`) + order;
    const unreduced = Buffer.from(s.toString(16).padStart(64, "0"), "hex").reverse();
    const forged = Buffer.concat([bytes.subarray(0, 32), unreduced]).toString("base64url");
    expect(await reasonFor(`${text}.${forged}`, rules)).toBe("signature");
  });

  it("a payload swapped under the signature", async () => {
    const [header, , signature] = hs256(claims).split(".");
    expect(await reasonFor(`${header}.${encoded({ ...claims, admin: true })}.${signature}`)).toBe("signature");
  });

  it("does not say what the token held", async () => {
    const result = await verifyToken(hs256({ ...claims, sub: "canary\n" }), withSecret, now);
    expect(JSON.stringify(result)).not.toContain("canary");
  });
});

describeFixture("the list of known attacks", "security/json/jwt-attack-list.json", (location) => {
  it("is the one these tables were written for", () => {
    const list = readJson(location) as string[];
    const elsewhere = list.filter((line) => /tenant B URL|access_token|removed from JWKS/.test(line));
    expect([list.length, elsewhere.length]).toEqual([24, 3]);
  });
});
