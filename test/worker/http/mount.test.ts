import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { Hono } from "hono";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Access, admin, anyone, everyone, manager, member, memberWhereNamed } from "../../../src/http/access.ts";
import { type App, RequestFailed, requestError } from "../../../src/http/context.ts";
import type { HttpDeps } from "../../../src/http/deps.ts";
import { sendFailure } from "../../../src/http/errors.ts";
import { mount } from "../../../src/http/mount.ts";
import { observe } from "../../../src/http/observe.ts";
import { operation } from "../../../src/http/operation.ts";
import { whole } from "../../../src/http/parameters.ts";
import { readTenant } from "../../../src/http/request.ts";
import { TenantName } from "../../../src/kernel/names.ts";
import { createServices } from "../../../src/services.ts";
import { token } from "../support/registry.ts";

/** Kinds of access, bodies and answers that `mount` serves, each with an operation of its own. */

const Told = z.looseObject({});
const told = { 200: { description: "What the handler was told.", json: Told } };
const common = { tag: "Service", summary: "A test", access: everyone, answers: told } as const;
const Thing = z.object({ tenant: TenantName, size: z.int() });

/** As a session: found by a header, beside the token. */
const inSession: Access<{ session: string }> = {
  token: "optional",
  scope: "registry:read",
  fails: ["ErrorSessionInvalid"],
  async identify(c) {
    const session = c.req.header("X-MCP-Session-ID");
    if (session !== "open") throw requestError("ErrorSessionInvalid");
    return { session };
  },
};

/** As a hook: proven by the bytes of the body. */
const signed: Access<{ hook: string }> = {
  token: "none",
  fails: ["ErrorWebhookUnverified"],
  identify: (c) => ({ hook: c.req.param("id") ?? "" }),
  async verify(c, _, { hook }, body) {
    if (c.req.header("Signature") !== `${hook} ${body.byteLength}`) throw requestError("ErrorWebhookUnverified");
  },
};

const operations = [
  operation({
    ...common,
    id: "inPath",
    method: "get",
    path: "/path/{tenant}",
    access: member("path"),
    parameters: { path: { tenant: TenantName }, query: { limit: whole(1, 9).default(5) } },
    handle: (_: HttpDeps, { tenant, path, query, answer }) => answer(200, { tenant, path, query }),
  }),
  operation({
    ...common,
    id: "fixed",
    method: "get",
    path: "/path/fixed",
    also: ["/old/fixed"],
    handle: (_: HttpDeps, { answer }) => answer(200, { fixed: true }),
  }),
  operation({
    ...common,
    id: "posted",
    method: "post",
    path: "/path/posted",
    handle: (_: HttpDeps, { answer }) => answer(200, { posted: true }),
  }),
  operation({
    ...common,
    id: "inQuery",
    method: "get",
    path: "/query",
    access: memberWhereNamed,
    parameters: { query: { tenant: TenantName.optional() } },
    handle: (_: HttpDeps, { tenant, answer }) => answer(200, { tenant }),
  }),
  operation({
    ...common,
    id: "inBody",
    method: "post",
    path: "/body",
    access: manager("body"),
    body: { schema: Thing, limit: 200, ignored: ["generation"], invalid: "ErrorHookInvalid" },
    handle: (_: HttpDeps, { tenant, body, answer }) => answer(200, { tenant, body }),
  }),
  operation({
    ...common,
    id: "inName",
    method: "put",
    path: "/named/{serverName}",
    errors: "problem",
    access: manager({ in: "path", fails: [], read: ({ serverName = "" }) => readTenant(serverName.split("/")[0]) }),
    parameters: { path: { serverName: z.string() }, unknown: "ignore" },
    handle: (_: HttpDeps, { tenant, path, answer }) => answer(200, { tenant, path }),
  }),
  operation({
    ...common,
    id: "forAdmins",
    method: "get",
    path: "/admin",
    access: admin("Only an admin may look"),
    handle: (_: HttpDeps, { principal, answer }) => answer(200, { subject: principal.subject }),
  }),
  operation({
    ...common,
    id: "inSession",
    method: "delete",
    path: "/mcp/session",
    errors: "session",
    access: inSession,
    handle: (_: HttpDeps, { session, answer }) => answer(200, { session }),
  }),
  operation({
    ...common,
    id: "signedEvent",
    method: "post",
    path: "/hooks/{id}",
    access: signed,
    parameters: { path: { id: z.string() } },
    body: { schema: Told, read: "bytes", limit: 100 },
    handle: (_: HttpDeps, { hook, body, answer }) => answer(200, { hook, size: body.byteLength }),
  }),
  operation({
    ...common,
    id: "text",
    method: "post",
    path: "/text",
    access: anyone,
    body: { schema: z.string(), read: "text", limit: 100, media: ["text/plain"] },
    answers: { 200: { description: "The same.", media: ["application/yaml"], etag: true } },
    handle: (_: HttpDeps, { body, answer }) =>
      answer.raw(200, `said: ${body}\n`, { type: "application/yaml", etag: '"t"' }),
  }),
  operation({
    ...common,
    id: "perhaps",
    method: "post",
    path: "/perhaps",
    body: { schema: z.strictObject({ size: z.int().optional() }), limit: 100, whenEmpty: {} },
    handle: (_: HttpDeps, { body, answer }) => answer(200, body),
  }),
  operation({
    ...common,
    id: "stream",
    method: "get",
    path: "/stream",
    head: false,
    answers: { 200: { description: "Events.", media: ["text/event-stream"] } },
    handle: (_: HttpDeps, { answer }) =>
      answer.raw(200, new Blob(["data: 1\n\n"]).stream(), { type: "text/event-stream" }),
  }),
  operation({
    ...common,
    id: "tagged",
    method: "get",
    path: "/tagged",
    answers: { 200: { description: "Data.", data: Told, etag: true, generation: true } },
    handle: (_: HttpDeps, { answer }) => answer(200, { a: 1 }, { etag: '"tag"', generation: 7, message: "Said" }),
  }),
  operation({
    ...common,
    id: "rpc",
    method: "post",
    path: "/mcp",
    errors: "rpc",
    body: { schema: Told, read: "unread", limit: 100 },
    async handle(_: HttpDeps, { c, answer }) {
      return answer.response(200, new Response(`raw ${await c.req.text()}`));
    },
  }),
];

const services = createServices(env);
const app: App = new Hono();
app.use(observe(services));
mount(app, services, operations);
app.onError((error, c) => {
  if (error instanceof RequestFailed) return sendFailure(c, services, error.failure);
  throw error;
});

let mine: string;
let reading: string;
beforeAll(async () => {
  mine = await token({ tenants: ["acme"] });
  reading = await token({ tenants: ["acme"], scope: "registry:read" });
});

async function send(method: string, path: string, init: RequestInit = {}, bearer?: string) {
  const headers = new Headers(init.headers);
  if (bearer !== undefined) headers.set("Authorization", `Bearer ${bearer}`);
  const request = new Request(`https://registry.test${path}`, { ...init, method, headers });
  const response = await app.fetch(request, env, createExecutionContext());
  const text = await response.text();
  const isJson = response.headers.get("Content-Type")?.includes("json") && text !== "";
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined };
}
const post = (path: string, body: string, bearer?: string, headers: Record<string, string> = {}) =>
  send("POST", path, { body, headers }, bearer);

describe("a tenant", () => {
  it("in the path is told to the handler, with parameters of their types", async () => {
    expect((await send("GET", "/path/acme?limit=2", {}, mine)).body).toEqual({
      tenant: "acme",
      path: { tenant: "acme" },
      query: { limit: 2 },
    });
    expect((await send("GET", "/path/other?limit=0", {}, mine)).status).toBe(403);
    expect((await send("GET", "/path/No+Name", {}, mine)).body.error.code).toBe("ErrorTenantInvalid");
    expect((await send("GET", "/path/No+Name")).status).toBe(401);
  });

  it("in the query may be left out where the operation says so", async () => {
    expect((await send("GET", "/query", {}, mine)).body).toEqual({});
    expect((await send("GET", "/query?tenant=acme", {}, mine)).body).toEqual({ tenant: "acme" });
    expect((await send("GET", "/query?tenant=other&odd=1", {}, mine)).status).toBe(403);
  });

  it("in the body is checked before the rest of the body, and after its bounds", async () => {
    const thing = (more: object) => JSON.stringify({ tenant: "acme", size: 1, ...more });
    expect((await post("/body", thing({ generation: 3 }), mine)).body).toEqual({
      tenant: "acme",
      body: { tenant: "acme", size: 1 },
    });
    expect((await post("/body", thing({ tenant: "other", size: "x" }), mine)).status).toBe(403);
    expect((await post("/body", thing({ size: "x" }), mine)).body.error).toMatchObject({
      code: "ErrorHookInvalid",
      message: "The hook's settings are not valid: /size must be a number",
    });
    expect((await post("/body", thing({ pad: "x".repeat(300) }), mine)).status).toBe(413);
    expect((await post("/body", "[", mine)).status).toBe(400);
    expect((await post("/body", "[]", mine)).body.error.code).toBe("ErrorTenantRequired");
    expect((await post("/body", "tenant: acme\nsize: 2\n", mine, { "Content-Type": "application/yaml" })).status).toBe(
      200,
    );
    const refused = await post("/body", "[", reading);
    expect([refused.status, refused.headers.get("WWW-Authenticate")]).toEqual([
      403,
      expect.stringContaining('error="insufficient_scope", scope="registry:publish"'),
    ]);
  });

  it("may be part of another name", async () => {
    const named = await send("PUT", "/named/acme%2Fserver?odd=1", {}, mine);
    expect(named.body).toEqual({ tenant: "acme", path: { serverName: "acme/server" } });
    const refused = await send("PUT", "/named/other%2Fserver", {}, mine);
    expect([refused.status, refused.headers.get("Content-Type")]).toEqual([
      403,
      expect.stringContaining("problem+json"),
    ]);
  });
});

describe("other callers", () => {
  it("are admins, sessions and signatures", async () => {
    expect((await send("GET", "/admin", {}, mine)).body.error.message).toBe("Only an admin may look");
    expect((await send("GET", "/admin", {}, await token({ admin: true }))).status).toBe(200);
    expect((await send("DELETE", "/mcp/session", { headers: { "X-MCP-Session-ID": "open" } })).body).toEqual({
      session: "open",
    });
    const none = await send("DELETE", "/mcp/session?odd=1");
    expect([none.status, none.body.code, none.headers.get("WWW-Authenticate")]).toEqual([
      401,
      "ErrorSessionInvalid",
      'Session negotiate="/mcp/negotiate"',
    ]);
  });

  it("prove themselves by the body before anything is said about the request", async () => {
    expect((await post("/hooks/h?odd=1", "12345")).status).toBe(401);
    expect((await post("/hooks/h?odd=1", "12345", undefined, { Signature: "h 5" })).status).toBe(400);
    expect((await post("/hooks/h", "12345", undefined, { Signature: "h 5" })).body).toEqual({ hook: "h", size: 5 });
    expect((await post("/hooks/h", "x".repeat(101))).status).toBe(413);
  });
});

describe("bodies and answers", () => {
  it("are text, or nothing", async () => {
    const text = await post("/text", "hello");
    expect([text.text, text.headers.get("Content-Type"), text.headers.get("ETag")]).toEqual([
      "said: hello\n",
      "application/yaml",
      '"t"',
    ]);
    expect((await send("POST", "/perhaps")).body).toEqual({});
    expect((await post("/perhaps", '{"size": 2}')).body).toEqual({ size: 2 });
    expect((await post("/perhaps", '{"sise": 2}')).body.error.message).toContain("did you mean size?");
  });

  it("are streams, which HEAD does not open", async () => {
    expect((await send("GET", "/stream")).text).toBe("data: 1\n\n");
    const head = await send("HEAD", "/stream");
    expect([head.status, head.headers.get("Allow")]).toEqual([405, "GET"]);
  });

  it("carry tags, to which a GET may be answered with 304", async () => {
    const full = await send("GET", "/tagged");
    expect(full.body).toEqual({ success: true, message: "Said", data: { a: 1 } });
    expect([full.headers.get("ETag"), full.headers.get("Rollcall-Generation")]).toEqual(['"tag"', "7"]);
    expect((await send("GET", "/tagged", { headers: { "If-None-Match": 'W/"tag"' } })).status).toBe(304);
    expect((await send("HEAD", "/tagged", { headers: { "If-None-Match": '"tag"' } })).status).toBe(304);
    expect((await send("GET", "/tagged", { headers: { "If-None-Match": '"other"' } })).status).toBe(200);
    expect((await post("/text", "x", undefined, { "If-None-Match": '"t"' })).status).toBe(200);
  });

  it("are of other code's making", async () => {
    expect((await post("/mcp", "message")).text).toBe("raw message");
    expect((await post("/mcp?odd=1", "message")).body).toMatchObject({
      jsonrpc: "2.0",
      error: { data: { code: "ErrorBadRequest" } },
    });
  });
});

describe("a path", () => {
  it("with a fixed name wins over one with a parameter, and may have an older prefix", async () => {
    expect((await send("GET", "/path/fixed")).body).toEqual({ fixed: true });
    expect((await send("GET", "/old/fixed")).body).toEqual({ fixed: true });
    expect((await send("POST", "/old/fixed")).headers.get("Allow")).toBe("GET, HEAD");
    expect((await send("POST", "/path/posted")).body).toEqual({ posted: true });
    expect((await send("GET", "/path/posted")).headers.get("Allow")).toBe("POST");
    expect((await send("PUT", "/mcp")).body).toMatchObject({ jsonrpc: "2.0", error: { code: 405 } });
  });

  it("is counted by the operation's name", () => {
    const { routes } = services.metrics.snapshot(0);
    expect(Object.keys(routes)).toEqual(expect.arrayContaining(["fixed", "inBody", "methodNotAllowed"]));
    expect(Object.keys(routes).filter((name) => name.includes("/"))).toEqual([]);
  });
});
