import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { capabilities, configs, secret as key, Registry, token, tools } from "../support/registry.ts";

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
