/**
 * The tables of one tenant. Steps are only ever appended: a step that has run anywhere never changes.
 *
 * `capability` holds each version of an item once. It is current while `last_revision` is null; the columns
 * `first_revision` and `last_revision` bound the revisions that may refer to it, so a publish touches only the rows
 * that changed and pruning needs no reference counts.
 */
const steps: readonly string[] = [
  `
  CREATE TABLE server (
    name TEXT PRIMARY KEY,
    config TEXT NOT NULL,
    visibility TEXT NOT NULL,
    digest TEXT,
    revision INTEGER NOT NULL DEFAULT 0,
    overlay INTEGER NOT NULL DEFAULT 1,
    generation INTEGER NOT NULL,
    last_synced TEXT,
    flags TEXT NOT NULL DEFAULT '[]',
    summary TEXT NOT NULL DEFAULT '{}',
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    deleted_at TEXT
  );
  CREATE TABLE capability (
    server TEXT NOT NULL,
    kind TEXT NOT NULL,
    digest TEXT NOT NULL,
    key TEXT NOT NULL,
    id TEXT NOT NULL,
    declared TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    flags TEXT NOT NULL,
    created_at TEXT,
    first_revision INTEGER NOT NULL,
    last_revision INTEGER,
    PRIMARY KEY (server, kind, digest)
  );
  CREATE UNIQUE INDEX capability_id ON capability (id) WHERE last_revision IS NULL;
  CREATE INDEX capability_key ON capability (key, kind) WHERE last_revision IS NULL;
  CREATE TABLE revision (
    server TEXT NOT NULL,
    number INTEGER NOT NULL,
    digest TEXT NOT NULL,
    generation INTEGER NOT NULL,
    published_at TEXT NOT NULL,
    published_by TEXT NOT NULL,
    changes TEXT NOT NULL,
    header TEXT NOT NULL,
    layout TEXT NOT NULL,
    PRIMARY KEY (server, number)
  );
  CREATE INDEX revision_digest ON revision (digest);
  CREATE TABLE disabled (
    server TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (server, kind, key)
  );
  CREATE TABLE change (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL,
    at TEXT NOT NULL,
    server TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    classification TEXT NOT NULL,
    from_digest TEXT,
    to_digest TEXT,
    reasons TEXT NOT NULL
  );
  CREATE TABLE outbox (
    task TEXT NOT NULL,
    subject TEXT NOT NULL,
    version INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (task, subject)
  );
  CREATE INDEX outbox_due ON outbox (due_at);
  `,
];

/** Brings the tables up to date. Called before a write, so that asking about an unknown tenant stores nothing. */
export function migrate(storage: DurableObjectStorage, tenant: string): void {
  const { sql } = storage;
  sql.exec("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value ANY NOT NULL)");
  const version = Number(sql.exec("SELECT value FROM meta WHERE key = 'schema'").toArray()[0]?.value ?? 0);
  if (version === steps.length) return;
  storage.transactionSync(() => {
    for (const step of steps.slice(version)) sql.exec(step);
    sql.exec(
      `INSERT INTO meta (key, value) VALUES ('tenant', ?), ('generation', 0), ('schema', 0)
       ON CONFLICT (key) DO NOTHING`,
      tenant,
    );
    sql.exec("UPDATE meta SET value = ? WHERE key = 'schema'", steps.length);
  });
}

export function isEmpty(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'meta'").toArray().length === 0;
}
