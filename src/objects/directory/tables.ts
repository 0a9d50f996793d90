import { cardTextTables } from "../../search/sql/card-table.ts";
import { termCountTable } from "../../search/sql/term-counts.ts";

/**
 * The tables of the directory, made where they are missing. `card` and `card_text` are as a tenant has them; a server's
 * `public_since` and `items_generation` say which of its items are here. `attribute` gives every value of every dimension
 * a number; its number 0 is what every server has. `listing` is a server in a few bytes: what the catalogue looks at
 * before it reads an entry.
 */
export function createTables(sql: SqlStorage): void {
  dropOutdatedIndex(sql);
  sql.exec(`
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
    CREATE TABLE IF NOT EXISTS attribute (
      id INTEGER PRIMARY KEY,
      dimension TEXT NOT NULL,
      value TEXT NOT NULL,
      UNIQUE (dimension, value)
    );
    INSERT INTO attribute (id, dimension, value) VALUES (0, 'server', '') ON CONFLICT DO NOTHING;
    CREATE TABLE IF NOT EXISTS listing (
      tenant TEXT NOT NULL,
      name TEXT NOT NULL,
      public INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      attributes TEXT NOT NULL,
      told INTEGER NOT NULL,
      PRIMARY KEY (tenant, name)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS listing_updated ON listing (public, updated_at);
    CREATE INDEX IF NOT EXISTS listing_untold ON listing (tenant) WHERE told = 0;
    CREATE TABLE IF NOT EXISTS server_attribute (
      attribute INTEGER NOT NULL,
      public INTEGER NOT NULL,
      tenant TEXT NOT NULL,
      name TEXT NOT NULL,
      PRIMARY KEY (attribute, public, tenant, name)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS attribute_count (
      scope TEXT NOT NULL,
      attribute INTEGER NOT NULL,
      dimension TEXT NOT NULL,
      servers INTEGER NOT NULL,
      PRIMARY KEY (scope, attribute)
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS attribute_count_most ON attribute_count (scope, dimension, servers DESC);
    CREATE TABLE IF NOT EXISTS indexed_server (
      tenant TEXT NOT NULL,
      name TEXT NOT NULL,
      public_since INTEGER NOT NULL,
      items_generation INTEGER NOT NULL,
      PRIMARY KEY (tenant, name)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS card (
      number INTEGER PRIMARY KEY,
      tenant TEXT NOT NULL,
      server TEXT NOT NULL,
      kind TEXT NOT NULL,
      key TEXT NOT NULL,
      id TEXT NOT NULL,
      digest TEXT NOT NULL,
      tokens INTEGER NOT NULL,
      version TEXT,
      title TEXT,
      description TEXT,
      bag BLOB NOT NULL,
      UNIQUE (tenant, server, kind, key)
    );
    CREATE INDEX IF NOT EXISTS card_id ON card (id);
    ${cardTextTables}
    ${termCountTable}
  `);
}

/** Cards from before their terms were counted: the tenants, once woken, tell of all their items anew. */
function dropOutdatedIndex(sql: SqlStorage): void {
  const tables = sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE name IN ('card', 'term_count')");
  const [table, other] = tables.toArray();
  if (table?.name !== "card" || other !== undefined) return;
  sql.exec("DROP TABLE card_text; DROP TABLE card; DELETE FROM indexed_server;");
}
