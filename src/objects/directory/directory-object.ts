import { DurableObject } from "cloudflare:workers";
import type { DirectoryEntry } from "../../domain/server-summary.ts";

/** A server that is gone: enough to remove its row and to outrank a late update. */
export interface DirectoryRemoval {
  tenant: string;
  name: string;
  generation: number;
}

/** Which rows a caller may see, and after which one the page starts. */
export interface DirectoryQuery {
  tenants: readonly string[] | "all";
  /** For who may not see the rest of those tenants. */
  onlyPublic: boolean;
  after: { tenant: string; name: string };
  limit: number;
}

interface Row extends Record<string, SqlStorageValue> {
  entry: string;
}

/**
 * One row per server of every tenant, so that a list across tenants is one query. Fed by the tenants' outboxes: what
 * arrives late or twice loses to the generation it carries.
 */
export class DirectoryObject extends DurableObject<Env> {
  readonly #sql = this.ctx.storage.sql;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql.exec(`
      CREATE TABLE IF NOT EXISTS server (
        tenant TEXT NOT NULL,
        name TEXT NOT NULL,
        generation INTEGER NOT NULL,
        public INTEGER NOT NULL,
        entry TEXT,
        PRIMARY KEY (tenant, name)
      );
      CREATE INDEX IF NOT EXISTS server_public ON server (public, tenant, name) WHERE entry IS NOT NULL;
      CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL);
      INSERT INTO meta (key, value) VALUES ('generation', 0) ON CONFLICT DO NOTHING;
    `);
  }

  async update(changes: readonly (DirectoryEntry | DirectoryRemoval)[]): Promise<void> {
    this.ctx.storage.transactionSync(() => {
      let moved = 0;
      for (const change of changes) {
        const listed = "visibility" in change;
        moved += this.#sql.exec(
          `INSERT INTO server (tenant, name, generation, public, entry) VALUES (?1, ?2, ?3, ?4, ?5)
           ON CONFLICT (tenant, name) DO UPDATE SET generation = ?3, public = ?4, entry = ?5
           WHERE generation < ?3`,
          change.tenant,
          change.name,
          change.generation,
          listed && change.visibility === "public" ? 1 : 0,
          listed ? JSON.stringify(change) : null,
        ).rowsWritten;
      }
      if (moved > 0) this.#sql.exec("UPDATE meta SET value = value + 1 WHERE key = 'generation'");
    });
  }

  /** Whether any server of a tenant is listed: asked before an outsider's question wakes that tenant. */
  async knows(tenant: string): Promise<boolean> {
    return (
      this.#sql.exec("SELECT 1 FROM server WHERE tenant = ? AND entry IS NOT NULL LIMIT 1", tenant).toArray().length > 0
    );
  }

  async list(query: DirectoryQuery): Promise<{ generation: number; entries: DirectoryEntry[] }> {
    const { tenants, onlyPublic, after, limit } = query;
    const owned = tenants === "all" ? "1" : "tenant IN (SELECT value FROM json_each(?4))";
    const visible = onlyPublic ? `public = 1 AND ${owned}` : owned;
    const rows = this.#sql.exec<Row>(
      `SELECT entry FROM server WHERE entry IS NOT NULL AND (tenant, name) > (?1, ?2) AND ${visible}
       ORDER BY tenant, name LIMIT ?3`,
      ...[after.tenant, after.name, limit],
      ...(tenants === "all" ? [] : [JSON.stringify(tenants)]),
    );
    const entries = rows.toArray().map(({ entry }) => JSON.parse(entry) as DirectoryEntry);
    return {
      generation: Number(this.#sql.exec("SELECT value FROM meta WHERE key = 'generation'").one().value),
      entries,
    };
  }
}
