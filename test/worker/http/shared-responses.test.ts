import { beforeAll, describe, expect, it } from "vitest";
import { isKept, isolate, pass, path, seed, tenant } from "../support/kept-answers.ts";
import { type Answer, capabilities, configs, type Registry, token, tools } from "../support/registry.ts";

beforeAll(seed);

const read = "registry:read";
const publish = "registry:publish";

/** Every kind of caller; `anonymous` sends no token. */
const callers: Record<string, string | undefined> = {
  member: await token({ sub: "a", tenants: [tenant], scope: read }),
  manager: await token({ sub: "b", tenants: [tenant, "elsewhere"], scope: `${read} ${publish}` }),
  outsider: await token({ sub: "c", tenants: ["elsewhere"], scope: `${read} ${publish}` }),
  "narrower scope": await token({ sub: "d", tenants: [tenant], scope: publish }),
  admin: await token({ sub: "e", tenants: [], admin: true }),
  anonymous: undefined,
  expired: await token({ sub: "a", tenants: [tenant] }, Date.now() - 86_400_000),
};

type Ask = (registry: Registry, bearer: string | undefined) => Promise<Answer>;

const get =
  (url: string, headers: Record<string, string> = {}, method = "GET"): Ask =>
  (registry, bearer) =>
    registry.send(method, url, { headers, ...(bearer === undefined ? {} : { token: bearer }) });

function message(method: string, uri?: string): Ask {
  const version = "2026-07-28";
  const meta = { "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {} };
  const params = { ...(uri === undefined ? {} : { uri }), _meta: meta };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": String(body.length),
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": version,
    "Mcp-Method": method,
    ...(uri === undefined ? {} : { "Mcp-Name": uri }),
  };
  return (registry, bearer) =>
    registry.send("POST", "/mcp", { body, headers, ...(bearer === undefined ? {} : { token: bearer }) });
}

const closed = capabilities(tenant, "closed");

/** Every route whose responses are cached, and requests that go past the cache. */
const questions: Record<string, Ask> = {
  "public server": get(path),
  "private server": get(closed),
  "view of a public server": get(`${path}/tools`),
  "view of a private server": get(`${closed}/tools`),
  catalogue: get("/api/catalog?limit=5"),
  "catalogue of a tenant": get(`/api/catalog?tenant=${tenant}`),
  "MCP server/discover": message("server/discover"),
  "MCP tools/list": message("tools/list"),
  "MCP resource of a public server": message("resources/read", `capabilities://${tenant}/open/tools`),
  "MCP resource of a private server": message("resources/read", `capabilities://${tenant}/closed/tools`),
  HEAD: get(closed, {}, "HEAD"),
  "no-cache": get(closed, { "Cache-Control": "no-cache" }),
  "minimum generation": get(closed, { "Rollcall-Min-Generation": "1" }),
  conditional: get(closed, { "If-None-Match": "*" }),
};

/** Everything that must not depend on the layer that answered. */
function essence({ status, headers, text }: Answer) {
  const layer = ["x-request-id", "server-timing", "rollcall-source", "content-length"];
  return { status, text, headers: Object.fromEntries([...headers].filter(([name]) => !layer.includes(name))) };
}

/** Asks until a response was cached, or for as long as one could be. */
async function fill(ask: () => Promise<Answer>): Promise<void> {
  for (let asked = 0; asked < 4; asked += 1) if (isKept(await ask())) return;
}

describe("a response that callers share", () => {
  it.each(Object.entries(questions))("is the response without a cache, whoever asked first: %s", async (_, ask) => {
    for (const [reader, bearer] of Object.entries(callers)) {
      const uncached = essence(await ask(isolate(), bearer));
      for (const [filler, other] of Object.entries(callers)) {
        const registry = isolate();
        await fill(() => ask(registry, other));
        for (const answer of [await ask(registry, bearer), await ask(registry, bearer)]) {
          expect({ filler, reader, ...essence(answer) }).toEqual({ filler, reader, ...uncached });
        }
      }
    }
  });

  it.each([
    ["public server", "member", ["member", "manager", "admin"]],
    ["public server", "outsider", ["outsider"]],
    ["private server", "admin", ["member", "manager", "admin"]],
    ["catalogue", "anonymous", ["anonymous"]],
    ["catalogue", "member", ["member"]],
    ["MCP tools/list", "anonymous", ["member", "manager", "outsider", "admin", "anonymous"]],
    ["MCP resource of a public server", "outsider", ["outsider", "anonymous"]],
    ["MCP resource of a private server", "manager", ["member", "manager", "admin"]],
  ] as const)("%s, asked by %s, is sent to %j", async (question, filler, expected) => {
    const ask = questions[question];
    const shared: string[] = [];
    for (const [reader, bearer] of Object.entries(callers)) {
      const registry = isolate();
      // The reader's token is known from another request.
      await registry.send("GET", "/api/mcp/configs", bearer === undefined ? {} : { token: bearer });
      await fill(() => ask?.(registry, callers[filler]) as Promise<Answer>);
      const answer = await ask?.(registry, bearer);
      if (answer !== undefined && isKept(answer)) shared.push(reader);
    }
    expect(shared).toEqual(expected);
  });

  it("is not sent to a caller whose token was not verified in this isolate", async () => {
    const registry = isolate();
    await fill(() => get(path)(registry, callers["outsider"]));
    const stranger = await token({ sub: "new", tenants: ["third"] });
    expect(isKept(await get(path)(registry, stranger))).toBe(false);
    expect(isKept(await get(path)(registry, stranger))).toBe(true);
  });

  it("is stored under one spelling of its URL, so that nobody can fill the cache with copies", async () => {
    const registry = isolate();
    await fill(() => get(path)(registry, callers["outsider"]));
    const { entries } = registry.services.memory.usage()["responses"] ?? {};
    for (const other of [`${path}?`, `${path}?&`, path.replace(/open$/, "%6fpen"), path.replace(/open$/, "o%70en")]) {
      for (let asked = 0; asked < 2; asked += 1) {
        const answer = await get(other)(registry, callers["outsider"]);
        expect([answer.status, isKept(answer)]).toEqual([200, false]);
      }
    }
    expect(registry.services.memory.usage()["responses"]).toMatchObject({ entries });
  });

  it("counts against the limit of the caller, not of whoever asked first", async () => {
    const registry = isolate({ READ_LIMIT: "1/5" });
    const ask = get(path);
    for (let asked = 0; asked < 5; asked += 1) expect((await ask(registry, callers["member"])).status).toBe(200);
    expect((await ask(registry, callers["member"])).status).toBe(429);
    for (let asked = 0; asked < 5; asked += 1) expect((await ask(registry, callers["manager"])).status).toBe(200);
    expect((await ask(registry, callers["manager"])).status).toBe(429);
  });

  it("is sent again after its head was confirmed unchanged, without being made again", async () => {
    const registry = isolate();
    const ask = () => get(path)(registry, callers["member"]);
    await fill(ask);
    pass(2_500);
    const refreshed = await ask();
    expect([isKept(refreshed), refreshed.headers.get("Rollcall-Source")]).toEqual([false, "edge"]);
    const again = await ask();
    expect([isKept(again), again.text]).toEqual([true, refreshed.text]);
  });

  it("is not sent after another isolate changed or hid the server, once the head is read again", async () => {
    const [here, elsewhere] = [isolate(), isolate()];
    const ask = () => get(path)(here, callers["outsider"]);
    await fill(ask);
    const bearer = { token: callers["manager"] ?? "" };
    await elsewhere.send("PUT", path, { ...bearer, body: tools("first", "second") });
    const fresh = await get(path, { "Cache-Control": "no-cache" })(here, callers["outsider"]);
    expect(fresh.body.data.tools).toHaveLength(2);
    expect((await ask()).text).toBe(fresh.text);
    await elsewhere.send("PUT", configs, { ...bearer, body: { tenant, name: "open", visibility: "tenant" } });
    await get(path, { "Cache-Control": "no-cache" })(here, callers["manager"]);
    expect((await ask()).status).toBe(403);
    await elsewhere.send("PUT", configs, { ...bearer, body: { tenant, name: "open", visibility: "public" } });
  });
});
