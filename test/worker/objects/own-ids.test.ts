import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { migrate } from "../../../src/objects/migrate.ts";
import { tenantSteps } from "../../../src/objects/tenant/tables.ts";
import { boundIds, itemsWithIds } from "../../../src/registry/sql/item-ids.ts";
import { findCapability } from "../../../src/registry/sql/items.ts";
import { capabilities, Registry, token, tools } from "../support/registry.ts";
import { firstTenantRows, firstTenantTables } from "./recorded-databases.ts";

/** Of what an earlier release wrote: kind, key, id, and whether it is current. */
const recorded: [server: string, kind: string, key: string, id: string, current: boolean][] = [
  ["s", "tool", "plain", "mcp.s.plain", true],
  ["s", "operation", "get", "github.s.get", true],
  ["s", "prompt", "ask", "mcp.s.prompt:ask", true],
  ["s.t", "tool", "a/b", "mcp.s~2Et.a~2Fb", true],
  ["s", "tool", "named", "own.name", true],
  // Reads like the id of a tool of that name, but is a prompt's own.
  ["s", "prompt", "like", "mcp.s.like", true],
  // Is what joining its parts would make, without the escapes.
  ["s.t", "tool", "joined", "mcp.s.t.joined", true],
  ["s", "tool", "gone", "own.gone", false],
];

describe("the step that keeps only ids of their own", () => {
  const withRecorded = (work: (sql: SqlStorage) => void) =>
    runInDurableObject(env.TENANTS.get(env.TENANTS.newUniqueId()), (_, { storage }) => {
      const { sql } = storage;
      sql.exec(firstTenantTables + firstTenantRows);
      for (const [server, kind, key, id, current] of recorded) {
        sql.exec(
          `INSERT INTO capability (server, kind, digest, key, id, declared, tokens, flags, first_revision, last_revision)
           VALUES (?, ?, ?, ?, ?, '{}', 1, '[]', 1, ?)`,
          ...[server, kind, `d ${key}`, key, id, current ? null : 1],
        );
      }
      migrate(storage, tenantSteps);
      work(sql);
    });

  it("finds every current item by its id as before", () =>
    withRecorded((sql) => {
      const own = sql.exec("SELECT own_id FROM capability WHERE own_id IS NOT NULL ORDER BY own_id").raw();
      expect([...own].flat()).toEqual(["github.s.get", "mcp.s.like", "mcp.s.t.joined", "own.gone", "own.name"]);
      const current = recorded.filter(([, , , , isCurrent]) => isCurrent);
      for (const [server, kind, key, id] of current) {
        expect(findCapability(sql, id)).toMatchObject({ server, capability: { kind, key, id } });
      }
      expect(findCapability(sql, "own.gone")).toBeUndefined();
      const ids = [...recorded.map(([, , , id]) => id), "mcp.s.none", "mcp.s.plain"];
      const found = sql.exec<{ id: string }>(`SELECT id FROM ${itemsWithIds}`, ...boundIds(ids)).toArray();
      expect(found.map(({ id }) => id).sort()).toEqual(current.map(([, , , id]) => id).sort());
    }));
});

describe("an id of another server's item", () => {
  const tenant = "own-ids";

  it.each([
    ["that the item chose", [{ name: "a", id: "chosen", inputSchema: {} }], "chosen"],
    ["that follows from its place", [{ name: "a", inputSchema: {} }], `mcp.other-1.a`],
  ])("is refused: one %s", async (_, theirs, id) => {
    const registry = new Registry();
    const mine = await token({ tenants: [tenant] });
    const put = (name: string, body: unknown) =>
      registry.send("PUT", capabilities(tenant, name), { token: mine, body });
    const other = id === "chosen" ? "other" : "other-1";
    expect((await put(other, { tools: theirs })).status).toBe(201);
    const refused = await put(`late-${other}`, { tools: [{ name: "b", id, inputSchema: {} }] });
    expect([refused.status, refused.body.error.code]).toEqual([409, "ErrorCapabilityCollision"]);
    expect((await put(`late-${other}`, tools("b"))).status).toBe(201);
  });
});
