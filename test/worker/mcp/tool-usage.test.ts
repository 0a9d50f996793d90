import { beforeAll, describe, expect, it } from "vitest";
import type { Principal } from "../../../src/auth/principal.ts";
import { tenantKey } from "../../../src/kernel/names.ts";
import { callTool, ownTools } from "../../../src/mcp/tools/tools.ts";
import { toolUsage } from "../../../src/mcp/tools/usage.ts";
import { loadDemo } from "../support/demo.ts";
import { drained, Registry, token } from "../support/registry.ts";

const registry = new Registry();

function principal(claims: Partial<Principal>): Principal {
  return { subject: "u", tenants: [], scopes: ["registry:read"], admin: false, expiresAt: 9e15, ...claims };
}
const member = principal({ tenants: [tenantKey("demo"), tenantKey("usage")] });
const outsider = principal({ tenants: [tenantKey("elsewhere")] });
const anonymous = principal({ anonymous: true });

const call = (name: string, input: unknown, who: Principal) =>
  callTool(name, input, { services: registry.services, principal: who });

beforeAll(async () => {
  await loadDemo(registry);
  const mine = await token({ tenants: ["usage"] });
  const body = { tools: [{ name: "t" }] };
  await registry.send("PUT", "/api/mcp/capabilities/usage/closed", { token: mine, body });
  await drained("demo");
});

it("is told of every tool", () => {
  expect(Object.keys(toolUsage).sort()).toEqual(ownTools.map(({ name }) => name).sort());
});

const examples = Object.entries(toolUsage).flatMap(([name, usage]) =>
  usage.examples.map(({ description, input }) => [name, description, input] as const),
);

describe("examples", () => {
  it.each(examples)("of %s run on the demo catalogue: %s", async (name, _, input) => {
    const result = await call(name, input, member);
    expect(result).toMatchObject({ ok: true });
    // An example that finds nothing shows nothing.
    const items = result.ok ? (result.value as { items?: unknown[] }).items : undefined;
    if (items !== undefined) expect(items.length).toBeGreaterThan(0);
  });
});

const closed = { tenant: "usage", name: "closed" };
const absent = { tenant: "usage", name: "absent" };
const from = `sha256-${"0".repeat(64)}`;

/** One call for each error that a tool declares. */
const provoked: Record<string, [string, unknown, Principal][]> = {
  list_servers: [
    ["ErrorToolArguments", { limit: 0 }, member],
    ["ErrorCursorInvalid", { cursor: "x" }, member],
  ],
  get_capability: [
    ["ErrorToolArguments", {}, member],
    ["ErrorCapabilityNotFound", { tenant: "usage", id: "none" }, member],
    ["ErrorTenantPermissionError", { tenant: "usage", id: "mcp.closed.t" }, outsider],
    ["ErrorUnauthorized", { tenant: "usage", id: "mcp.closed.t" }, anonymous],
  ],
  select_generator: [
    ["ErrorToolArguments", closed, member],
    ["ErrorMCPServerNotFound", { ...absent, config: {} }, member],
    ["resource_not_found", { ...closed, config: {} }, member],
    ["ErrorTenantPermissionError", { ...closed, config: {} }, outsider],
    ["ErrorUnauthorized", { ...closed, config: {} }, anonymous],
  ],
  preflight_generator: [
    ["ErrorToolArguments", closed, member],
    ["ErrorMCPServerNotFound", { ...absent, type: "x" }, member],
    ["resource_not_found", { ...closed, type: "x" }, member],
    ["ErrorTenantPermissionError", { ...closed, type: "x" }, outsider],
    ["ErrorUnauthorized", { ...closed, type: "x" }, anonymous],
  ],
  diff_capabilities: [
    ["ErrorToolArguments", closed, member],
    ["ErrorRevisionNotFound", { ...closed, from }, member],
    ["ErrorMCPServerNotFound", { ...absent, from }, member],
    ["ErrorTenantPermissionError", { ...closed, from }, outsider],
    ["ErrorUnauthorized", { ...closed, from }, anonymous],
  ],
  whats_changed: [
    ["ErrorToolArguments", {}, member],
    ["ErrorTenantPermissionError", { tenant: "usage" }, outsider],
    ["ErrorUnauthorized", { tenant: "usage" }, anonymous],
  ],
  search_capabilities: [["ErrorToolArguments", {}, member]],
  negotiate_context: [["ErrorToolArguments", { budget: -1 }, member]],
  get_capability_index: [
    ["ErrorToolArguments", { tenant: 1 }, member],
    ["ErrorMCPServerNotFound", absent, member],
    ["ErrorTenantPermissionError", closed, outsider],
    ["ErrorUnauthorized", closed, anonymous],
  ],
};

describe("common errors", () => {
  it.each(Object.entries(toolUsage))("of %s are those that it answers", async (name, { commonErrors }) => {
    const codes: string[] = [];
    for (const [code, input, who] of provoked[name] ?? []) {
      const result = await call(name, input, who);
      expect([code, result.ok ? "a result" : result.error.code]).toEqual([code, code]);
      codes.push(code);
    }
    expect(commonErrors.map(({ code }) => code).sort()).toEqual(codes.sort());
    for (const { message } of commonErrors) expect(message).toMatch(/^[A-Z].+\.$/);
  });
});
