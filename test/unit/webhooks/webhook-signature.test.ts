import { createHmac, generateKeyPairSync, sign as signWith } from "node:crypto";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it, vi } from "vitest";
import { generateSecret, importSigningKey, importVerifyingKey } from "../../../src/webhooks/keys.ts";
import { signWebhook } from "../../../src/webhooks/sign.ts";
import { verifyWebhook } from "../../../src/webhooks/verify.ts";
import { describeFixture, readJson } from "../../support/fixtures.ts";

interface Vector {
  name: string;
  secret?: string;
  secretKey?: string;
  publicKey?: string;
  now: number;
  payload?: string;
  payloadBase64?: string;
  headers: Record<string, string>;
  expect: "valid" | "invalid" | "error-at-construction" | "valid-then-duplicate" | "valid-mac-but-400";
}

const now = 1_800_000_000_000;
const seconds = String(now / 1_000);
const body = Buffer.from('{"event":"published"}');
const secret = generateSecret();

const verifying = async (...texts: string[]) =>
  Promise.all(
    texts.map(async (text) => {
      const key = await importVerifyingKey(text);
      if (!key.ok) throw new Error(key.error);
      return key.value;
    }),
  );

const signing = async (...texts: string[]) =>
  Promise.all(
    texts.map(async (text) => {
      const key = await importSigningKey(text);
      if (!key.ok) throw new Error(key.error);
      return key.value;
    }),
  );

/** "valid", or why not. */
async function verdict(headers: Record<string, string>, payload: Uint8Array, keys: string[], at = now) {
  const result = await verifyWebhook({ headers: new Headers(headers), body: payload }, await verifying(...keys), at);
  return result.ok ? "valid" : result.error;
}

async function signed(id: string, payload: Uint8Array, keys: string[], at = now) {
  const result = await signWebhook({ id, body: payload }, await signing(...keys), at);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

/** A v1 signature of anything at all, made without the code under test. */
const mac = (text: string, key = secret) =>
  `v1,${createHmac("sha256", Buffer.from(key.replace("whsec_", ""), "base64"))
    .update(text)
    .digest("base64")}`;

describeFixture("Standard Webhooks vectors", "security/standard-webhooks/vectors.json", (location) => {
  const { vectors } = readJson(location) as { vectors: Vector[] };
  const bodyOf = ({ payload, payloadBase64 }: Vector) =>
    payloadBase64 === undefined ? Buffer.from(payload ?? "") : Buffer.from(payloadBase64, "base64");
  const keyOf = ({ secret: shared, publicKey }: Vector) => publicKey ?? shared ?? "";
  const constructed = vectors.filter((vector) => vector.expect !== "error-at-construction");
  const accepted = constructed.filter((vector) => vector.expect !== "invalid");

  it("are all accounted for", () => {
    expect([vectors.length, constructed.length, accepted.length]).toEqual([35, 33, 10]);
  });

  it.each(accepted)("$name: is accepted", async (vector) => {
    expect(await verdict(vector.headers, bodyOf(vector), [keyOf(vector)], vector.now * 1_000)).toBe("valid");
  });

  it.each(constructed.filter((vector) => !accepted.includes(vector)))("$name: is refused", async (vector) => {
    expect(await verdict(vector.headers, bodyOf(vector), [keyOf(vector)], vector.now * 1_000)).not.toBe("valid");
  });

  it.each(vectors.filter((vector) => !constructed.includes(vector)))("$name: is no key", async (vector) => {
    expect(await importVerifyingKey(vector.secret ?? "")).toEqual({ ok: false, error: "encoding" });
    expect(await importSigningKey(vector.secret ?? "")).toEqual({ ok: false, error: "encoding" });
  });

  const single = accepted.filter(({ headers }) => !headers["webhook-signature"]?.includes(" "));
  it.each(single)("$name: is what signing makes, too", async (vector) => {
    const key = vector.secretKey ?? vector.secret ?? "";
    const at = Number(vector.headers["webhook-timestamp"]) * 1_000;
    expect(await signed(vector.headers["webhook-id"] ?? "", bodyOf(vector), [key], at)).toEqual(vector.headers);
  });
});

describe("a signed message", () => {
  it("verifies, and says what it was called and when it was sent", async () => {
    const headers = new Headers(await signed("msg_1", body, [secret], now + 999));
    expect(await verifyWebhook({ headers, body }, await verifying(secret), now)).toEqual({
      ok: true,
      value: { id: "msg_1", timestamp: now / 1_000 },
    });
  });

  it("verifies for any id, body, time and length of secret", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.stringMatching(/^[A-Za-z0-9_-]{1,128}$/),
        fc.uint8Array({ maxLength: 300 }),
        fc.integer({ min: 0, max: 4_000_000_000 }),
        fc.uint8Array({ minLength: 24, maxLength: 64 }),
        async (id, payload, at, bytes) => {
          const key = `whsec_${Buffer.from(bytes).toString("base64")}`;
          const headers = await signed(id, payload, [key], at * 1_000);
          expect(await verdict(headers, payload, [key], at * 1_000)).toBe("valid");
        },
      ),
      { numRuns: 100 },
    );
  });

  it("does not verify once a bit of its body is flipped", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 100 }), fc.nat(), async (payload, at) => {
        const headers = await signed("msg_1", payload, [secret]);
        const altered = payload.slice();
        altered[(at >> 3) % payload.length] = (payload[(at >> 3) % payload.length] ?? 0) ^ (1 << (at & 7));
        expect(await verdict(headers, altered, [secret])).toBe("unmatched");
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    ["301 s old", -301, "too-old"],
    ["300 s old", -300, "valid"],
    ["300 s ahead", 300, "valid"],
    ["301 s ahead", 301, "too-new"],
  ])("that is %s, at %i, is %s", async (_, offset, expected) => {
    expect(await verdict(await signed("msg_1", body, [secret], now + offset * 1_000), body, [secret])).toBe(expected);
  });

  it("is as old as whole seconds say", async () => {
    const headers = await signed("msg_1", body, [secret]);
    expect(await verdict(headers, body, [secret], now + 300_999)).toBe("valid");
    expect(await verdict(headers, body, [secret], now + 301_000)).toBe("too-old");
  });

  it.each(["", " ", "abc", "-1", "1e9", "0x1", "01800000000", "1800000000.0", "1800000000000", "１８", `${seconds}n`])(
    "with the timestamp %j is refused, whoever signed it",
    async (timestamp) => {
      const signature = mac(`msg_1.${timestamp}.${body}`);
      const get = (name: string) =>
        ({ "webhook-id": "msg_1", "webhook-timestamp": timestamp, "webhook-signature": signature })[name] ?? null;
      const result = await verifyWebhook({ headers: { get }, body }, await verifying(secret), now);
      expect(result).toEqual({ ok: false, error: timestamp === "" ? "headers-missing" : "timestamp" });
    },
  );

  it.each(["a.b", ".", "msg 1", "a,b", "é", "a/b", "x".repeat(129)])("may not be called %j", async (id) => {
    const headers = { "webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": mac(`${id}.${seconds}.`) };
    expect(await verdict(headers, Buffer.from(""), [secret])).toBe("id");
    expect(await signWebhook({ id, body }, await signing(secret), now)).toEqual({ ok: false, error: "id" });
  });
});

describe("the list of signatures", () => {
  const right = mac(`msg_1.${seconds}.${body}`);
  const wrong = mac("something else");
  const withList = (list: string) =>
    verdict({ "webhook-id": "msg_1", "webhook-timestamp": seconds, "webhook-signature": list }, body, [secret]);

  it("may hold eight, the right one anywhere among them", async () => {
    for (let at = 0; at < 8; at += 1) {
      expect(await withList(Array.from({ length: 8 }, (_, index) => (index === at ? right : wrong)).join(" "))).toBe(
        "valid",
      );
    }
  });

  it("is not looked at when it is longer", async () => {
    expect(await withList([right, ...Array(8).fill(wrong)].join(" "))).toBe("signature-header");
    expect(await withList(`${right} v9,${"x".repeat(1_024)}`)).toBe("signature-header");
  });

  it.each([
    ["without padding", right.replace(/=+$/, "")],
    ["of another scheme", right.replace("v1,", "v2,")],
    ["in capitals", right.replace("v1,", "V1,")],
    ["called asymmetric", right.replace("v1,", "v1a,")],
    ["without a scheme", right.replace("v1,", "")],
    ["cut short", "v1,AAAA"],
    ["twice in one", `${right},${right}`],
    ["as two headers joined by a proxy", `${right}, ${wrong}`],
  ])("has no match for one %s", async (_, list) => {
    expect(await withList(list)).toBe("unmatched");
  });

  it("has no match for the alphabet of URLs", async () => {
    const ids = Array.from({ length: 100 }, (_, index) => `msg_${index}`);
    const id = ids.find((name) => /[+/]/.test(mac(`${name}.${seconds}.`))) ?? "";
    const signature = mac(`${id}.${seconds}.`);
    const spelled = signature.replaceAll("+", "-").replaceAll("/", "_");
    const headers = { "webhook-id": id, "webhook-timestamp": seconds };
    expect(await verdict({ ...headers, "webhook-signature": signature }, Buffer.alloc(0), [secret])).toBe("valid");
    expect(await verdict({ ...headers, "webhook-signature": spelled }, Buffer.alloc(0), [secret])).toBe("unmatched");
  });

  it("has no match for base64 with leftover bits, which decodes to the same", async () => {
    const text = right.slice(0, -2);
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const other = alphabet[alphabet.indexOf(right.at(-2) ?? "") + 1];
    expect(Buffer.from(`${text}${other}=`.slice(3), "base64")).toEqual(Buffer.from(right.slice(3), "base64"));
    expect(await withList(`${text}${other}=`)).toBe("unmatched");
  });
});

describe("replacing a secret", () => {
  const [old, young, foreign] = [generateSecret(), generateSecret(), generateSecret()];

  it("signs with both, and either side may be first", async () => {
    const headers = await signed("msg_1", body, [old, young]);
    expect(headers["webhook-signature"].split(" ")).toHaveLength(2);
    expect(await verdict(headers, body, [old])).toBe("valid");
    expect(await verdict(headers, body, [young])).toBe("valid");
    expect(await verdict(await signed("msg_1", body, [old]), body, [young, old])).toBe("valid");
  });

  it("lets nobody else in, and ends", async () => {
    expect(await verdict(await signed("msg_1", body, [foreign]), body, [young, old])).toBe("unmatched");
    expect(await verdict(await signed("msg_1", body, [old]), body, [young])).toBe("unmatched");
    expect(await verdict(await signed("msg_1", body, [old]), body, [])).toBe("unmatched");
  });

  it("never leaves a message unsigned", async () => {
    expect(await signWebhook({ id: "msg_1", body }, [], now)).toEqual({ ok: false, error: "no-keys" });
  });
});

describe("key pairs", () => {
  const pair = () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const seed = Buffer.from(privateKey.export({ format: "jwk" }).d ?? "", "base64url");
    const published = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
    return { privateKey, seed, published, whpk: `whpk_${published.toString("base64")}` };
  };
  const [ours, theirs] = [pair(), pair()];
  const whsk = `whsk_${Buffer.concat([ours.seed, ours.published]).toString("base64")}`;

  it("sign what the public half verifies, as another implementation does", async () => {
    const headers = await signed("msg_1", body, [whsk]);
    const expected = signWith(null, Buffer.from(`msg_1.${seconds}.${body}`), ours.privateKey).toString("base64");
    expect(headers["webhook-signature"]).toBe(`v1a,${expected}`);
    expect(await verdict(headers, body, [ours.whpk])).toBe("valid");
    expect(await verdict(headers, body, [theirs.whpk])).toBe("unmatched");
  });

  it("do not verify what was signed with the public half as if it were a secret", async () => {
    const confused = `whsec_${ours.published.toString("base64")}`;
    const headers = await signed("msg_1", body, [confused]);
    expect(await verdict(headers, body, [ours.whpk])).toBe("unmatched");
  });

  it("must be two halves of one", async () => {
    const mixed = `whsk_${Buffer.concat([ours.seed, theirs.published]).toString("base64")}`;
    expect(await importSigningKey(mixed)).toEqual({ ok: false, error: "halves-differ" });
  });

  it("are used for what they are for", async () => {
    expect(await importVerifyingKey(whsk)).toEqual({ ok: false, error: "wrong-kind" });
    expect(await importSigningKey(ours.whpk)).toEqual({ ok: false, error: "wrong-kind" });
  });
});

describe("a secret", () => {
  it.each([
    [23, "length"],
    [24, undefined],
    [64, undefined],
    [65, "length"],
  ])("of %i bytes is %s", async (length, error) => {
    const result = await importVerifyingKey(`whsec_${Buffer.alloc(length, 7).toString("base64")}`);
    expect(result.ok ? undefined : result.error).toBe(error);
  });

  it.each(["whsec_!!!!", "whsec_ AAAA", `whsec_${"A".repeat(43)}`, `whsec_${"_".repeat(32)}`])(
    "is canonical base64, not %s",
    async (text) => {
      expect(await importVerifyingKey(text)).toEqual({ ok: false, error: "encoding" });
    },
  );

  it("is 32 random bytes when it is new", () => {
    const secrets = Array.from({ length: 100 }, generateSecret);
    expect(new Set(secrets).size).toBe(100);
    for (const text of secrets) expect(Buffer.from(text.slice("whsec_".length), "base64")).toHaveLength(32);
  });
});

describe("the reference implementation", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("agrees on every text that is signed, by either", async () => {
    vi.useFakeTimers({ now, toFake: ["Date"] });
    await fc.assert(
      fc.asyncProperty(
        fc.stringMatching(/^[A-Za-z0-9_-]{1,40}$/),
        fc.string({ unit: "grapheme", maxLength: 200 }),
        async (id, text) => {
          const reference = new Webhook(secret);
          const payload = Buffer.from(text);
          const headers = await signed(id, payload, [secret]);
          expect(reference.sign(id, new Date(now), text)).toBe(headers["webhook-signature"]);
          reference.verify(text, headers, { jsonParse: false });
          expect(await verdict(headers, payload, [secret])).toBe("valid");
        },
      ),
      { numRuns: 100 },
    );
  });

  it("takes a number with a tail, and we do not", async () => {
    vi.useFakeTimers({ now, toFake: ["Date"] });
    const headers = { ...(await signed("msg_1", body, [secret])), "webhook-timestamp": `${seconds}abc` };
    expect(new Webhook(secret).verify(body.toString(), headers)).toEqual({ event: "published" });
    expect(await verdict(headers, body, [secret])).toBe("timestamp");
  });
});
