import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import worker from "../../../src/index.ts";
import { TokenBuckets } from "../../../src/kernel/rate-limit.ts";
import { capabilities, config, configs, secret as key, Registry, token, tools } from "../support/registry.ts";

describe("a caller's reads", () => {
  let clock: number;
  let registry: Registry;
  let one: string;
  let other: string;
  const view = capabilities("busy", "s");
  beforeAll(async () => {
    const publisher = await token({ tenants: ["busy"] });
    await new Registry().send("PUT", view, { token: publisher, body: tools("busy_t") });
    one = await token({ sub: "one", tenants: ["busy"] });
    other = await token({ sub: "other", tenants: ["busy"] });
  });
  beforeEach(() => {
    clock = Date.now();
    registry = new Registry({ now: () => clock, vars: { READ_LIMIT: "5/5" } });
  });

  const read = (who: string, path = view) => registry.send("GET", path, { token: who });
  const statuses = async (times: number, who: string) => {
    const seen: number[] = [];
    for (let turn = 0; turn < times; turn += 1) seen.push((await read(who)).status);
    return seen;
  };

  it("are refused with 429 and Retry-After beyond the burst, and another's are not", async () => {
    expect(await statuses(6, one)).toEqual([200, 200, 200, 200, 200, 429]);
    const { headers, body } = await read(one);
    expect(body.error).toMatchObject({ code: "ErrorTooManyRequests", details: { retryAfterSeconds: 1 } });
    expect(headers.get("Retry-After")).toBe("1");
    expect(await statuses(5, other)).toEqual([200, 200, 200, 200, 200]);
  });

  it("come back at the rate, and no further than the burst", async () => {
    await statuses(5, one);
    clock += 200;
    expect(await statuses(2, one)).toEqual([200, 429]);
    clock += 60_000;
    expect(await statuses(6, one)).toEqual([200, 200, 200, 200, 200, 429]);
  });

  it("are counted for the caller, whichever token is used", async () => {
    const second = await token({ sub: "one", tenants: ["busy"], scope: "registry:read" });
    await statuses(5, one);
    expect((await read(second)).status).toBe(429);
  });

  it.each([
    ["not modified", "GET", view, { "If-None-Match": "*" }, 304],
    ["not found", "GET", capabilities("busy", "none"), {}, 404],
    ["forbidden", "GET", capabilities("quiet", "s"), {}, 403],
    ["HEAD", "HEAD", view, {}, 200],
    ["a list", "GET", configs, {}, 200],
    ["a config", "GET", config("busy", "s"), {}, 200],
    ["a log", "GET", "/api/changes/busy", {}, 200],
    ["no such path", "GET", "/api/mcp/configs/busy/s/x", {}, 404],
  ])("count also when %s", async (_, method, path, headers, expected) => {
    const seen: number[] = [];
    for (let turn = 0; turn < 6; turn += 1)
      seen.push((await registry.send(method, path, { token: one, headers })).status);
    expect(seen).toEqual([...Array(5).fill(expected), 429]);
  });

  it("count once a request, writes included", async () => {
    const seen: number[] = [];
    for (const name of ["a", "b", "c", "d", "e", "f"]) {
      seen.push((await registry.send("POST", configs, { token: one, body: { tenant: "busy", name } })).status);
    }
    expect(seen).toEqual([201, 201, 201, 201, 201, 429]);
  });

  it("are not needed to look after the service", async () => {
    await statuses(6, one);
    for (const path of ["/healthz", "/openapi.json", "/schemas/", "/.well-known/oauth-protected-resource", "/"]) {
      for (let turn = 0; turn < 6; turn += 1) expect((await read(one, path)).status).toBe(200);
    }
  });
});

describe("a token bucket", () => {
  const second = 1_000;
  const drain = (buckets: TokenBuckets, caller: string, now: number) => {
    let taken = 0;
    while (taken < 10_000 && buckets.take(caller, now).ok) taken += 1;
    return taken;
  };

  it.each([
    ["full at first", { rate: 1, burst: 3 }, 0, 3],
    ["refilled at its rate", { rate: 2, burst: 100 }, 10 * second, 20],
    ["never fuller than its burst", { rate: 100, burst: 7 }, 3_600 * second, 7],
    ["without parts of a token", { rate: 1, burst: 5 }, 1.9 * second, 1],
  ])("is %s", (_, limit, wait, expected) => {
    const buckets = new TokenBuckets(limit);
    const first = drain(buckets, "a", 0);
    expect(wait === 0 ? first : drain(buckets, "a", wait)).toBe(expected);
  });

  it.each([
    [{ rate: 1, burst: 1 }, 1],
    [{ rate: 1, burst: 100 }, 1],
    [{ rate: 1_000, burst: 1 }, 1],
  ])("with %o says when to come back, in whole seconds", (limit, expected) => {
    const buckets = new TokenBuckets(limit);
    drain(buckets, "a", 0);
    const refused = buckets.take("a", 0);
    expect(refused).toEqual({ ok: false, retryAfterSeconds: expected });
    expect(buckets.take("a", expected * second)).toEqual({ ok: true });
  });

  it("gives nothing for a clock that steps back and forward again", () => {
    const buckets = new TokenBuckets({ rate: 1, burst: 5 });
    drain(buckets, "a", 100 * second);
    expect(buckets.take("a", 0).ok).toBe(false);
    expect(buckets.take("a", 100 * second).ok).toBe(false);
  });

  it("is each caller's own", () => {
    const buckets = new TokenBuckets({ rate: 1, burst: 2 });
    drain(buckets, "a", 0);
    expect(drain(buckets, "b", 0)).toBe(2);
    expect(buckets.take("__proto__", 0).ok).toBe(true);
  });

  it("is forgotten only when it is full again, while that makes room", () => {
    const buckets = new TokenBuckets({ rate: 1, burst: 100 }, 3);
    drain(buckets, "greedy", 0);
    buckets.take("idle", 0);
    buckets.take("idler", 0);
    buckets.take("new", 2 * second);
    expect(drain(buckets, "greedy", 2 * second)).toBe(2);
  });
});

describe("a caller's writes", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("are limited by the tenant's object, whichever isolate they come through", async () => {
    const isolates = [new Registry(), new Registry()];
    const flooder = await token({ sub: "flooder", tenants: ["flood", "calm"] });
    const neighbour = await token({ sub: "neighbour", tenants: ["flood"] });
    const { burst, rate } = isolates[0]?.services.config.writeLimit ?? { burst: 0, rate: 0 };
    // Deleting what is not there is the cheapest write there is.
    const remove = (turn: number, who = flooder, tenant = "flood") =>
      (isolates[turn % 2] as Registry).send("DELETE", config(tenant, "none"), { token: who });
    for (let turn = 0; turn < burst; turn += 1) {
      const { status } = await remove(turn);
      if (status !== 404) expect([turn, status]).toEqual([turn, 404]);
    }
    for (const turn of [0, 1]) {
      const { status, headers, body } = await remove(turn);
      expect([status, headers.get("Retry-After"), body.error.code]).toEqual([429, "1", "ErrorTooManyRequests"]);
    }
    expect((await remove(0, neighbour)).status).toBe(404);
    expect((await remove(0, flooder, "calm")).status).toBe(404);
    expect((await (isolates[0] as Registry).send("GET", `${configs}?tenant=flood`, { token: flooder })).status).toBe(
      200,
    );
    vi.setSystemTime(Date.now() + 1_000);
    let allowed = 0;
    while (allowed <= rate && (await remove(0)).status === 404) allowed += 1;
    expect(allowed).toBe(rate);
  });
});

describe("without a key for tokens", () => {
  const registry = new Registry({ vars: { JWT_SECRET: "" } });

  it.each([
    ["GET", capabilities("any", "s")],
    ["PUT", capabilities("any", "s")],
    ["PATCH", capabilities("any", "s")],
    ["GET", configs],
    ["POST", configs],
    ["DELETE", config("any", "s")],
    ["GET", `${capabilities("any", "s")}/revisions`],
    ["GET", "/api/changes/any"],
    ["GET", "/api/metrics"],
  ])("%s %s answers 503 and names what to set", async (method, path) => {
    for (const who of [{}, { token: await token({ admin: true }) }]) {
      const { status, body } = await registry.send(method, path, who);
      expect([status, body.error.code]).toEqual([503, "ErrorNotConfigured"]);
      expect(body.error.message).toMatch(/JWT_SECRET.*32 bytes.*JWKS_URL/);
    }
  });

  it.each(["/healthz", "/", "/openapi.json", "/schemas/", "/.well-known/oauth-protected-resource"])(
    "%s still answers",
    async (path) => {
      expect((await registry.send("GET", path)).status).toBe(200);
    },
  );
});

describe("with keys of an identity provider and nothing to sign cursors with", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it("reads work, and a list answers 503 naming SIGNING_SECRET", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "k", alg: "ES256", use: "sig" }] };
    vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json(jwks));
    const registry = new Registry({ vars: { JWT_SECRET: "", JWKS_URL: "https://issuer.example/jwks" } });
    const now = Math.floor(Date.now() / 1_000);
    const who = await new SignJWT({
      tenants: ["idp"],
      scope: "registry:read",
      sub: "s",
      iss: "rollcall",
      aud: "rollcall",
      iat: now,
      exp: now + 60,
    })
      .setProtectedHeader({ alg: "ES256", kid: "k" })
      .sign(privateKey);
    expect((await registry.send("GET", capabilities("idp", "none"), { token: who })).status).toBe(404);
    const { status, body } = await registry.send("GET", configs, { token: who });
    expect([status, body.error.message]).toEqual([503, expect.stringContaining("SIGNING_SECRET")]);
  });
});

describe("a setting that cannot be read", () => {
  it.each([
    ["JWT_SECRET", "too short"],
    ["SIGNING_SECRET", "too short"],
    ["READ_LIMIT", "many"],
    ["READ_LIMIT", "0/7"],
    ["WRITE_LIMIT", "77"],
    ["SLOW_MS", "soon"],
    ["ADVERTISE_INDEX", "everything"],
    ["JWKS_URL", "http://issuer.test/jwks"],
    ["PUBLIC_URL", "registry.test"],
  ])("%s=%s is named in a 503, and not repeated", async (name, value) => {
    const request = new Request("https://registry.test/healthz") as Parameters<typeof worker.fetch>[0];
    const response = await worker.fetch(request, { ...env, [name]: value } as Env, createExecutionContext());
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([503, "ErrorNotConfigured"]);
    expect(error.message).toContain(name);
    expect(error.message).not.toContain(value);
  });
});

describe("browsers on other origins", () => {
  const open = new Registry();
  const closed = new Registry({ vars: { CORS_ORIGINS: "https://a.test, https://b.test" } });
  const preflight = (registry: Registry, origin: string, method = "PUT") =>
    registry.send("OPTIONS", capabilities("any", "s"), {
      headers: { Origin: origin, "Access-Control-Request-Method": method },
    });

  it("may do all that the API does, by default", async () => {
    const { status, headers, text } = await preflight(open, "https://anyone.test");
    expect([status, text]).toEqual([204, ""]);
    expect(headers.get("Access-Control-Allow-Origin")).toBe("*");
    for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]) {
      expect(headers.get("Access-Control-Allow-Methods")?.split(", ")).toContain(method);
    }
    const allowed = headers.get("Access-Control-Allow-Headers")?.split(", ");
    for (const name of [
      "Authorization",
      "Content-Type",
      "If-Match",
      "If-None-Match",
      "Rollcall-Min-Generation",
      "Cache-Control",
      "X-Request-Id",
    ]) {
      expect(allowed).toContain(name);
    }
  });

  it("may read what answers say of themselves, errors included", async () => {
    const who = await token({ tenants: ["any"] });
    for (const options of [{ token: who }, {}]) {
      const { headers } = await open.send("GET", capabilities("any", "s"), {
        ...options,
        headers: { Origin: "https://anyone.test" },
      });
      expect(headers.get("Access-Control-Allow-Origin")).toBe("*");
      const exposed = headers.get("Access-Control-Expose-Headers")?.split(", ");
      for (const name of [
        "ETag",
        "Rollcall-Generation",
        "Rollcall-Source",
        "Retry-After",
        "X-Request-Id",
        "WWW-Authenticate",
      ]) {
        expect(exposed).toContain(name);
      }
    }
  });

  it.each(["https://a.test", "https://b.test"])("are let in by name: %s", async (origin) => {
    for (const { headers } of [
      await preflight(closed, origin),
      await closed.send("GET", configs, { headers: { Origin: origin } }),
    ]) {
      expect(headers.get("Access-Control-Allow-Origin")).toBe(origin);
      expect(headers.get("Vary")).toBe("Origin");
    }
  });

  it.each([
    "https://c.test",
    "http://a.test",
    "https://a.test.evil.test",
    "https://A.test",
    "https://a.test:8443",
    "null",
    "*",
    "",
  ])("are kept out otherwise: %s", async (origin) => {
    for (const { headers } of [
      await preflight(closed, origin),
      await closed.send("GET", "/healthz", { headers: { Origin: origin } }),
    ]) {
      expect(headers.get("Access-Control-Allow-Origin")).toBeNull();
      expect(headers.get("Vary")).toBe("Origin");
    }
  });

  it("never send cookies along", async () => {
    for (const registry of [open, closed]) {
      expect((await preflight(registry, "https://a.test")).headers.get("Access-Control-Allow-Credentials")).toBeNull();
    }
  });
});

describe("X-Request-Id", () => {
  const registry = new Registry();
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
  const answered = async (offered?: string) => {
    const headers: Record<string, string> = offered === undefined ? {} : { "X-Request-Id": offered };
    const ids = [await registry.send("GET", "/healthz", { headers }), await registry.send("GET", configs, { headers })];
    return ids.map((answer) => answer.headers.get("X-Request-Id") ?? "");
  };

  it.each(["trace-12345678", "0af7651916cd43dd8448eb211c80319c", "a.b_c-d.e", "x".repeat(64)])(
    "%s comes back",
    async (id) => {
      expect(await answered(id)).toEqual([id, id]);
    },
  );

  it.each([
    ["short"],
    ["x".repeat(65)],
    ["has space in it"],
    ["<script>alert</script>"],
    ['{"json":true}'],
    ["semi;colon;here"],
    ["comma,comma,comma"],
  ])("%s is replaced", async (id) => {
    for (const given of await answered(id)) expect(given).toMatch(uuid);
  });

  it("is made anew for each request that brings none", async () => {
    const [first, second] = await answered();
    expect(first).toMatch(uuid);
    expect(second).not.toBe(first);
  });
});

describe("logs and errors", () => {
  const lines: string[] = [];
  beforeEach(() => {
    lines.length = 0;
    for (const level of ["log", "info", "warn", "error", "debug"] as const) {
      vi.spyOn(console, level).mockImplementation((...values: unknown[]) => {
        lines.push(values.map((value) => (typeof value === "string" ? value : JSON.stringify(value))).join(" "));
      });
    }
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** A registry that cannot reach any tenant, for the one answer that no one planned. */
  const failing = (error: Error) => {
    const idFromName = () => {
      throw error;
    };
    const cache = { match: async () => undefined, put: async () => {} };
    const kv = { get: async () => null } as unknown as KVNamespace;
    return new Registry({ kv, cache, vars: { TENANTS: { idFromName } as unknown as Env["TENANTS"] } });
  };

  it("name a cache or KV that fails, and the answer comes from the object", async () => {
    const who = await token({ tenants: ["logged"] });
    await new Registry().send("PUT", capabilities("logged", "sturdy"), {
      token: who,
      body: { tools: [{ name: "t" }] },
    });
    const broken = async () => {
      throw new Error("storage is down");
    };
    const kv = { get: broken } as unknown as KVNamespace;
    const registry = new Registry({ kv, cache: { match: broken, put: broken } });
    const read = await registry.send("GET", capabilities("logged", "sturdy"), { token: who });
    expect([read.status, read.headers.get("Rollcall-Source")]).toEqual([200, "object"]);
    const written = await registry.send("PUT", capabilities("logged", "sturdy"), { token: who, body: { tools: [] } });
    expect(written.status).toBe(200);
    expect(lines.some((line) => line.includes('"event":"storage"'))).toBe(true);
  });

  it("hold no token, no secret and nothing from a query", async () => {
    const secret = "s3cr3t-canary";
    // Everything counts as slow, so that everything is logged.
    const registry = new Registry({ vars: { SLOW_MS: "0" } });
    const good = await token({ tenants: ["logged"] });
    const forged = `${good.slice(0, -6)}AAAAAA`;
    const answers = [
      await registry.send("PUT", capabilities("logged", "s"), { token: good, body: tools("logged_t") }),
      await registry.send("GET", `${capabilities("logged", "s")}?access_token=${secret}`, { token: good }),
      await registry.send("GET", `${configs}?token=${secret}`, { token: good }),
      await registry.send("GET", `${configs}?cursor=${secret}`, { token: good }),
      await registry.send("GET", configs, { token: forged }),
      await registry.send("GET", configs, { headers: { Authorization: `Basic ${secret}` } }),
      await registry.send("POST", configs, {
        token: good,
        body: { tenant: "logged", name: "c", sources: [{ type: "sse", credential: secret }] },
      }),
      await registry.send("POST", configs, { token: good, body: `{"tenant":"logged","name":"c","a":"${secret}",}` }),
      await registry.send("POST", configs, {
        token: good,
        body: `tenant: logged\nname: c\na: "${secret}`,
        headers: { "Content-Type": "application/yaml" },
      }),
      await registry.send("PUT", capabilities("logged", "s"), {
        token: good,
        body: { tools: [{ name: 7, description: secret }] },
      }),
      await registry.send("GET", capabilities("logged", "s"), {
        token: good,
        headers: { Cookie: secret, "If-None-Match": secret },
      }),
      await failing(new Error("storage is down")).send("GET", capabilities("logged", "s"), { token: good }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([
      201,
      expect.any(Number),
      400,
      400,
      401,
      401,
      422,
      400,
      400,
      422,
      200,
      500,
    ]);
    const written = [
      ...lines,
      ...answers.map(({ text }) => text),
      ...answers.flatMap(({ headers }) => [...headers.values()]),
    ].join("\n");
    expect(lines.length).toBeGreaterThanOrEqual(answers.length);
    for (const hidden of [secret, good, forged, good.split(".")[2], new TextDecoder().decode(key)] as string[]) {
      expect(written).not.toContain(hidden);
    }
  });

  it("say nothing of the inside to a caller, and all of it to the operator", async () => {
    const who = await token({ sub: "unlucky", tenants: ["logged"] });
    const { status, body, headers, text } = await failing(new Error("storage is down")).send(
      "GET",
      capabilities("logged", "x"),
      { token: who },
    );
    expect([status, body.error]).toEqual([500, { code: "ErrorInternalServer", message: expect.any(String) }]);
    expect(text).not.toMatch(/storage is down|\.ts\b|at /);
    const logged = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === "error");
    expect(logged[0]).toMatchObject({
      error: "storage is down",
      requestId: headers.get("X-Request-Id"),
      method: "GET",
      path: capabilities("logged", "x"),
      subject: "unlucky",
    });
  });

  it("ask a caller to try again where that may help", async () => {
    const who = await token({ tenants: ["logged"] });
    for (const reason of [{ retryable: true }, { overloaded: true }]) {
      const { status, body, headers } = await failing(Object.assign(new Error("busy"), reason)).send(
        "GET",
        capabilities("logged", "x"),
        { token: who },
      );
      expect([status, body.error.code, headers.get("Retry-After")]).toEqual([503, "ErrorUnavailable", "1"]);
    }
  });

  it("are one line for a write, and none for a read", async () => {
    const registry = new Registry();
    const who = await token({ sub: "writer", tenants: ["logged"] });
    await registry.send("PUT", `${capabilities("logged", "one")}?partial=true`, {
      token: who,
      body: tools("logged_one"),
      headers: { "X-Request-Id": "request-one" },
    });
    const writes = lines.map((line) => JSON.parse(line));
    expect(writes).toEqual([
      {
        event: "write",
        requestId: "request-one",
        method: "PUT",
        path: capabilities("logged", "one"),
        subject: "writer",
        status: 201,
        route: expect.any(String),
        milliseconds: expect.any(Number),
      },
    ]);
    lines.length = 0;
    for (let turn = 0; turn < 3; turn += 1) await registry.send("GET", capabilities("logged", "one"), { token: who });
    expect(lines).toEqual([]);
  });
});
