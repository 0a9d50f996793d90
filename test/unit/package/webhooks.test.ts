import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { createSender, verifyWebhook } from "../../../packages/rollcall/src/webhooks/index.ts";

/** The package of Standard Webhooks is the oracle: what one side signs, the other verifies. */

const secret = `whsec_${btoa("a-secret-for-tests-of-webhooks-3")}`;
const other = `whsec_${btoa("another-secret-for-the-tests--32")}`;
const now = new Date();

function signed(body: string, given: { secret?: string; at?: Date; headers?: Record<string, string> } = {}): Request {
  const { at = now } = given;
  const signature = new Webhook(given.secret ?? secret).sign("msg_1", at, body);
  const headers = {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
    "webhook-signature": signature,
    ...given.headers,
  };
  return new Request("https://receiver.test/", { method: "POST", body, headers });
}

describe("createSender", () => {
  it("signs what the oracle verifies", async () => {
    let seen: unknown;
    const sender = await createSender({
      url: "https://registry.test/hooks/acme/h_1",
      secret,
      fetch: async (url, init) => {
        expect(url).toBe("https://registry.test/hooks/acme/h_1");
        expect(init).toMatchObject({ method: "POST", redirect: "manual" });
        const body = new TextDecoder().decode(init.body as Uint8Array);
        seen = new Webhook(secret).verify(body, Object.fromEntries(new Headers(init.headers)));
        return Response.json({ outcome: "applied" }, { status: 202, headers: { "retry-after": "7" } });
      },
    });
    const sent = await sender.send("server.status", { status: "deprecated", note: "¿ü?" }, { sequence: 4 });
    expect(sent).toEqual({ status: 202, answer: { outcome: "applied" }, retryAfter: 7 });
    expect(seen).toMatchObject({ type: "server.status", data: { status: "deprecated", note: "¿ü?", sequence: 4 } });
  });

  it("answers that are no JSON are told", async () => {
    const answer = async () => new Response("<html>bad gateway</html>", { status: 502 });
    const sender = await createSender({ url: "https://registry.test/", secret, fetch: answer });
    const sent = await sender.send("manifest.changed", {}, { sequence: 1 });
    expect(sent).toMatchObject({ status: 502, answer: { message: "<html>bad gateway</html>" } });
  });

  it.each(["", "hunter2", "whpk_AAAA", "whsec_c2hvcnQ="])(
    "refuses %j as a secret, without repeating it",
    async (bad) => {
      const failed = await createSender({ url: "https://registry.test/", secret: bad }).catch((error: Error) => error);
      expect(failed).toBeInstanceOf(TypeError);
      if (bad !== "") expect((failed as Error).message).not.toContain(bad);
    },
  );
});

describe("verifyWebhook", () => {
  it("takes what the oracle signed, with either secret while they are rotated", async () => {
    const body = '{"type":"change","text":"¿ü?"}';
    for (const secrets of [[secret], [other, secret]]) {
      const verified = await verifyWebhook(signed(body), secrets);
      if (!verified.ok) throw new Error(verified.reason);
      expect(new TextDecoder().decode(verified.body)).toBe(body);
      expect(verified.id).toBe("msg_1");
    }
  });

  it.each([
    ["another secret", signed("{}", { secret: other }), "unmatched"],
    ["another body", new Request(signed("{}"), { body: "{ }" }), "unmatched"],
    ["an old message", signed("{}", { at: new Date(now.getTime() - 301_000) }), "too-old"],
    ["a message of the future", signed("{}", { at: new Date(now.getTime() + 301_000) }), "too-new"],
    ["no headers", new Request("https://receiver.test/", { method: "POST", body: "{}" }), "headers-missing"],
    // The oracle reads digits up to the first letter.
    [
      "a timestamp with letters",
      signed("{}", { headers: { "webhook-timestamp": `${Math.floor(now.getTime() / 1_000)}abc` } }),
      "timestamp",
    ],
  ])("refuses %s", async (_what, request, reason) => {
    expect(await verifyWebhook(request, [secret], { now: now.getTime() })).toEqual({ ok: false, reason });
  });

  it("a secret that is none is told as such", async () => {
    expect(await verifyWebhook(signed("{}"), ["hunter2"])).toMatchObject({
      ok: false,
      reason: expect.stringContaining("secret"),
    });
  });
});
