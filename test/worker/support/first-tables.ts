import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { steps } from "../../../src/objects/tenant/migrations.ts";

const kept = ["server", "capability", "revision", "disabled", "change"];

/** Takes a tenant back to the tables of the first step, with what those could hold, and lets its object go. */
export async function backToFirstTables(tenant: string): Promise<void> {
  const stub = env.TENANTS.get(env.TENANTS.idFromName(tenant));
  await runInDurableObject(stub, async (_, { storage }) => {
    const { sql } = storage;
    const rows = new Map(kept.map((table) => [table, sql.exec(`SELECT * FROM ${table}`).toArray()]));
    sql.exec("DROP TABLE card_text");
    const tables = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").toArray();
    for (const { name } of tables) if (!/^(_cf|sqlite|meta$)/.test(name)) sql.exec(`DROP TABLE "${name}"`);
    sql.exec(steps[0]?.tables ?? "");
    sql.exec("UPDATE meta SET value = 1 WHERE key = 'schema'");
    for (const [table, values] of rows) {
      const columns = sql.exec<{ name: string }>("SELECT name FROM pragma_table_info(?)", table).toArray();
      const names = columns.map(({ name }) => name);
      const insert = `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`;
      for (const row of values) sql.exec(insert, ...names.map((name) => row[name] ?? null));
    }
    await storage.deleteAlarm();
  });
  await evictDurableObject(stub);
}
