import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createJwks, type JwksOptions } from "../../../src/auth/jwks.ts";
import { keyPair } from "./signing.ts";

const minute = 60_000;
const start = 1_800_000_000_000;
const old = keyPair("ES256", "old").jwk;
const young = keyPair("ES256", "young").jwk;
const rsa = keyPair("RS256", "rsa").jwk;
const ed = keyPair("EdDSA", "ed").jwk;

let server: Server;
let url: string;
let requests: string[];
/** What the issuer answers; tests change it as they go. */
let answer: RequestListener;

const serve =
  (...keys: object[]): RequestListener =>
  (_, response) => {
    response.setHeader("content-type", "application/json").end(JSON.stringify({ keys }));
  };
const status =
  (code: number, headers: Record<string, string> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(code, headers).end(code === 204 ? undefined : JSON.stringify({ keys: [old] }));
  };
const send =
  (body: string | Uint8Array, headers: Record<string, string> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(200, headers).end(body);
  };

beforeEach(async () => {
  requests = [];
  answer = serve(old);
  server = createServer((request, response) => {
    requests.push(request.url ?? "");
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const issuer = (options: Partial<JwksOptions> = {}) => {
  const jwks = createJwks({ url, fetch: (request) => fetch(request), ...options });
  /** "found", or why not. */
  const ask = async (kid: string | undefined, now = start, alg = "ES256") => {
    const result = await jwks.key(kid === undefined ? { alg } : { alg, kid }, now);
    return result.ok ? "found" : result.error;
  };
  return { jwks, ask };
};

describe("fetching", () => {
  it("happens when a key is first asked for, and once", async () => {
    const { ask } = issuer();
    expect(requests).toEqual([]);
    expect(await ask("old")).toBe("found");
    expect(await ask("old", start + 9 * minute)).toBe("found");
    expect(requests).toEqual(["/jwks"]);
  });

  it("gives a key of the algorithm that was asked for", async () => {
    answer = serve(old, rsa, ed);
    const { jwks } = issuer();
    const found = await jwks.key({ alg: "RS256", kid: "rsa" }, start);
    expect(found).toMatchObject({
      value: { type: "public", algorithm: { name: "RSASSA-PKCS1-v1_5", hash: { name: "SHA-256" } } },
    });
    expect(await jwks.key({ alg: "EdDSA" }, start)).toMatchObject({ value: { algorithm: { name: "Ed25519" } } });
    expect(await jwks.key({ alg: "ES256", kid: "rsa" }, start)).toEqual({ ok: false, error: "unknown-key" });
  });

  it("is shared by all who wait for the first answer", async () => {
    const { ask } = issuer();
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => ask("old")));
    expect(new Set(answers)).toEqual(new Set(["found"]));
    expect(requests).toHaveLength(1);
  });

  it("is handed over, so that it can outlive the request that began it", async () => {
    const work: Promise<unknown>[] = [];
    const { ask } = issuer({ keepAlive: (promise) => work.push(promise) });
    await Promise.all([ask("old"), ask("other")]);
    expect(work).toHaveLength(1);
    await Promise.all(work);
  });
});

describe("a flood of unknown kids", () => {
  const flood = (ask: (kid: string, now?: number) => Promise<string>, now = start) =>
    Promise.all(Array.from({ length: 1_000 }, (_, index) => ask(`unknown-${index}`, now + index)));

  it("causes one fetch in a cooldown", async () => {
    const { ask } = issuer();
    expect(new Set(await flood(ask))).toEqual(new Set(["unknown-key"]));
    await flood(ask, start + 28_000);
    expect(requests).toHaveLength(1);
    await flood(ask, start + 30_000);
    expect(requests).toHaveLength(2);
  });

  it("causes one fetch in a cooldown where keys are already held", async () => {
    const { ask } = issuer();
    expect(await ask("old")).toBe("found");
    await flood(ask, start + minute);
    expect(requests).toHaveLength(2);
    expect(await ask("old", start + minute)).toBe("found");
  });

  it("causes one fetch in a cooldown where the endpoint fails", async () => {
    answer = status(500);
    const { ask } = issuer();
    expect(new Set(await flood(ask))).toEqual(new Set(["keys-unavailable"]));
    expect(await ask("old", start + 29_999)).toBe("keys-unavailable");
    expect(requests).toHaveLength(1);
    answer = serve(old);
    expect(await ask("old", start + 30_000)).toBe("found");
  });

  it("causes none where the kid is longer than any real one", async () => {
    const { ask } = issuer();
    expect(await ask("k".repeat(257))).toBe("unknown-key");
    expect(requests).toHaveLength(0);
    expect(await ask("k".repeat(256))).toBe("unknown-key");
    expect(requests).toHaveLength(1);
  });
});

describe("rotation", () => {
  it("takes a new key when a token first names it, after the cooldown", async () => {
    const { ask } = issuer();
    expect(await ask("old")).toBe("found");
    answer = serve(old, young);
    expect(await ask("young", start + 29_999)).toBe("unknown-key");
    expect(await ask("young", start + 30_000)).toBe("found");
    expect(await ask("old", start + 30_000)).toBe("found");
  });

  it("ends a removed key after ten minutes, when the keys are fetched again", async () => {
    const { ask } = issuer();
    await ask("old");
    answer = serve(young);
    expect(await ask("old", start + 10 * minute - 1)).toBe("found");
    expect(await ask("old", start + 10 * minute)).toBe("unknown-key");
    expect(await ask("young", start + 10 * minute)).toBe("found");
  });

  it("ends every key after twenty minutes without an answer, and recovers", async () => {
    const { ask } = issuer();
    await ask("old");
    answer = status(503);
    expect(await ask("old", start + 10 * minute)).toBe("found");
    expect(await ask("old", start + 20 * minute - 1)).toBe("found");
    expect(await ask("old", start + 20 * minute)).toBe("keys-unavailable");
    // One attempt for each cooldown that was asked in.
    expect(requests).toHaveLength(3);
    answer = serve(old);
    expect(await ask("old", start + 20 * minute + 30_000)).toBe("found");
  });

  it("does not put older keys in the place of newer ones", async () => {
    const slow = Promise.withResolvers<Response>();
    const answers = [slow.promise, Promise.resolve(Response.json({ keys: [young] }))];
    const work: Promise<unknown>[] = [];
    const { ask } = issuer({
      fetch: async () => answers.shift() ?? Response.error(),
      timeoutMs: 20,
      keepAlive: (promise) => work.push(promise),
    });
    expect(await ask("young")).toBe("keys-unavailable");
    expect(await ask("young", start + 30_000)).toBe("found");
    slow.resolve(Response.json({ keys: [old] }));
    await Promise.all(work);
    expect(await ask("young", start + 30_001)).toBe("found");
    expect(await ask("old", start + 30_001)).toBe("unknown-key");
  });
});

describe("an endpoint that does not answer", () => {
  const timed = async (work: Promise<string>) => {
    const begin = performance.now();
    return { answer: await work, milliseconds: performance.now() - begin };
  };

  it.each<[string, RequestListener]>([
    ["sends nothing", () => {}],
    [
      "drips",
      (_, response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write(" "), 20);
        response.on("close", () => clearInterval(timer));
      },
    ],
    ["stops in the middle", (_, response) => response.writeHead(200, { "content-length": "100" }).write("{")],
    ["hangs up", (request) => request.socket.destroy()],
  ])("and %s is left after the timeout", async (_, listener) => {
    answer = listener;
    const { ask } = issuer({ timeoutMs: 150 });
    const { answer: given, milliseconds } = await timed(ask("old"));
    expect(given).toBe("keys-unavailable");
    expect(milliseconds).toBeLessThan(1_000);
    answer = serve(old);
    expect(await ask("old", start + 30_000)).toBe("found");
  });

  it("releases every caller, even when the fetch never settles at all", async () => {
    const { ask } = issuer({ fetch: () => new Promise(() => {}), timeoutMs: 150 });
    const { answer: given, milliseconds } = await timed(Promise.all([ask("a"), ask("b")]).then(String));
    expect(given).toBe("keys-unavailable,keys-unavailable");
    expect(milliseconds).toBeLessThan(1_000);
  });

  it("does not make later callers wait for longer than it had left", async () => {
    const { ask } = issuer({ fetch: () => new Promise(() => {}), timeoutMs: 10_000 });
    void ask("first");
    const { answer: given, milliseconds } = await timed(ask("second", start + 9_900));
    expect(given).toBe("keys-unavailable");
    expect(milliseconds).toBeLessThan(1_000);
  });
});

describe("an answer", () => {
  it.each([201, 204, 206, 304, 404, 500])("with status %i is none", async (code) => {
    answer = status(code);
    expect(await issuer().ask("old")).toBe("keys-unavailable");
  });

  it("that redirects is none, and is not followed", async () => {
    answer = (request, response) =>
      (request.url === "/jwks" ? status(302, { location: "/else" }) : serve(old))(request, response);
    expect(await issuer().ask("old")).toBe("keys-unavailable");
    expect(requests).toEqual(["/jwks"]);
  });

  it.each<[string, string | Uint8Array, string]>([
    ["a set", JSON.stringify({ keys: [old] }), "found"],
    ["an empty set", '{"keys":[]}', "unknown-key"],
    ["a member twice", `{"keys":[],"keys":[${JSON.stringify(old)}]}`, "keys-unavailable"],
    ["not JSON", "<html>", "keys-unavailable"],
    ["empty", "", "keys-unavailable"],
    ["null", "null", "keys-unavailable"],
    ["a list", JSON.stringify([old]), "keys-unavailable"],
    ["keys that are no list", '{"keys":{}}', "keys-unavailable"],
    ["not UTF-8", Buffer.from('{"keys":[],"a":"é"}', "latin1"), "keys-unavailable"],
    ["keys that are none beside one", JSON.stringify({ keys: [null, 1, "a", [], {}, old] }), "found"],
  ])("that is %s", async (_, body, expected) => {
    answer = send(body);
    expect(await issuer().ask("old")).toBe(expected);
  });

  it("may be as large as the limit, counted after decoding", async () => {
    const body = JSON.stringify({ keys: [old] });
    answer = send(body.padEnd(1_000));
    expect(await issuer({ maxBytes: 1_000 }).ask("old")).toBe("found");
    answer = send(body.padEnd(1_001));
    expect(await issuer({ maxBytes: 1_000 }).ask("old")).toBe("keys-unavailable");
    answer = send(gzipSync(body.padEnd(50_000_000)), { "content-encoding": "gzip" });
    expect(await issuer().ask("old")).toBe("keys-unavailable");
    answer = send(gzipSync(body), { "content-encoding": "gzip" });
    expect(await issuer().ask("old")).toBe("found");
  });

  it("without an end is cut off at the limit", async () => {
    let closed = false;
    answer = (_, response) => {
      response.on("close", () => {
        closed = true;
      });
      const more = () => {
        while (!response.destroyed && response.write(" ".repeat(65_536)));
      };
      response.on("drain", more);
      more();
    };
    expect(await issuer().ask("old")).toBe("keys-unavailable");
    await expect.poll(() => closed).toBe(true);
  });

  it("counts only with its first hundred keys", async () => {
    const others = Array.from({ length: 100 }, (_, index) => ({ ...young, kid: `k${index}` }));
    answer = serve(...others, old);
    const { ask } = issuer();
    expect(await ask("k99")).toBe("found");
    expect(await ask("old")).toBe("unknown-key");
  });
});

describe("a published key", () => {
  const [weak, p384] = [keyPair("RS256", "a", 1_024).jwk, keyPair("ES256", "a", 384).jwk];
  const { privateKey } = keyPair("ES256", "a");
  const as = (key: object, members: object = {}) => ({ ...key, kid: "a", ...members });

  it.each<[string, object, string]>([
    ["for signatures", as(old, { use: "sig" }), "ES256"],
    ["for verification", as(old, { key_ops: ["verify"] }), "ES256"],
    ["for several things, verification among them", as(old, { key_ops: ["verify", "encrypt"] }), "ES256"],
    ["for its algorithm", as(rsa, { alg: "RS256" }), "RS256"],
    ["with members nobody knows", as(ed, { ext: "yes", x5t: 1 }), "EdDSA"],
  ])("is used: %s", async (_, jwk, alg) => {
    answer = serve(jwk);
    expect(await issuer().ask("a", start, alg)).toBe("found");
  });

  it.each<[string, object, string]>([
    ["for encryption", as(old, { use: "enc" }), "ES256"],
    ["for signing only", as(old, { key_ops: ["sign"] }), "ES256"],
    ["with key_ops that are no list", as(old, { key_ops: "verify" }), "ES256"],
    ["for another algorithm", as(rsa, { alg: "PS256" }), "RS256"],
    ["RSA of 1,024 bits", as(weak), "RS256"],
    ["RSA with the exponent 1", as(rsa, { e: "AQ" }), "RS256"],
    ["RSA with the exponent 1 after zeros", as(rsa, { e: "AAAB" }), "RS256"],
    ["RSA without a modulus", as(rsa, { n: undefined }), "RS256"],
    ["P-384", as(p384), "ES256"],
    ["a point off its curve", as(old, { y: old.x }), "ES256"],
    ["Ed25519 of the wrong size", as(ed, { x: "AAAA" }), "EdDSA"],
    ["X25519", as(ed, { crv: "X25519" }), "EdDSA"],
    ["a secret", { kty: "oct", kid: "a", k: "A".repeat(43), alg: "HS256" }, "HS256"],
    ["a private key", as(privateKey.export({ format: "jwk" })), "ES256"],
    ["with a kid that is no text", { ...old, kid: 7 }, "ES256"],
  ])("is not used: %s", async (_, jwk, alg) => {
    answer = serve(jwk);
    expect(await issuer().ask("a", start, alg)).toBe("unknown-key");
    expect(await issuer().ask(undefined, start, alg)).toBe("unknown-key");
  });

  it("without a kid serves tokens without one", async () => {
    answer = serve({ ...old, kid: undefined });
    const { ask } = issuer();
    expect(await ask(undefined)).toBe("found");
    expect(await ask("old")).toBe("unknown-key");
  });

  it("is not guessed: neither among several nor between twins, and asking again does not help", async () => {
    answer = serve(old, young, { ...young, kid: "old" });
    const { ask } = issuer();
    expect(await ask(undefined)).toBe("unknown-key");
    expect(await ask("old", start + minute)).toBe("unknown-key");
    expect(await ask("young", start + minute)).toBe("found");
    expect(requests).toHaveLength(1);
  });
});
