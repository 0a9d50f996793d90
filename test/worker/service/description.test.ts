import { beforeAll, describe, expect, it } from "vitest";
import { openApiDocument } from "../../../src/openapi.ts";
import { published } from "../../../src/service/published-schemas.ts";
import { capabilities, configs, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();

interface Described {
  security?: unknown[];
  parameters?: { name: string; in: string }[];
  requestBody?: { description?: string; content: Record<string, { schema: { $ref: string } }> };
  responses: Record<string, unknown>;
}
interface Document {
  openapi: string;
  paths: Record<string, Record<string, Described>>;
}

const document = openApiDocument("https://registry.test") as unknown as Document;
const methods = ["get", "post", "put", "patch", "delete"];

interface Operation {
  label: string;
  method: string;
  /** With its placeholders filled in. */
  path: string;
  described: Described;
}

/** Something that is there for each placeholder, so that an answer is about the route and not about the example. */
const examples: Record<string, string> = {
  tenant: "told",
  name: "s",
  view: "tools",
  variant: "stats",
  type: "plain",
  format: "mcp",
  capabilityId: "mcp.s.told_t",
  file: "tool.schema.json",
  digest: `sha256-${"0".repeat(64)}`,
  serverName: "told%2Fs",
  version: "latest",
};
const filled = (path: string) =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => examples[name] ?? `no-example-for-${name}`);

const operations: Operation[] = Object.entries(document.paths).flatMap(([path, item]) =>
  methods
    .filter((method) => item[method] !== undefined)
    .map((method) => ({
      label: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path: filled(path),
      described: item[method] as Described,
    })),
);
const queryOf = ({ parameters = [] }: Described) =>
  parameters.filter((parameter) => parameter.in === "query").map(({ name }) => name);
const isOpen = ({ described: { security = [] } }: Operation) =>
  security.length === 0 || security.some((way) => !("bearer" in (way as object)));
const rows = (chosen: Operation[]) => chosen.map((operation) => [operation.label, operation] as const);

function references(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" && typeof inner === "string" ? [inner] : references(inner),
  );
}

let member: string;
beforeAll(async () => {
  member = await token({ tenants: ["told"] });
  const advertise = { advertiseResources: true };
  await registry.send("POST", configs, {
    token: member,
    body: { tenant: "told", name: "s", visibility: "public", advertise },
  });
  await registry.send("PUT", "/api/index/told/advertise", { token: member, body: advertise });
  await registry.send("PUT", capabilities("told", "s"), { token: member, body: tools("told_t") });
});

describe("/openapi.json", () => {
  it("is the one that the code makes", async () => {
    const { status, body, headers } = await registry.send("GET", "/openapi.json");
    expect(status).toBe(200);
    expect(body).toEqual(JSON.parse(JSON.stringify(document)));
    expect(body.openapi).toMatch(/^3\.1\./);
    expect(headers.get("Cache-Control")).toBe("public, max-age=3600");
  });

  it("refers to nothing that is not in it", () => {
    const found = references(document);
    expect(found.length).toBeGreaterThan(0);
    for (const reference of found) {
      const target = reference
        .split("/")
        .slice(1)
        .reduce<unknown>((value, name) => (value as Record<string, unknown>)?.[name], document);
      expect([reference, typeof target]).toEqual([reference, "object"]);
    }
  });

  it("names every placeholder of a path", () => {
    for (const { label, described } of operations) {
      const placeholders = Array.from(label.matchAll(/\{(\w+)\}/g), (match) => match[1]);
      const named = (described.parameters ?? []).filter((parameter) => parameter.in === "path");
      expect([label, named.map(({ name }) => name)]).toEqual([label, placeholders]);
    }
  });

  it.each(rows(operations.filter(isOpen)))("is right that %s needs no token", async (_, { method, path }) => {
    const { status, body } = await registry.send(method, path === "/api/search" ? `${path}?task=anything` : path);
    // Below /mcp/ it may be a session, an argument or a body that is missing, but never a token.
    if (path.startsWith("/mcp/")) expect(body.code).not.toBe("ErrorUnauthorized");
    // The official registry's API has failures of its own form, and a POST needs a body.
    else if (method === "POST" && path.startsWith("/v0")) expect(body.code).toBe("ErrorInvalidBody");
    // A message must say what it is.
    else if (path === "/mcp") expect(body.error.data.code).toBe("ErrorUnsupportedMediaType");
    // A hook is proven by a signature.
    else if (path.startsWith("/hooks/")) expect(body.error.code).toBe("ErrorWebhookUnverified");
    // What is asked in a body is missing here, which is another matter than a token.
    else if (method === "POST") expect(body.error.code).toBe("ErrorInvalidBody");
    else expect(status).toBe(200);
  });

  it.each(rows(operations.filter((operation) => !isOpen(operation))))(
    "is right that %s needs one",
    async (_, { method, path, described }) => {
      const body = method === "GET" || method === "DELETE" ? {} : { body: { tenant: "told", name: "s" } };
      const asked = queryOf(described);
      const query = ["tenant", "name"].every((name) => asked.includes(name)) ? "?tenant=told&name=s" : "";
      expect((await registry.send(method, path + query, body)).status).toBe(401);
      expect(Object.keys(described.responses)).toEqual(expect.arrayContaining(["401", "403", "429"]));
    },
  );

  // Metrics, acknowledging flags and rebuilding the directory are for admins; the official registry's API ignores parameters that it does not know.
  const isStrict = ({ path }: { path: string }) =>
    !["/api/metrics", "/api/directory/rebuild"].includes(path) &&
    !path.startsWith("/api/flags/") &&
    !path.startsWith("/v0");
  it.each(rows(operations.filter((operation) => !isOpen(operation) && isStrict(operation))))(
    "lists the parameters that %s takes",
    async (_, { method, path, described }) => {
      const body = method === "GET" || method === "DELETE" ? {} : { body: { tenant: "told", name: "s" } };
      // Whose tenant it is comes before what else is in the query.
      const whose = queryOf(described).includes("tenant") ? "tenant=told&" : "";
      const refusal = async (name: string) => {
        const query = name === "tenant" ? "tenant=" : `${whose}${name}=`;
        const answer = await registry.send(method, `${path}?${query}`, { token: member, ...body });
        const message = answer.body?.detail ?? answer.body?.error?.message ?? "";
        return [answer.status, message.startsWith("Unknown query parameter")];
      };
      for (const name of queryOf(described)) expect([name, (await refusal(name))[1]]).toEqual([name, false]);
      expect(await refusal("not-described")).toEqual([400, true]);
    },
  );

  it("takes both formats wherever it takes a body of its own making", () => {
    // What a hook receives is signed as it is, and MCP messages are JSON.
    const bodies = operations.filter(
      ({ path, described }) =>
        references(described.requestBody).length > 0 && !path.startsWith("/hooks/") && path !== "/mcp",
    );
    expect(bodies.map(({ label }) => label)).toEqual(
      expect.arrayContaining(["POST /api/mcp/configs", "PUT /api/mcp/capabilities/{tenant}/{name}"]),
    );
    for (const { described } of bodies) {
      const { description = "", content } = described.requestBody ?? { content: {} };
      const yaml = description.includes("YAML") || "application/yaml" in content;
      expect([Object.keys(content)[0], yaml]).toEqual(["application/json", true]);
    }
  });
});

describe("/schemas/", () => {
  const files = Object.keys(published).map((name) => `${name}.schema.json`);

  it("lists the schemas", async () => {
    const { status, body } = await registry.send("GET", "/schemas/");
    expect([status, body.data.items]).toEqual([200, files.map((file) => `/schemas/${file}`)]);
  });

  it.each(files)("serves %s, whole", async (file) => {
    const { status, body, headers } = await registry.send("GET", `/schemas/${file}`);
    expect(status).toBe(200);
    expect(headers.get("Content-Type")).toBe("application/schema+json; charset=utf-8");
    expect(headers.get("Cache-Control")).toBe("public, max-age=3600");
    expect(body).toMatchObject({ $schema: "https://json-schema.org/draft/2020-12/schema", $id: file, type: "object" });
    for (const reference of references(body)) {
      expect([reference, reference.startsWith("#") || files.includes(reference.split("#")[0] ?? "")]).toEqual([
        reference,
        true,
      ]);
    }
  });

  it.each([
    "nothing.schema.json",
    "all.json",
    "tool",
    "tool.schema.json.bak",
    "..%2fopenapi.json",
    "__proto__",
    "constructor",
  ])("has no %s", async (file) => {
    const { status, body } = await registry.send("GET", `/schemas/${file}`);
    expect([status, body.error.code]).toEqual([404, "ErrorNotFound"]);
  });
});

describe("HEAD", () => {
  // HEAD of a stream would open one that nobody reads.
  it.each(rows(operations.filter(({ method, path }) => method === "GET" && !path.endsWith("/stream"))))(
    "answers as %s, without the body",
    async (_, { path }) => {
      const who = { token: await token({ tenants: ["told"], admin: true }) };
      const [get, head] = [await registry.send("GET", path, who), await registry.send("HEAD", path, who)];
      expect([head.status, head.text]).toEqual([get.status, ""]);
      for (const name of ["Content-Type", "ETag", "Cache-Control", "Rollcall-Generation"]) {
        expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
      }
    },
  );
});

describe("/", () => {
  it("and /healthz say what this is, and link to what is there", async () => {
    const health = await registry.send("GET", "/healthz");
    expect(health.body).toEqual({
      success: true,
      data: {
        status: "ok",
        name: "rollcall",
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        // What this isolate has of the directory: the catalogue's tests look closer.
        directory: expect.any(Object),
      },
    });
    const { body } = await registry.send("GET", "/");
    expect(body.data).toMatchObject({ name: "rollcall", version: health.body.data.version });
    const links = Object.values(body.data as Record<string, string>).filter((value) => value.startsWith("/"));
    expect(links.length).toBeGreaterThan(2);
    for (const link of links)
      expect([link, (await registry.send("GET", link, { token: member })).status]).toEqual([link, 200]);
  });

  it.each(["/nothing", "/api", "/api/nothing", "/api/mcp", "/healthz/", "/Healthz", "/openapi.yml"])(
    "%s is 404",
    async (path) => {
      const { status, body, headers } = await registry.send("GET", path, { token: member });
      expect([status, body]).toEqual([
        404,
        {
          success: false,
          error: {
            code: "ErrorNotFound",
            message: `No route matches GET ${path}; see /openapi.json`,
            details: { hint: expect.stringContaining("/openapi.json") },
          },
        },
      ]);
      expect(headers.get("Cache-Control")).toBe("no-store");
    },
  );
});

describe("/.well-known/oauth-protected-resource", () => {
  const path = "/.well-known/oauth-protected-resource";

  it("says which resource this is and what scopes it knows", async () => {
    const { status, body } = await registry.send("GET", path);
    expect([status, body]).toEqual([
      200,
      {
        resource: "https://registry.test",
        resource_name: "rollcall",
        scopes_supported: ["registry:read", "registry:publish"],
        bearer_methods_supported: ["header"],
      },
    ]);
  });

  it("is where a refusal points", async () => {
    const { headers } = await registry.send("GET", configs);
    const url = /resource_metadata="([^"]+)"/.exec(headers.get("WWW-Authenticate") ?? "")?.[1] ?? "";
    expect((await registry.send("GET", new URL(url).pathname)).status).toBe(200);
    expect(new URL(url).origin).toBe("https://registry.test");
  });

  it("takes the public address, and names the issuer behind the keys", async () => {
    const vars = {
      PUBLIC_URL: "https://public.test/",
      JWKS_URL: "https://issuer.test/jwks",
      JWT_ISSUER: "https://issuer.test",
    };
    const elsewhere = new Registry({ vars });
    const { body } = await elsewhere.send("GET", path);
    expect(body).toMatchObject({ resource: "https://public.test", authorization_servers: ["https://issuer.test"] });
    const { headers } = await elsewhere.send("GET", configs);
    expect(headers.get("WWW-Authenticate")).toContain(`resource_metadata="https://public.test${path}"`);
  });
});

describe("/api/metrics", () => {
  const view = "getCapabilities";
  let clock: number;
  let counted: Registry;
  let admin: string;
  beforeAll(async () => {
    clock = Date.now();
    counted = new Registry({ now: () => clock });
    admin = await token({ admin: true });
  });
  const metrics = async () => (await counted.send("GET", "/api/metrics", { token: admin })).body.data;

  it("is for admins alone", async () => {
    expect((await counted.send("GET", "/api/metrics")).status).toBe(401);
    const { status, body } = await counted.send("GET", "/api/metrics", { token: member });
    expect([status, body.error.code]).toEqual([403, "ErrorTenantPermissionError"]);
    const unread = await token({ admin: true, scope: "registry:publish" });
    expect((await counted.send("GET", "/api/metrics", { token: unread })).body.error.code).toBe(
      "ErrorInsufficientScope",
    );
    expect((await counted.send("GET", "/api/metrics", { token: admin })).status).toBe(200);
  });

  it("counts requests by route, status, source and time taken", async () => {
    const before = (await metrics()).routes[view] ?? { requests: 0, statuses: {}, sources: {}, latency: [] };
    await counted.send("GET", capabilities("told", "s"), { token: member });
    await counted.send("GET", capabilities("told", "s"), { token: member });
    await counted.send("GET", capabilities("told", "none"), { token: member });
    const after = (await metrics()).routes[view];
    const sum = (counts: Record<string, number>) => Object.values(counts).reduce((total, count) => total + count, 0);
    expect(after.requests - before.requests).toBe(3);
    expect(after.statuses["200"] - (before.statuses["200"] ?? 0)).toBe(2);
    expect(after.statuses["404"] - (before.statuses["404"] ?? 0)).toBe(1);
    expect(after.sources.memory).toBeGreaterThan(0);
    expect(sum(after.latency)).toBe(after.requests);
  });

  it("counts what was touched", async () => {
    const before = (await metrics()).operations;
    await counted.send("GET", capabilities("told", "s"), { token: member, headers: { "Cache-Control": "no-cache" } });
    const after = (await metrics()).operations;
    expect(after.objectCalls - before.objectCalls).toBe(1);
    for (let asked = 0; asked < 3; asked += 1) await counted.send("GET", capabilities("told", "s"), { token: member });
    const { memory, responseCache } = await metrics();
    expect(memory.capacity).toBe(24 * 1024 * 1024);
    const sizes = Object.values<{ bytes: number }>(memory.caches).map(({ bytes }) => bytes);
    expect(sizes.reduce((sum, bytes) => sum + bytes, 0)).toBe(memory.bytes);
    expect(Object.keys(memory.caches)).toEqual(expect.arrayContaining(["heads", "views", "responses", "tokens"]));
    expect(responseCache.hits).toBeGreaterThan(0);
    expect(responseCache.misses).toBeGreaterThan(0);
  });

  it("does not grow with the paths that people try, nor name them", async () => {
    for (const path of ["/nothing", "/api/nothing"]) await counted.send("GET", path);
    const before = Object.keys((await metrics()).routes);
    for (let turn = 0; turn < 20; turn += 1) {
      await counted.send("GET", `/probe-${turn}`);
      await counted.send("GET", capabilities(`probe-${turn}`, "s"), { token: member });
    }
    const after = Object.keys((await metrics()).routes);
    expect(after).toEqual(before);
    expect(JSON.stringify(await metrics())).not.toContain("probe");
  });

  it("says since when", async () => {
    const before = await metrics();
    clock += 90_000;
    const after = await metrics();
    expect(after.uptimeSeconds - before.uptimeSeconds).toBe(90);
    expect(after.since).toBe(before.since);
  });
});

describe("/llms.txt", () => {
  it("names every operation, and the origin that was asked", async () => {
    const { headers, text } = await registry.send("GET", "/llms.txt");
    expect(headers.get("Content-Type")).toBe("text/markdown; charset=utf-8");
    expect(text).not.toContain("origin.invalid");
    const missing = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.keys(item)
        .map((method) => `- ${method.toUpperCase()} ${path}: `)
        .filter((line) => !text.includes(line)),
    );
    expect(missing).toEqual([]);
  });
});
