import { env } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openApiDocument } from "../../../src/openapi.ts";
import { type Answer, capabilities, config, configs, drained, Registry, token, tools } from "../support/registry.ts";
import { separateCache, staleKv } from "../support/stale-kv.ts";

/** In every string of the private server, so that any part of it in an answer shows. */
const canary = "canary-7f3a";
const digest = `sha256-${"0".repeat(64)}`;
const registry = new Registry();

interface Sent {
  method: string;
  path: string;
  body?: unknown;
}

/** Every route that names a tenant, asked of one of its servers. */
function routes(tenant: string, name: string): Sent[] {
  const server = capabilities(tenant, name);
  return [
    { method: "GET", path: server },
    { method: "HEAD", path: server },
    { method: "PUT", path: server, body: tools("intruder") },
    { method: "PUT", path: `${server}?partial=true`, body: { tools: [{ name: "not valid" }] } },
    { method: "PATCH", path: server, body: { items: [{ kind: "tool", name: "vault_tool", enabled: false }] } },
    { method: "GET", path: `${server}/revisions` },
    { method: "GET", path: `${server}/revisions?limit=1&before=2` },
    { method: "GET", path: `${server}/revisions/${digest}` },
    { method: "GET", path: `${server}/diff?from=${digest}` },
    { method: "GET", path: config(tenant, name) },
    { method: "DELETE", path: config(tenant, name) },
    { method: "POST", path: configs, body: { tenant, name } },
    { method: "PUT", path: configs, body: { tenant, name, visibility: "public" } },
    { method: "GET", path: `${configs}?tenant=${tenant}` },
    { method: "GET", path: `/api/changes/${tenant}` },
  ];
}

/** Every route whose path names a tenant, as the API describes itself: those that are added later included. */
const describedRoutes = Object.entries(
  (openApiDocument("https://registry.test") as { paths: Record<string, object> }).paths,
)
  // A hook is proven by a signature, and knows no tokens.
  .filter(([path]) => path.includes("{tenant}") && !path.startsWith("/hooks/"))
  .flatMap(([path, item]) =>
    ["get", "post", "put", "patch", "delete"]
      .filter((method) => method in item)
      .map((method) => [`${method.toUpperCase()} ${path}`, method.toUpperCase(), path] as const),
  );

const label = ({ method, path }: Sent) => `${method} ${path}`;
const ask = (sent: Sent, who?: string, headers: Record<string, string> = {}) =>
  registry.send(sent.method, sent.path, {
    headers,
    ...(who === undefined ? {} : { token: who }),
    ...(sent.body === undefined ? {} : { body: sent.body }),
  });

/** All of an answer that a caller could compare. */
function comparable({ status, headers, text }: Answer) {
  const shown = [...headers].filter(([name]) => !["x-request-id", "server-timing"].includes(name));
  return { status, headers: Object.fromEntries(shown), text };
}

/** Whichever way the tenant is spelled, it is the same one. */
const spellings = ["vault", "Vault", "VAULT"] as const;

describe.each(spellings)("a token of another tenant, asking %s", (vault) => {
  let owner: string;
  let stranger: string;
  let before: Answer;
  beforeAll(async () => {
    owner = await token({ sub: "owner", tenants: ["vault"] });
    stranger = await token({ sub: "stranger", tenants: ["elsewhere", "vault2", "vaul", "vault.x"] });
    const manifest = { description: canary, tools: [{ name: "vault_tool", description: canary }] };
    await registry.send("PUT", capabilities(vault, "kept"), { token: owner, body: manifest });
    await registry.send("PUT", configs, { token: owner, body: { tenant: vault, name: "kept", title: canary } });
    await drained("vault");
    before = await registry.send("GET", config(vault, "kept"), { token: owner });
  });

  it.each(routes(vault, "kept").map((sent, index) => [label(sent), index] as const))(
    "gets 403 from %s",
    async (_, index) => {
      const { status, body, text } = await ask(routes(vault, "kept")[index] as Sent, stranger);
      expect(status).toBe(403);
      if (body !== undefined)
        expect(body).toEqual({
          success: false,
          error: {
            code: "ErrorTenantPermissionError",
            message: "You do not have permission to access this tenant",
            details: {
              hint: expect.stringMatching(/^This token acts for: elsewhere, .*\. GET \/api\/whoami shows it$/),
            },
          },
        });
      expect(text).not.toContain(canary);
    },
  );

  it.each<[string, Record<string, string>]>([
    ["plainly", {}],
    ["strongly", { "Cache-Control": "no-cache" }],
    ["for a low generation", { "Rollcall-Min-Generation": "1" }],
    ["for a high generation", { "Rollcall-Min-Generation": "9999" }],
    ["with If-None-Match: *", { "If-None-Match": "*" }],
    ["with If-Match: *", { "If-Match": "*" }],
    ["from a browser", { Origin: "https://elsewhere.test" }],
  ])("cannot tell a private server from none, asking %s", async (_, headers) => {
    const absentServer = routes(vault, "none");
    const absentTenant = routes("nobody", "kept");
    const otherSpelling = routes("vAULT", "kept");
    for (const [index, sent] of routes(vault, "kept").entries()) {
      const there = comparable(await ask(sent, stranger, headers));
      for (const other of [absentServer[index], absentTenant[index], otherSpelling[index]] as Sent[]) {
        expect({ route: label(sent), ...comparable(await ask(other, stranger, headers)) }).toEqual({
          route: label(sent),
          ...there,
        });
      }
    }
  });

  it.each(describedRoutes)("gets the same 403 from %s, whether or not there is anything", async (_, method, path) => {
    const fill = (name: string, tool: string) =>
      path
        .replace("{tenant}", vault)
        .replace("{name}", name)
        .replace("{capabilityId}", `mcp.${name}.${tool}`)
        .replace("{digest}", digest)
        .replace("{view}", "tools")
        .replace(/\{\w+\}/, "x");
    // Who may read the index of a tenant is decided after the body is read.
    const sent = path.endsWith("/budget") ? { budget: 1 } : {};
    const body = ["GET", "DELETE"].includes(method) ? {} : { body: sent };
    const there = await ask({ method, path: fill("kept", "vault_tool"), ...body }, stranger);
    const absent = await ask({ method, path: fill("none", "other_tool"), ...body }, stranger);
    expect(there.status).toBe(403);
    expect(comparable(absent)).toEqual(comparable(there));
    expect(there.text).not.toContain(canary);
  });

  it("cannot tell them apart by asking wrongly either", async () => {
    for (const [method, below, body] of [
      ["GET", "/revisions/x"],
      ["GET", "/revisions?limit=0"],
      ["GET", "/diff"],
      ["GET", "/diff?from=x"],
      ["GET", "/nothing"],
      ["GET", "/"],
      ["POST", ""],
      ["PUT", "", "{"],
      ["PUT", "?odd=1", "{}"],
      ["PATCH", "", "{}"],
      ["DELETE", "/revisions"],
    ] as const) {
      const there = await ask({ method, path: capabilities(vault, "kept") + below, body }, stranger);
      const absent = await ask({ method, path: capabilities(vault, "none") + below, body }, stranger);
      // The path is the caller's own word; both names have four letters.
      const repeated = { ...absent, text: absent.text.replace("/none", "/kept") };
      expect({ method, below, ...comparable(repeated) }).toEqual({ method, below, ...comparable(there) });
      expect(there.status).toBeGreaterThanOrEqual(400);
    }
  });

  it("changes nothing by trying", async () => {
    for (const sent of routes(vault, "kept")) await ask(sent, stranger);
    const after = await registry.send("GET", config(vault, "kept"), {
      token: owner,
      headers: { "Cache-Control": "no-cache" },
    });
    expect(comparable(after)).toEqual(comparable(before));
    expect((await registry.send("GET", configs, { token: owner })).body.data.items).toHaveLength(1);
  });

  it("is no use with a tenant named like a pattern", async () => {
    for (const tenants of [["*"], [""], ["vault/kept"], ["vau\u017ft"], vault]) {
      const odd = await token({ tenants: tenants as string[] });
      expect([tenants, (await ask({ method: "GET", path: capabilities(vault, "kept") }, odd)).status]).toEqual([
        tenants,
        401,
      ]);
    }
  });
});

describe.each([
  ["cached", "cached"],
  ["Cached", "CACHED"],
])("what one caller's reads leave behind, for a token of %s at %s", (held, cached) => {
  let owner: string;
  let stranger: string;
  beforeAll(async () => {
    owner = await token({ sub: "owner", tenants: [held] });
    stranger = await token({ sub: "stranger", tenants: ["elsewhere"] });
    await registry.send("PUT", capabilities(cached, "s"), {
      token: owner,
      body: { tools: [{ name: "cached_tool", description: canary }] },
    });
    await drained("cached");
  });

  const view = capabilities(cached, "s");
  const variants = [
    view,
    `${view}?cb=1`,
    `${view}?tenant=elsewhere`,
    `${view}?utm_source=x`,
    `${view}/`,
    `${view}//`,
    `${view}/x.css`,
    `${view}%2fx.css`,
    `${view};x.css`,
    `${view}.css`,
    `${view}%00.css`,
    `${view}%0a.js`,
    `${view}%23.png`,
    `${view}%3fx.ico`,
    `${view}/..%2fs`,
    `${view}/../s`,
    `${view}/./`,
    `${view}/.well-known/x`,
    `/api/mcp/capabilities/${cached}%2fs`,
    "/api/mcp/capabilities/%63ached/s",
    `/api/mcp/capabilities/${cached}/%73`,
    "/api/mcp/capabilities/CACHED/s",
    "/api/mcp/capabilities/cAcHeD/s",
    `/api/mcp/capabilities/${cached}/S`,
    `/api/mcp/capabilities//${cached}/s`,
    `/api//mcp/capabilities/${cached}/s`,
    `//api/mcp/capabilities/${cached}/s`,
    `/API/mcp/capabilities/${cached}/s`,
    `/api/mcp/capabilities/./${cached}/s`,
    `/api/mcp/capabilities/elsewhere/../${cached}/s`,
    `/api/mcp/capabilities/elsewhere/..%2f${cached}%2fs`,
    `/schemas/..%2fapi/mcp/capabilities/${cached}/s`,
    `${view}/revisions`,
    config(cached, "s"),
    `${config(cached, "s")}/x.css`,
    `${configs}?tenant=${cached}`,
    configs,
    `/api/changes/${cached}`,
  ];

  it.each(variants)("never reaches another at %s", async (path) => {
    // Twice each: the first fills every layer, the second reads from it.
    for (let turn = 0; turn < 2; turn += 1) {
      await registry.send("GET", view, { token: owner });
      await registry.send("GET", path, { token: owner });
      for (const who of [stranger, undefined]) {
        const { status, text } = await registry.send("GET", path, who === undefined ? {} : { token: who });
        expect(text).not.toContain(canary);
        expect(text).not.toContain("cached_tool");
        // The list is everyone's own; there, nothing is what a stranger may see.
        if (path !== configs) expect([path, status >= 400]).toEqual([path, true]);
      }
    }
    // What is in the Cache API is under keys of our own, never under an address that someone can ask for.
    for (const origin of ["https://registry.test", "http://registry.test"]) {
      expect(await caches.default.match(`${origin}${path}`)).toBeUndefined();
    }
  });

  it.each<Record<string, string>>([
    { Accept: "text/css" },
    { "Accept-Encoding": "br" },
    { "Accept-Language": "de" },
    { Cookie: "tenant=cached" },
    { Origin: "https://cached.test" },
    { Host: "cached.test" },
    { "X-Forwarded-Host": "cached.test" },
    { "X-Forwarded-For": "127.0.0.1" },
    { "X-Original-URL": view },
    { "X-Rewrite-URL": view },
    { "X-HTTP-Method-Override": "PUT" },
    { "X-Tenant": "cached" },
    { "Cache-Control": "only-if-cached" },
    { "Cache-Control": "max-stale=3600" },
    { "If-None-Match": "*" },
    { "If-Modified-Since": "Thu, 01 Jan 2099 00:00:00 GMT" },
    { Range: "bytes=0-99" },
    { Vary: "*" },
  ])("never reaches another who sends %j", async (headers) => {
    await registry.send("GET", view, { token: owner, headers });
    const { status, text } = await registry.send("GET", view, { token: stranger, headers });
    expect(status).toBe(403);
    expect(text).not.toContain(canary);
  });

  it("answers no one else's tag with 304", async () => {
    const etag = (await registry.send("GET", view, { token: owner })).headers.get("ETag") ?? "";
    for (const who of [{ token: stranger }, {}]) {
      const { status } = await registry.send("GET", view, { ...who, headers: { "If-None-Match": etag } });
      expect(status).toBe("token" in who ? 403 : 401);
    }
  });

  it("is for the caller's cache alone", async () => {
    for (const path of [view, config(cached, "s"), configs, `${view}/revisions`, `/api/changes/${cached}`]) {
      const { headers } = await registry.send("GET", path, { token: owner });
      expect([path, headers.get("Cache-Control")]).toEqual([path, "private, no-cache"]);
    }
    const refused = await registry.send("GET", view, { token: stranger });
    expect(refused.headers.get("Cache-Control")).toBe("no-store");
  });
});

describe("a public server", () => {
  let stranger: string;
  let published: string;
  const readable = () => [
    capabilities("open", "s"),
    `${capabilities("open", "s")}/server`,
    `${capabilities("open", "s")}/tools`,
    config("open", "s"),
  ];
  const past = () => [
    `${capabilities("open", "s")}/revisions`,
    `${capabilities("open", "s")}/revisions/${published}`,
    `${capabilities("open", "s")}/diff?from=${published}`,
  ];
  beforeAll(async () => {
    const owner = await token({ sub: "owner", tenants: ["open"] });
    stranger = await token({ sub: "stranger", tenants: ["elsewhere"] });
    const send = (method: string, path: string, body: unknown) => registry.send(method, path, { token: owner, body });
    await send("POST", configs, { tenant: "open", name: "s", visibility: "public" });
    await send("PUT", capabilities("open", "private-neighbour"), tools("open_shared"));
    const { body } = await send("PUT", capabilities("open", "s"), tools("open_shared", "open_own"));
    published = body.data.digest;
    await send("PUT", capabilities("open", "private-twin"), tools("open_twin"));
    await send("POST", configs, { tenant: "open", name: "twin", visibility: "public" });
    await send("PUT", capabilities("open", "twin"), tools("open_twin"));
    await drained("open");
  });

  it("is readable with any token", async () => {
    const nobody = await token({ tenants: [] });
    for (const path of readable()) {
      for (const who of [stranger, nobody])
        expect([path, (await registry.send("GET", path, { token: who })).status]).toEqual([path, 200]);
    }
  });

  it("keeps its past, its settings and its publishers to its tenant", async () => {
    for (const path of past()) {
      expect([path, (await registry.send("GET", path, { token: stranger })).status]).toEqual([path, 403]);
    }
    const { body } = await registry.send("GET", config("open", "s"), { token: stranger });
    expect(Object.keys(body.data).sort()).toEqual(
      [
        ...["counts", "digest", "flags", "generation", "name", "registry", "status", "tenant", "tokens", "updatedAt"],
        "visibility",
      ].sort(),
    );
  });

  it("is not readable without one", async () => {
    for (const path of [...readable(), ...past(), `${configs}?visibility=public`]) {
      const { status, body, headers } = await registry.send("GET", path);
      expect([path, status, body.error.code]).toEqual([path, 401, "ErrorUnauthorized"]);
      expect(headers.get("WWW-Authenticate")).toMatch(/^Bearer resource_metadata="/);
    }
  });

  it("takes no writes from outside its tenant, and keeps the tenant's log to itself", async () => {
    for (const sent of routes("open", "s").filter(({ method }) => method !== "GET" && method !== "HEAD")) {
      expect([label(sent), (await ask(sent, stranger)).status]).toEqual([label(sent), 403]);
    }
    for (const path of ["/api/changes/open", `${configs}?tenant=open`]) {
      expect([path, (await registry.send("GET", path, { token: stranger })).status]).toEqual([path, 403]);
    }
  });

  it("does not name the tenant's private servers in its flags", async () => {
    for (const path of readable()) {
      const { text } = await registry.send("GET", path, { token: stranger });
      expect([path, text.includes("private-neighbour")]).toEqual([path, false]);
    }
  });

  it("does not carry the ids of a private server that published the same", async () => {
    const { status, text } = await registry.send("GET", capabilities("open", "twin"), { token: stranger });
    expect([status, text.includes("private-twin")]).toEqual([200, false]);
    const own = await registry.send("GET", "/api/capabilities/open/mcp.twin.open_twin", { token: stranger });
    expect([own.status, own.text.includes("private-twin")]).toEqual([200, false]);
  });
});

describe("a server that was public a moment ago", () => {
  let clock: number;
  let near: Registry;
  let far: Registry;
  let owner: string;
  let stranger: string;
  let tenant: string;
  let round = 0;

  /** Far away, caches still say public; near, the owner has made it private and goes on writing. */
  beforeEach(async () => {
    clock = Date.now();
    const now = () => clock;
    const dataCentre = () => new Registry({ now, kv: staleKv(env.REGISTRY, now), cache: separateCache() });
    [near, far] = [dataCentre(), dataCentre()];
    tenant = `closing-${++round}`;
    owner = await token({ sub: "owner", tenants: [tenant] });
    stranger = await token({ sub: "stranger", tenants: ["elsewhere"] });
    await write("POST", configs, { tenant, name: "s", visibility: "public" });
    await write("PUT", capabilities(tenant, "s"), tools("closing_old"));
    await drained(tenant);
    // Asked only whether anything is there: the far data centre knows the head and has never seen the manifest.
    const view = capabilities(tenant, "s");
    expect((await far.send("GET", view, { token: stranger, headers: { "If-None-Match": "*" } })).status).toBe(304);
  });

  const write = (method: string, path: string, body?: unknown) =>
    near.send(method, path, { token: owner, ...(body === undefined ? {} : { body }) });
  const outside = (path: string) => far.send("GET", path, { token: stranger });
  const secretManifest = { description: canary, tools: [{ name: "closing_new", description: canary }] };

  it("shows no settings written since", async () => {
    await write("PUT", configs, { tenant, name: "s", visibility: "tenant", title: canary });
    await drained(tenant);
    expect((await outside(config(tenant, "s"))).text).not.toContain(canary);
  });

  it("shows no history written since", async () => {
    await write("PUT", configs, { tenant, name: "s", visibility: "tenant" });
    const { digest: secret } = (await write("PUT", capabilities(tenant, "s"), secretManifest)).body.data;
    await drained(tenant);
    const view = capabilities(tenant, "s");
    expect((await outside(`${view}/revisions`)).text).not.toContain(secret);
    expect((await outside(`${view}/revisions/${secret}`)).text).not.toContain(canary);
    const { body } = await near.send("GET", `${view}/revisions`, { token: owner });
    const first = body.data.items.at(-1).digest;
    expect((await outside(`${view}/diff?from=${first}&to=${secret}`)).text).not.toContain("closing_new");
  });

  it("shows nothing of a private one that took its name", async () => {
    await write("DELETE", config(tenant, "s"));
    await write("PUT", capabilities(tenant, "s"), secretManifest);
    await drained(tenant);
    const { status, text } = await outside(capabilities(tenant, "s"));
    expect(text).not.toContain(canary);
    expect(status).toBe(403);
  });
});

describe("tenants whose names are the same number", () => {
  const names = ["7", "007", "7.0", "1e3", "1000"];

  it("have servers, heads and logs of their own", async () => {
    for (const tenant of names) {
      const owner = await token({ tenants: [tenant] });
      const body = tools(`of_${tenant.replace(".", "_")}`);
      expect((await registry.send("PUT", capabilities(tenant, "s"), { token: owner, body })).status).toBe(201);
      await drained(tenant);
    }
    const elsewhere = new Registry({ cache: separateCache() });
    for (const tenant of names) {
      const owner = await token({ tenants: [tenant] });
      const read = await elsewhere.send("GET", capabilities(tenant, "s"), { token: owner });
      expect(read.body.data.tools[0].name).toBe(`of_${tenant.replace(".", "_")}`);
      const log = await elsewhere.send("GET", `/api/changes/${tenant}`, { token: owner });
      expect(log.body.data.items[0].previous).toBe(`genesis:${tenant}`);
    }
  });
});

describe("an admin", () => {
  it("reads and writes every tenant, within the token's scopes", async () => {
    const admin = await token({ sub: "root", admin: true });
    const reader = await token({ sub: "auditor", admin: true, scope: "registry:read" });
    expect(
      (await registry.send("PUT", capabilities("governed", "s"), { token: admin, body: tools("governed_t") })).status,
    ).toBe(201);
    for (const sent of routes("governed", "s").filter(
      ({ method, path }) => method === "GET" && !path.includes(digest),
    )) {
      expect([label(sent), (await ask(sent, reader)).status]).toEqual([label(sent), 200]);
    }
    expect((await registry.send("DELETE", config("governed", "s"), { token: reader })).body.error.code).toBe(
      "ErrorInsufficientScope",
    );
    expect((await registry.send("DELETE", config("governed", "s"), { token: admin })).status).toBe(200);
  });
});

describe("scopes", () => {
  it.each([
    ["read only", "registry:read", true, false],
    ["publish only", "registry:publish", false, true],
    ["both, among others", "openid registry:publish registry:read", true, true],
    ["none", "", false, false],
    ["a longer name", "registry:reader registry:publisher", false, false],
    ["a wildcard", "registry:* *", false, false],
    ["capitals", "REGISTRY:READ REGISTRY:PUBLISH", false, false],
  ])("%s", async (what, scope, mayRead, mayWrite) => {
    const tenant = `scope-${what.replaceAll(/\W+/g, "-")}`;
    const full = await token({ tenants: [tenant] });
    await registry.send("PUT", capabilities(tenant, "s"), { token: full, body: tools("scope_t") });
    const who = await token({ tenants: [tenant], scope });
    for (const sent of routes(tenant, "s").filter(({ path }) => !path.includes(digest))) {
      const reads = ["GET", "HEAD"].includes(sent.method);
      const { status, body, headers } = await ask(sent, who);
      const allowed = reads ? mayRead : mayWrite;
      if (allowed) expect([label(sent), status]).not.toEqual([label(sent), 403]);
      else {
        expect([label(sent), status]).toEqual([label(sent), 403]);
        const missing = reads ? "registry:read" : "registry:publish";
        if (body !== undefined)
          expect(body.error).toMatchObject({ code: "ErrorInsufficientScope", details: { scope: missing } });
        expect(headers.get("WWW-Authenticate")).toContain(`scope="${missing}"`);
      }
    }
  });
});

describe("no token", () => {
  it.each(routes("vault", "kept").map((sent, index) => [label(sent), index] as const))(
    "gets 401 from %s",
    async (_, index) => {
      const { status, headers, text } = await ask(routes("vault", "kept")[index] as Sent);
      expect(status).toBe(401);
      expect(headers.get("WWW-Authenticate")).toContain('/.well-known/oauth-protected-resource"');
      expect(text).not.toContain(canary);
    },
  );

  it.each(["Basic dXNlcjpwYXNz", "Bearer", "Bearer ", "Bearer a.b.c", "bearer x y", "Token abc", "Bearer null"])(
    "%j is none",
    async (authorization) => {
      const { status } = await registry.send("GET", capabilities("vault", "kept"), {
        headers: { Authorization: authorization },
      });
      expect(status).toBe(401);
    },
  );

  it("is not taken from the query", async () => {
    const owner = await token({ tenants: ["vault"] });
    const { status, text } = await registry.send("GET", `${capabilities("vault", "kept")}?access_token=${owner}`);
    expect([400, 401]).toContain(status);
    expect(text).not.toContain(owner);
  });
});
