import { listDurableObjectIds } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { age, client, inSession, negotiate } from "../support/negotiating.ts";
import { Registry, token } from "../support/registry.ts";

const registry = new Registry();
const objects = async () => (await listDurableObjectIds(env.SESSIONS)).length;

describe("a negotiation", () => {
  it("answers with the server's side, what was settled, and the session", async () => {
    const request = {
      ...client("sampling", "streaming", "com.example/own"),
      client_name: "agent",
      client_version: "2.1",
    };
    const { id, answer } = await negotiate(registry, request);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    expect(answer.body).toMatchObject({
      server_name: "rollcall",
      server_version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      available_tools: expect.arrayContaining(["list_servers", "get_capability"]),
      available_resources: expect.arrayContaining(["capabilities://server", "capabilities://tools"]),
      negotiated: {
        capabilities: [
          { name: "sampling", version: "1.0.0" },
          { name: "streaming", version: "1.0.0", parameters: { formats: ["text/event-stream"] } },
        ],
        declined: [{ name: "com.example/own", reason: "unknown" }],
      },
      session: { id, client_name: "agent", client_version: "2.1", client_capabilities: request.supported_capabilities },
    });
    const built = { name: "sampling", version: "1.0.0+b1", description: "" };
    const other = { ...client("tools", "sampling"), capability_details: { sampling: built } };
    expect((await negotiate(registry, other)).answer.body.negotiated).toMatchObject({
      capabilities: [{ name: "sampling", version: "1.0.0" }],
      declined: [{ name: "tools", reason: "server" }],
    });
    const { created_at, last_activity, expires_at } = answer.body.session;
    expect(Math.abs(created_at - Date.now() / 1_000)).toBeLessThan(60);
    expect(expires_at - last_activity).toBeCloseTo(3_600, 3);
    for (const name of answer.body.supported_capabilities) {
      expect(answer.body.capability_details[name]).toMatchObject({
        name,
        version: "1.0.0",
        description: expect.any(String),
      });
    }
  });

  it("declares to each caller only what works for them", async () => {
    const declared = async (claims?: Parameters<typeof token>[0]) => {
      const { answer } = await negotiate(registry, client(), claims && (await token(claims)));
      return answer.body.supported_capabilities as string[];
    };
    const everyone = [
      "tools",
      "resources",
      "prompts",
      "subscriptions",
      "streaming",
      "notifications",
      "batch_operations",
    ];
    expect(await declared()).toEqual([...everyone, "dev.rollcall/context"]);
    expect(await declared({ tenants: ["acme"] })).toEqual([...everyone, "history", "dev.rollcall/context"]);
    expect(await declared({ admin: true })).toEqual([...everyone, "history", "metrics", "dev.rollcall/context"]);
  });

  it("lists tools and resources that can be used in the session", async () => {
    const { id, answer } = await negotiate(registry, client("sampling"));
    for (const name of answer.body.available_tools) {
      const called = await registry.send("POST", `/mcp/tool/${name}`, { ...inSession(id), body: {} });
      // Called without what it needs, which it says: it is there.
      expect([200, 422]).toContain(called.status);
    }
    for (const uri of answer.body.available_resources) {
      const read = await registry.send("GET", `/mcp/resource?uri=${encodeURIComponent(uri)}`, inSession(id));
      expect([uri, read.status]).toEqual([uri, 200]);
    }
  });

  it("settles parameters, which then hold", async () => {
    const detail = (name: string, parameters: Record<string, unknown>) => ({
      [name]: { name, version: "1.0.0", description: "", parameters },
    });
    const { id, answer } = await negotiate(registry, {
      ...client("sampling", "batch_requests", "streaming"),
      capability_details: { ...detail("batch_requests", { max_batch: 2 }), ...detail("streaming", { formats: ["x"] }) },
    });
    expect(answer.body.negotiated.capabilities).toEqual([
      { name: "sampling", version: "1.0.0" },
      { name: "batch_requests", version: "1.0.0", parameters: { max_batch: 2 } },
      {
        name: "streaming",
        version: "1.0.0",
        parameters: { formats: ["text/event-stream"] },
        conflicts: [
          {
            parameter: "formats",
            client: ["x"],
            server: ["text/event-stream"],
            message: "the two lists have nothing in common",
          },
        ],
      },
    ]);
    const call = (count: number) =>
      registry.send("POST", "/mcp/tool/list_servers", { ...inSession(id), body: Array(count).fill({}) });
    expect((await call(2)).status).toBe(200);
    expect((await call(3)).body.error).toBe("A batch has at most 2 items in this session; this one has 3");
  });

  it("works from a page of another origin", async () => {
    const asked = await registry.send("OPTIONS", "/mcp/negotiate", { headers: { Origin: "https://app.example" } });
    expect(asked.status).toBe(204);
    expect(asked.headers.get("Access-Control-Allow-Headers")).toContain("X-MCP-Session-ID");
    const { answer } = await negotiate(registry);
    expect(answer.headers.get("Access-Control-Expose-Headers")).toContain("X-MCP-Session-ID");
  });
});

describe("conditions", () => {
  it("of the deployment keep out a client that lacks them", async () => {
    const picky = new Registry({ vars: { REQUIRED_CAPABILITIES: "sampling, com.example/signed" } });
    const before = await objects();
    const { answer } = await negotiate(picky, client("sampling"));
    expect([answer.status, answer.body.error]).toEqual([
      403,
      "Client does not support required capability: com.example/signed",
    ]);
    expect(await objects()).toBe(before);
    expect((await negotiate(picky, client("sampling", "com.example/signed"))).answer.status).toBe(200);
  });

  it.each([
    ["what the server does not know", ["com.example/own"], "com.example/own", "Unknown capability"],
    ["what was not declared", [], "streaming", "It was not declared"],
  ])("of the client, for %s, open no session", async (_, declared, required, reason) => {
    const before = await objects();
    const extensions = { "dev.rollcall/negotiation": { required: [required] } };
    const { answer } = await negotiate(registry, { ...client(...declared), extensions });
    expect(answer.status).toBe(409);
    expect(answer.body.error).toContain(`Server does not support required capability: ${required}. ${reason}`);
    expect(await objects()).toBe(before);
  });

  it("of the client that are met open one", async () => {
    const extensions = { "dev.rollcall/negotiation": { required: ["streaming"] } };
    expect((await negotiate(registry, { ...client("streaming"), extensions })).answer.status).toBe(200);
  });
});

describe("a bad request", () => {
  const good = client("sampling");
  const detail = { name: "sampling", version: "1.0.0", description: "" };
  const details = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, detail]));

  it.each([
    ["no client_name", { ...good, client_name: undefined }, 422, "/client_name"],
    ["an empty client_name", { ...good, client_name: "" }, 422, "/client_name"],
    ["a client_name with an invisible character", { ...good, client_name: "a\u200bb" }, 422, "/client_name"],
    ["no client_version", { ...good, client_version: undefined }, 422, "/client_version"],
    ["a version that is a number", { ...good, client_version: 1 }, 422, "/client_version"],
    ["no capabilities", { ...good, supported_capabilities: undefined }, 422, "/supported_capabilities"],
    ["capabilities that are no list", { ...good, supported_capabilities: "sampling" }, 422, "/supported_capabilities"],
    ["a capability that is no text", { ...good, supported_capabilities: [7] }, 422, "/supported_capabilities/0"],
    ["an empty capability", { ...good, supported_capabilities: [""] }, 422, "/supported_capabilities/0"],
    ["a capability with a space", { ...good, supported_capabilities: ["a b"] }, 422, "/supported_capabilities/0"],
    ["a capability twice", client("a", "b", "a"), 422, '/supported_capabilities/2 names "a" a second time'],
    ["257 capabilities", client(...Array.from({ length: 257 }, (_, n) => `c${n}`)), 422, "/supported_capabilities"],
    [
      "a detail without version",
      { ...good, capability_details: { a: { ...detail, version: undefined } } },
      422,
      "/capability_details/a/version",
    ],
    [
      "a version that is not semver",
      { ...good, capability_details: { a: { ...detail, version: "1.0" } } },
      422,
      "/capability_details/a/version must be a semantic version such as 1.2.0",
    ],
    [
      "a version with a v",
      { ...good, capability_details: { a: { ...detail, version: "v1.0.0" } } },
      422,
      "/capability_details/a/version",
    ],
    ["257 details", { ...good, capability_details: details(257) }, 422, "/capability_details"],
    [
      "huge parameters",
      { ...good, capability_details: { a: { ...detail, parameters: { x: "y".repeat(5_000) } } } },
      422,
      "/capability_details/a/parameters must be at most",
    ],
    [
      "parameters that are a list",
      { ...good, capability_details: { a: { ...detail, parameters: [] } } },
      422,
      "/capability_details/a/parameters",
    ],
    ["extensions that are text", { ...good, extensions: "x" }, 422, "/extensions"],
    ["10,000 capabilities", client(...Array.from({ length: 10_000 }, (_, n) => `capability-${n}`)), 413, "larger than"],
    ["a list", [], 422, ""],
    ["null", null, 422, ""],
    ["not JSON", "{", 400, "Invalid JSON"],
    ["a key twice", '{"client_name":"a","client_name":"b"}', 400, "client_name"],
    ["nothing", "", 400, "Invalid JSON"],
  ])("with %s is refused by name and makes nothing", async (_, body, status, message) => {
    const before = await objects();
    const answer = await registry.send("POST", "/mcp/negotiate", { body });
    expect(answer.status).toBe(status);
    expect(answer.body.error).toContain(message);
    expect(answer.headers.get("X-MCP-Session-ID")).toBeNull();
    expect(await objects()).toBe(before);
  });

  it.each([
    ["a wish for what was not declared", client("sampling"), { budget: 1 }, 'needs "dev.rollcall/context"'],
    ["no budget", client("dev.rollcall/context"), {}, "/budget"],
    ["a negative budget", client("dev.rollcall/context"), { budget: -1 }, "/budget"],
    ["a budget of text", client("dev.rollcall/context"), { budget: "1000" }, "/budget"],
    ["a budget beyond all bounds", client("dev.rollcall/context"), { budget: 1e10 }, "/budget"],
    ["two budgets", client("dev.rollcall/context"), { budget: 1, token_budget: 2 }, "/token_budget"],
    ["an unknown kind", client("dev.rollcall/context"), { budget: 1, kinds: ["gadget"] }, "/kinds/0"],
    ["an unknown key", client("dev.rollcall/context"), { budget: 1, tasks: "x" }, "tasks"],
    [
      "a bad range",
      client("dev.rollcall/context"),
      { budget: 1, must_have: [{ id: "a", version: ">>1" }] },
      "/must_have/0/version must be a version range",
    ],
    [
      "a bad digest",
      client("dev.rollcall/context"),
      { budget: 1, pins: [{ id: "a", digest: "sha256-x" }] },
      "/pins/0/digest",
    ],
    ["a bad tenant", client("dev.rollcall/context"), { budget: 1, tenants: ["a_b"] }, "/tenants/0"],
    ["a list", client("dev.rollcall/context"), [], "must be an object"],
  ])("for a context with %s is refused by name", async (_, request, wish, message) => {
    const before = await objects();
    const { answer } = await negotiate(registry, { ...request, extensions: { "dev.rollcall/context": wish } });
    expect(answer.status).toBe(422);
    expect(answer.body.error).toContain("/extensions/dev.rollcall~1context");
    expect(answer.body.error).toContain(message);
    expect(await objects()).toBe(before);
  });

  it.each(["GET", "PUT", "DELETE"])("by %s is told what to use", async (method) => {
    const answer = await registry.send(method, "/mcp/negotiate");
    expect([answer.status, answer.headers.get("Allow")]).toEqual([405, "POST"]);
  });

  it("with a bad token is refused, not taken for anonymous", async () => {
    const { answer } = await negotiate(registry, good, "nonsense");
    expect([answer.status, answer.body.error]).toEqual([401, "Unauthorized access"]);
    expect(answer.headers.get("WWW-Authenticate")).toContain("resource_metadata");
  });
});

describe("a flood", () => {
  it("of negotiations by one caller is stopped, and others are not", async () => {
    const narrow = new Registry({ vars: { NEGOTIATE_LIMIT: "1/3" } });
    const [alice, bob] = [await token({ sub: "alice" }), await token({ sub: "bob" })];
    const statuses = [];
    for (let count = 0; count < 5; count += 1) statuses.push((await negotiate(narrow, client(), alice)).answer.status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const refused = await negotiate(narrow, client(), alice);
    expect(Number(refused.answer.headers.get("Retry-After"))).toBeGreaterThan(0);
    expect((await negotiate(narrow, client(), bob)).answer.status).toBe(200);
  });
});

describe("a resume token", () => {
  const resumable = client("sampling", "session_resume");
  const invalid = "Invalid resume token. Please negotiate capabilities again.";
  const resume = (resume_token: unknown, bearer?: string) =>
    registry.send("POST", "/mcp/session/resume", { body: { resume_token }, ...(bearer ? { token: bearer } : {}) });

  it("is given only to a client that declared it", async () => {
    expect((await negotiate(registry, client("sampling"))).answer.body.session).not.toHaveProperty("resume_token");
    expect((await negotiate(registry, resumable)).answer.body.session.resume_token).toMatch(
      /^[0-9a-f]{64}\.[0-9a-f]{64}$/,
    );
  });

  it("restores an expired session under a new id, once, with a new token", async () => {
    const { id, answer } = await negotiate(registry, { ...resumable, client_name: "returning" });
    await age(id, 7_200);
    expect((await new Registry().send("GET", "/mcp/session", inSession(id))).status).toBe(401);
    const token = answer.body.session.resume_token;
    const first = await resume(token);
    expect(first.status).toBe(200);
    expect(first.body.session).toMatchObject({
      client_name: "returning",
      client_capabilities: ["sampling", "session_resume"],
    });
    const next = first.headers.get("X-MCP-Session-ID") ?? "";
    expect(next).not.toBe(id);
    expect(first.body.session.resume_token).not.toBe(token);
    expect((await registry.send("POST", "/mcp/tool/list_servers", inSession(next))).status).toBe(200);
    const second = await resume(token);
    expect([second.status, second.body.error]).toEqual([401, invalid]);
  });

  it("shown twice at once is good once", async () => {
    const { answer } = await negotiate(registry, resumable);
    const token = answer.body.session.resume_token;
    const answers = await Promise.all(Array.from({ length: 8 }, () => resume(token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
  });

  it("ends the session it was for", async () => {
    const { id, answer } = await negotiate(registry, resumable);
    expect((await resume(answer.body.session.resume_token)).status).toBe(200);
    expect((await registry.send("GET", "/mcp/session", inSession(id))).status).toBe(401);
  });

  it("is its subject's alone", async () => {
    const [alice, bob] = [await token({ sub: "alice" }), await token({ sub: "bob" })];
    const { answer } = await negotiate(registry, resumable, alice);
    const mine = answer.body.session.resume_token;
    expect((await resume(mine, bob)).status).toBe(401);
    expect((await resume(mine)).status).toBe(401);
    expect((await resume(mine, alice)).status).toBe(200);
  });

  it("takes what the caller may do from the token of now", async () => {
    const { answer } = await negotiate(registry, resumable, await token({ sub: "alice", tenants: ["acme", "beta"] }));
    const resumed = await resume(answer.body.session.resume_token, await token({ sub: "alice", tenants: ["acme"] }));
    expect(resumed.body.session.auth_context.tenants).toEqual(["acme"]);
  });

  it("is good as long as was settled", async () => {
    const { id, answer } = await negotiate(registry, {
      ...resumable,
      capability_details: {
        r: { name: "session_resume", version: "1.0.0", description: "", parameters: { window_seconds: 60 } },
      },
    });
    await age(id, 3_700);
    expect((await resume(answer.body.session.resume_token)).status).toBe(401);
  });

  it.each([
    ["a made-up one", `${"0".repeat(64)}.${"0".repeat(64)}`, 401, invalid],
    ["half of one", "0".repeat(64), 401, invalid],
    ["a number", 7, 422, "/resume_token"],
    ["nothing", undefined, 422, "/resume_token"],
    ["a long one", "a".repeat(600), 422, "/resume_token"],
  ])("that is %s is refused", async (_, value, status, message) => {
    const before = await objects();
    const answer = await resume(value);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toContain(message);
    expect(await objects()).toBe(before);
  });

  it("with another's secret half is refused", async () => {
    const [one, other] = [await negotiate(registry, resumable), await negotiate(registry, resumable)];
    const secret = other.answer.body.session.resume_token.split(".")[1];
    expect((await resume(`${one.id}.${secret}`)).status).toBe(401);
    expect((await resume(one.answer.body.session.resume_token)).status).toBe(200);
  });
});
