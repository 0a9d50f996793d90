import { describe, expect, it } from "vitest";
import { generateSecret, importSigningKey, importVerifyingKey } from "../../../src/webhooks/keys.ts";
import { signWebhook } from "../../../src/webhooks/sign.ts";
import { verifyWebhook } from "../../../src/webhooks/verify.ts";

/** Published with the standard: the same message, signed with a secret and with a key pair. */
const id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const now = 1_614_265_330_000;
const body = new TextEncoder().encode('{"test": 2432232314}');
const published = [
  {
    name: "a secret",
    signing: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    verifying: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  },
  {
    name: "a key pair",
    signing: "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==",
    verifying: "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
    signature: "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg==",
  },
];

/** The cryptography is the runtime's own, so what Node showed has to be seen here once. */
describe("webhook signatures in the Worker's runtime", () => {
  it.each(published)("with $name are those that are published", async ({ signing, verifying, signature }) => {
    const [mine, theirs] = [await importSigningKey(signing), await importVerifyingKey(verifying)];
    if (!mine.ok || !theirs.ok) throw new Error("no key");
    const signed = await signWebhook({ id, body }, [mine.value], now);
    expect(signed).toMatchObject({ ok: true, value: { "webhook-signature": signature } });
    if (!signed.ok) return;
    const headers = new Headers(signed.value);
    const verdict = (bytes: Uint8Array) => verifyWebhook({ headers, body: bytes }, [theirs.value], now);
    expect(await verdict(body)).toEqual({ ok: true, value: { id, timestamp: now / 1_000 } });
    expect(await verdict(body.slice(1))).toEqual({ ok: false, error: "unmatched" });
  });

  it("need two halves of one key", async () => {
    const text = published[1]?.signing ?? "";
    const other = `${text.slice(0, -6)}AAAA==`;
    expect(await importSigningKey(other)).toEqual({ ok: false, error: "halves-differ" });
  });

  it("work with a new secret", async () => {
    const secret = generateSecret();
    expect(await importSigningKey(secret)).toMatchObject({ ok: true });
  });
});
