/**
 * The tables of the directory, made where they are missing. `card` and `card_text` are as a tenant has them; a server's
 * `public_since` and `items_generation` say which of its items are here.
 */
export function createTables(sql: SqlStorage): void {
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
      UNIQUE (tenant, server, kind, key)
    );
    CREATE INDEX IF NOT EXISTS card_id ON card (id);
    CREATE VIRTUAL TABLE IF NOT EXISTS card_text USING fts5 (
      name, title, description, parameters, server,
      content = '', contentless_delete = 1, tokenize = 'porter unicode61'
    );
  `);
}
