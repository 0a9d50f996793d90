import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "../../../src/auth/principal.ts";
import { tenantKey } from "../../../src/kernel/names.ts";
import { ownResources, ownResourceTemplates, readResource } from "../../../src/mcp/resources/resources.ts";
import {
  GeneratorsView,
  OperationsView,
  ResourcesView,
  ServerView,
  ToolsView,
} from "../../../src/registry/views/schema.ts";
import { capabilities, configs, drained, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();

function principal(claims: Partial<Principal>): Principal {
  return { subject: "r", tenants: [], scopes: ["registry:read"], admin: false, expiresAt: 9e15, ...claims };
}
const member = principal({ tenants: [tenantKey("shelf")] });
const outsider = principal({ tenants: [tenantKey("elsewhere")] });
const anonymous = principal({ anonymous: true });
const admin = principal({ admin: true });

const views = { server: ServerView, tools: ToolsView, resources: ResourcesView, generators: GeneratorsView };
let mine: string;

beforeAll(async () => {
  mine = await token({ tenants: [tenantKey("shelf")] });
  const send = (method: string, path: string, body: unknown) => registry.send(method, path, { token: mine, body });
  const manifest = { ...tools("shelf_a"), generators: [{ type: "jinja2" }], validators: [{ name: "links" }] };
  await send("PUT", capabilities("shelf", "private"), manifest);
  await send("POST", configs, { tenant: "shelf", name: "Open.1", visibility: "public" });
  await send("PUT", capabilities("shelf", "Open.1"), { ...manifest, ...tools("shelf_b") });
  await send("POST", configs, { tenant: "shelf", name: "empty", visibility: "public" });
  await drained("shelf");
});

const read = async (uri: string, who: Principal = anonymous) => {
  const result = await readResource(registry.services, who, uri);
  return result.ok ? { contents: result.value } : { error: result.error, code: result.error.code };
};

describe("resources of the registry itself", () => {
  it("are listed in stable order, and every one of them can be read by anyone", async () => {
    expect(ownResources.map(({ uri }) => uri).slice(0, 6)).toEqual([
      "capabilities://server",
      "capabilities://tools",
      "capabilities://resources",
      "capabilities://generators",
      "generator://decision_tree",
      "capabilities://operations",
    ]);
    for (const { uri, mimeType, description, title } of ownResources) {
      const { contents } = await read(uri);
      expect(contents).toMatchObject({ uri, mimeType });
      expect(typeof JSON.parse(contents?.text ?? "")).toBe("object");
      expect([title, description].every((text) => text.length > 0)).toBe(true);
    }
    expect(ownResourceTemplates.map(({ uriTemplate }) => uriTemplate)[0]).toBe("capabilities://{tenant}/{name}/{view}");
  });

  it.each(Object.entries({ ...views, operations: OperationsView }))(
    "%s is what the route shows",
    async (name, schema) => {
      const { contents } = await read(`capabilities://${name}`);
      expect(contents?.text).toBe((await registry.send("GET", `/api/mcp/capabilities/${name}`)).text);
      expect(schema.safeParse(JSON.parse(contents?.text ?? "")).error).toBeUndefined();
      expect(Object.keys(contents ?? {})).toEqual(["uri", "mimeType", "text"]);
    },
  );

  it("need no scope", async () => {
    expect((await read("capabilities://server", principal({ scopes: [] }))).code).toBeUndefined();
  });

  it("still answer under the old name of the generators, which points to the new one", async () => {
    const { contents } = await read("generator://decision_tree");
    expect(JSON.parse(contents?.text ?? "")).toMatchObject({
      deprecated: true,
      replaced_by: "capabilities://generators",
      selection_strategy: { fallback: null },
    });
    const listed = ownResources.find(({ uri }) => uri === "generator://decision_tree");
    expect(listed?.description).toContain("capabilities://generators");
  });
});

describe("views of a server", () => {
  it.each([...Object.keys(views), "validators", "decision_tree"])("%s is what the route shows", async (name) => {
    const http = await registry.send("GET", `${capabilities("shelf", "Open.1")}/${name}`, { token: mine });
    for (const who of [anonymous, outsider, member, admin]) {
      expect((await read(`capabilities://shelf/Open.1/${name}`, who)).contents).toEqual({
        uri: `capabilities://shelf/Open.1/${name}`,
        mimeType: "application/json",
        text: http.text,
        etag: http.headers.get("ETag"),
        generation: Number(http.headers.get("Rollcall-Generation")),
      });
    }
  });

  it("are there before anything is published", async () => {
    const { contents } = await read("capabilities://shelf/empty/server");
    expect(JSON.parse(contents?.text ?? "")).toMatchObject({ name: "empty", tool_count: 0 });
  });

  it("show what is there now, under a new tag", async () => {
    const uri = "capabilities://shelf/private/tools";
    const before = (await read(uri, member)).contents;
    await registry.send("PUT", capabilities("shelf", "private"), { token: mine, body: tools("shelf_new") });
    const after = (await read(uri, member)).contents;
    expect(after?.text).toContain("shelf_new");
    expect(after?.etag).not.toBe(before?.etag);
    expect(after?.generation).toBeGreaterThan(before?.generation ?? 0);
  });

  it("of a private one are its tenant's and an admin's", async () => {
    for (const who of [member, admin]) {
      expect((await read("capabilities://shelf/private/server", who)).contents?.text).toContain('"private"');
    }
  });

  it("of a private one look to others as if it were not there", async () => {
    for (const [who, code] of [
      [anonymous, "ErrorUnauthorized"],
      [outsider, "ErrorTenantPermissionError"],
    ] as const) {
      for (const view of ["server", "validators", "nonexistent"]) {
        const there = await read(`capabilities://shelf/private/${view}`, who);
        expect([view, there.code]).toEqual([view, code]);
        expect(await read(`capabilities://shelf/none/${view}`, who)).toEqual(there);
        expect(await read(`capabilities://nobody/private/${view}`, who)).toEqual(there);
      }
    }
  });

  it("need the scope to read", async () => {
    for (const claims of [{ tenants: [tenantKey("shelf")] }, { admin: true }, {}]) {
      const { code } = await read("capabilities://shelf/Open.1/tools", principal({ ...claims, scopes: [] }));
      expect(code).toBe("ErrorInsufficientScope");
    }
  });

  it("of a server that is not there are not found by its tenant", async () => {
    expect((await read("capabilities://shelf/none/tools", member)).code).toBe("ErrorMCPServerNotFound");
  });
});

describe("a generator of a server", () => {
  it("is what the view of all shows of it", async () => {
    const all = JSON.parse((await read("capabilities://shelf/Open.1/generators")).contents?.text ?? "");
    const { contents } = await read("generator://shelf/Open.1/jinja2");
    expect(JSON.parse(contents?.text ?? "")).toEqual(all.generators.jinja2);
    expect(contents).toMatchObject({ mimeType: "application/json", etag: expect.stringContaining("g2.jinja2") });
  });

  it.each(["magic", "Jinja2", "__proto__"])("that is not there is answered with those there are: %s", async (type) => {
    const { error } = await read(`generator://shelf/Open.1/${type}`);
    expect(error?.code).toBe("resource_not_found");
    expect(error?.message).toContain(`The server has no generator "${type}": it has jinja2`);
  });

  it("of a private server looks to others as if it were not there", async () => {
    expect((await read("generator://shelf/private/jinja2", outsider)).code).toBe("ErrorTenantPermissionError");
    expect((await read("generator://shelf/none/jinja2", outsider)).code).toBe("ErrorTenantPermissionError");
  });

  it("is asked of a server: the registry has none of its own", async () => {
    const { error } = await read("generator://jinja2");
    expect(error?.code).toBe("resource_not_found");
    expect(error?.message).toContain(
      'Unknown resource "generator://jinja2". The registry has no generators of its own',
    );
    expect(error?.message).toContain("generator://{tenant}/{name}/{type}");
  });
});

describe("an unknown view", () => {
  const server = "server, tools, resources, generators, validators";
  const own = "server, tools, resources, generators, operations";

  it.each([
    ["capabilities://nothing", own],
    ["capabilities://Tools", `${own}; was tools meant?`],
    ["capabilities://__proto__", own],
    ["capabilities://features", own],
    ["capabilities://shelf/Open.1/nothing", server],
    ["capabilities://shelf/Open.1/Tools", `${server}; was tools meant?`],
    ["capabilities://shelf/Open.1/__proto__", server],
    ["capabilities://shelf/Open.1/constructor", server],
    ["capabilities://shelf/Open.1/validator", `${server}; was validators meant?`],
    ["capabilities://shelf/Open.1/operations", server],
  ])("%s is answered with those there are", async (uri, views) => {
    const { error } = await read(uri, anonymous);
    expect(error?.code).toBe("resource_not_found");
    const name = uri.split("/").at(-1);
    expect(error?.message).toBe(`Unknown resource "${uri}". There is no view "${name}"; there are ${views}`);
  });
});

describe("an unknown resource", () => {
  it.each([
    "CAPABILITIES://TOOLS",
    "capabilities:server",
    "file:///etc/passwd",
    "https://example.com/",
    "data:text/plain,x",
  ])("%s is answered with those there are", async (uri) => {
    const { error } = await read(uri, member);
    expect(error?.code).toBe("resource_not_found");
    expect(error?.message).toContain(JSON.stringify(uri));
    expect(error?.message).toContain("Available: capabilities://server, capabilities://tools");
    expect(error?.message).toContain("capabilities://{tenant}/{name}/{view}");
  });
});

describe("a malformed URI", () => {
  it.each([
    ["", "required"],
    ["server", "scheme"],
    ["://server", "scheme"],
    ["capabilities:// server", "spaces"],
    ["capabilities://sérver", "characters"],
    ["capabilities://server\n", "characters"],
    ["capabilities://server\u0000", "characters"],
    ["capabilities://", "view is missing"],
    ["generator://", "type is missing"],
    ["generator://decision_tree/x", "{type}"],
    ["generator://shelf/Open.1/", "{type}"],
    ["generator://she_lf/Open.1/x", "tenant must be"],
    ["capabilities:///", "{view}"],
    ["capabilities://server/", "{view}"],
    ["capabilities://shelf/Open.1", "{view}"],
    ["capabilities://shelf/Open.1/", "{view}"],
    ["capabilities://shelf/Open.1/tools/", "{view}"],
    ["capabilities://shelf/Open.1/tools/x", "{view}"],
    ["capabilities:///Open.1/tools", "tenant must be"],
    ["capabilities://she_lf/Open.1/tools", "tenant must be"],
    ["capabilities://user@shelf/Open.1/tools", "tenant must be"],
    ["capabilities://%73helf/Open.1/tools", "tenant must be"],
    ["capabilities://shelf//tools", "name of the server must be"],
    ["capabilities://shelf/../tools", "name of the server must be"],
    ["capabilities://shelf/Open%2E1/tools", "name of the server must be"],
    ["capabilities://tools?limit=1", "query"],
    ["capabilities://shelf/Open.1/tools#x", "fragment"],
  ])("%j is refused with the reason", async (uri, reason) => {
    const { error } = await read(uri, member);
    expect(error?.code).toBe("ErrorBadRequest");
    expect(error?.message).toMatch(/^Malformed resource URI: /);
    expect(error?.message).toContain(reason);
    expect(error?.message.length).toBeLessThan(300);
  });

  it("is refused for its length before anything else, and not repeated", async () => {
    const { error } = await read(`capabilities://${"x".repeat(3_000)}`);
    expect(error).toMatchObject({
      code: "ErrorBadRequest",
      message: "Malformed resource URI: it is longer than 2048 characters",
    });
  });

  it("never throws, whatever it is", async () => {
    const part = fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: "binary", maxLength: 20 }));
    const uris = fc.oneof(
      part,
      part.map((text) => `capabilities://${text}`),
      fc.array(part, { maxLength: 5 }).map((parts) => `capabilities://${parts.join("/")}`),
    );
    await fc.assert(
      fc.asyncProperty(uris, async (uri) => {
        const { code } = await read(uri);
        expect(["ErrorBadRequest", "resource_not_found", "ErrorUnauthorized"]).toContain(code);
      }),
      { numRuns: 300 },
    );
  });
});
