import { beforeAll, describe, expect, it } from "vitest";
import { capabilities, configs, Registry, token, tools } from "../support/registry.ts";

const registry = new Registry();
let member: string;

beforeAll(async () => {
  member = await token({ tenants: ["hinted"] });
  await registry.send("PUT", capabilities("hinted", "s"), { token: member, body: tools("t") });
});

describe("a refused request is told the next step", () => {
  it.each<[string, Record<string, string>, string | undefined, string]>([
    ["no token", {}, undefined, "Send `Authorization: Bearer …`; make a token with `npm run token -- --tenant demo`"],
    ["a token without its scheme", { Authorization: "eyJ.eyJ.x" }, "scheme", "Write `Bearer ` before the token"],
    ["another scheme", { Authorization: "Basic YTpi" }, "scheme", "Write `Bearer ` before the token"],
    ["an empty token", { Authorization: "Bearer " }, "missing", "The token is empty: is $ROLLCALL_TOKEN set?"],
  ])("with %s", async (_, headers, reason, hint) => {
    const { status, body, headers: answered } = await registry.send("GET", configs, { headers });
    expect([status, body.error.message]).toEqual([401, "Unauthorized access"]);
    expect(body.error.details).toEqual({ ...(reason === undefined ? {} : { reason }), hint });
    // RFC 6750: without a token there is none that is invalid.
    expect(answered.get("WWW-Authenticate")).not.toContain("invalid_token");
  });

  it("with a signature whose last letter was changed, or of another secret", async () => {
    const [head = "", payload = "", signature = ""] = member.split(".");
    const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const changed = letters[letters.indexOf(signature.at(-1) ?? "") ^ 1];
    for (const other of [`${signature.slice(0, -1)}${changed}`, signature.split("").reverse().join("")]) {
      const { body } = await registry.send("GET", configs, { token: `${head}.${payload}.${other}` });
      expect(body.error.details.reason).toMatch(/signature/);
      expect(body.error.details.hint).toContain("pass the server's `--data` to npm run token");
    }
  });

  it("with a server that is not there, by name", async () => {
    const { status, body } = await registry.send("GET", capabilities("hinted", "none"), { token: member });
    expect([status, body.error.message]).toEqual([404, "MCP server not found"]);
    expect(body.error.details).toEqual({
      tenant: "hinted",
      name: "none",
      hint: "GET /api/mcp/configs?tenant=hinted lists the servers of a tenant",
    });
  });

  it("with a scope that is missing", async () => {
    const reader = await token({ tenants: ["hinted"], scope: "registry:read" });
    const { status, body } = await registry.send("PUT", capabilities("hinted", "s"), { token: reader, body: {} });
    expect([status, body.error.code]).toEqual([403, "ErrorInsufficientScope"]);
    expect(body.error.message).toContain("The token lacks the scope registry:publish");
    expect(body.error.details.hint).toContain("npm run token -- --scope");
  });

  it("with another tenant", async () => {
    const { body } = await registry.send("GET", `${configs}?tenant=acme`, { token: member });
    expect(body.error.details).toEqual({ hint: "This token acts for: hinted. GET /api/whoami shows it" });
  });

  it.each([
    ["GET", "/api/serch", "Did you mean /api/search? GET /openapi.json lists every path"],
    ["DELETE", "/api/mcp/capabilities/hinted/s", "DELETE /api/mcp/configs/hinted/s deletes a server"],
    ["POST", "/mcp/tool/list_servers", "There is no session: POST /mcp/negotiate declaring sampling"],
  ])("with %s %s", async (method, path, hint) => {
    const { body } = await registry.send(method, path, { token: member });
    expect((body.error.details ?? body.details).hint).toContain(hint);
  });

  it("with a comma too many", async () => {
    const { body } = await registry.send("PUT", capabilities("hinted", "s"), { token: member, body: '{"tools": [],}' });
    expect(body.error.message).toContain("Expected a key in double quotes, found }: remove the comma before it");
  });
});
