import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createTables, migrate } from "../../../src/objects/migrate.ts";
import { tenantSteps } from "../../../src/objects/tenant/tables.ts";
import { copyTime, dropCopies, readCopy, writeCopy } from "../../../src/registry/sql/source-copies.ts";
import { sourceRows } from "../../../src/registry/sql/source-rows.ts";
import { firstTenantRows, firstTenantTables } from "./recorded-databases.ts";

const place = (address: string) => ({ server: "s", source: "main", address });

function copyOf(...descriptions: string[]) {
  const tools = descriptions.map((description, index) => ({ name: `t${index}`, description }));
  const lists = { tools, prompts: [], resources: [], resourceTemplates: [] };
  return { offer: { ...lists, protocolVersion: "1", session: false }, names: { tools: { t0: "main.t0" } } };
}

const withStorage = (work: (storage: DurableObjectStorage) => void) =>
  runInDurableObject(env.TENANTS.get(env.TENANTS.newUniqueId()), (_, { storage }) => work(storage));

const withTables = (work: (sql: SqlStorage) => void) =>
  withStorage((storage) => {
    createTables(storage, tenantSteps, { tenant: "acme" });
    work(storage.sql);
  });

describe("the copy of a source", () => {
  it("comes back as it was, however large and wherever it is cut", () =>
    withTables((sql) => {
      for (const shift of [0, 1]) {
        const copy = copyOf("x".repeat(shift) + "😀".repeat(600_000), "漢".repeat(700_000));
        writeCopy(sql, place("https://a.example/"), copy, "2026-01-01");
        expect(sql.exec("SELECT count(*) AS parts FROM source_copy").one().parts).toBeGreaterThan(3);
        const { address, ...stored } = readCopy(sql, "s", "main") ?? {};
        expect([address, JSON.stringify(stored) === JSON.stringify(copy)]).toEqual(["https://a.example/", true]);
      }
    }));

  it("is one of one address, written only if it is another", () =>
    withTables((sql) => {
      writeCopy(sql, place("https://a.example/"), copyOf("one"), "2026-01-01");
      writeCopy(sql, place("https://a.example/"), copyOf("one"), "2026-01-02");
      expect(copyTime(sql, "s", "main", "https://a.example/")).toBe("2026-01-01");
      writeCopy(sql, place("https://b.example/"), copyOf("two"), "2026-01-03");
      expect(copyTime(sql, "s", "main", "https://a.example/")).toBeUndefined();
      expect(readCopy(sql, "s", "main")).toMatchObject({ address: "https://b.example/" });
      dropCopies(sql, "s");
      expect(readCopy(sql, "s", "main")).toBeUndefined();
    }));
});

describe("the step that adds copies", () => {
  const item = (name: string, url: string, own = name) => ({
    ...{ name, inputSchema: { type: "object" } },
    metadata: { mcp: { server_url: url, tool_name: own, protocol_version: "2025-11-25", requires_session: "true" } },
  });
  const [a, b] = ["https://a.example/mcp", "https://b.example/mcp"];

  it("makes what is published of each source its first copy, under the names that it has", () =>
    withStorage((storage) => {
      const { sql } = storage;
      sql.exec(firstTenantTables + firstTenantRows);
      const sources = [
        { id: "A", type: "streamable-http", url: a },
        { id: "run", type: "stdio" },
        { id: "B", type: "sse", url: b },
        { id: "C", type: "sse", url: "https://c.example/mcp" },
      ];
      sql.exec(
        "INSERT INTO server (name, config, visibility, digest, revision, generation, created_at, updated_at) VALUES ('read', ?, 'tenant', 'm', 1, 1, '2026-01-01', '2026-01-01')",
        JSON.stringify({ tenant: "acme", name: "read", visibility: "tenant", sources }),
      );
      const items = [item("A.same", a, "same"), item("B.same", b, "same"), item("own", b), { name: "pushed" }];
      for (const [index, declared] of items.entries()) {
        sql.exec(
          "INSERT INTO capability (server, kind, digest, key, id, declared, tokens, flags, first_revision) VALUES ('read', 'tool', ?, ?, ?, ?, 1, '[]', 1)",
          ...[`d${index}`, declared.name, `read.d${index}`, JSON.stringify(declared)],
        );
      }
      sql.exec(
        "INSERT INTO revision (server, number, digest, generation, published_at, published_by, changes, header, layout) VALUES ('read', 1, 'm', 1, '2026-01-01', 'introspection', '{}', ?, ?)",
        JSON.stringify({ serverInfo: { name: "Up" }, mcpVersion: "2025-11-25" }),
        JSON.stringify(items.map((_, index) => ["tool", `d${index}`])),
      );
      const read = sources.filter(({ url }) => url !== undefined);
      for (const [position, source] of read.entries()) {
        sql.exec(
          "INSERT INTO source (server, id, position, config, state, since, last_synced) VALUES ('read', ?, ?, ?, 'live', '2026-01-01', ?)",
          ...[source.id, position, JSON.stringify({ id: source.id, url: source.url, type: source.type })],
          source.id === "C" ? null : "2026-01-02",
        );
      }
      migrate(storage, tenantSteps);
      expect(readCopy(sql, "read", "A")).toMatchObject({
        ...{ address: a, names: { tools: { same: "A.same" } } },
        offer: { tools: [{ name: "same" }], serverInfo: { name: "Up" }, protocolVersion: "2025-11-25", session: true },
      });
      const second = readCopy(sql, "read", "B");
      expect(second).toMatchObject({ address: b, offer: { tools: [{ name: "same" }, { name: "own" }] } });
      expect(second?.offer.serverInfo).toBeUndefined();
      expect(readCopy(sql, "read", "C")).toBeUndefined();
      expect(copyTime(sql, "read", "A", a)).toBe("2026-01-02");
      expect(sourceRows(sql, "read").map(({ id, state }) => [id, state])).toEqual([
        ["A", "live"],
        ["run", "not-read"],
        ["B", "live"],
        ["C", "live"],
      ]);
    }));
});
