import type { ObjectStorage } from "../../kernel/platform/counted-storage.ts";
import { recountAllAttributes } from "../../registry/sql/attribute-counts.ts";
import { chainLog } from "../../registry/sql/change-log.ts";
import { followAllSources } from "../../registry/sql/source-rows.ts";
import { cardTextTables } from "../../search/sql/card-table.ts";
import { rebuildCards } from "../../search/sql/tenant-cards.ts";

/**
 * The tables of one tenant. Steps are only ever appended: a step that has run anywhere never changes.
 *
 * `capability` holds each version of an item once. It is current while `last_revision` is null; the columns
 * `first_revision` and `last_revision` bound the revisions that may refer to it, so a publish touches only the rows
 * that changed and pruning needs no reference counts.
 */
export const steps: readonly Step[] = [
  {
    tables: `
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
  },
  {
    tables: `
  ALTER TABLE server ADD COLUMN public_since INTEGER;
  UPDATE server SET public_since = generation WHERE visibility = 'public' AND deleted_at IS NULL;
  CREATE INDEX server_public ON server (name) WHERE public_since IS NOT NULL;
  CREATE INDEX capability_current ON capability (server, kind, key) WHERE last_revision IS NULL;
  CREATE TABLE card (
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
  CREATE INDEX card_id ON card (id);
  CREATE VIRTUAL TABLE card_text USING fts5 (
    name, title, description, parameters, server,
    content = '', contentless_delete = 1, tokenize = 'porter unicode61'
  );
  CREATE TABLE pending_item (
    server TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (server, kind, key)
  ) WITHOUT ROWID;
  `,
    cards: "rebuild",
  },
  {
    tables: `
  CREATE INDEX change_server ON change (server, generation);
  CREATE TABLE watcher (
    id TEXT PRIMARY KEY,
    until INTEGER NOT NULL
  ) WITHOUT ROWID;
  `,
  },
  {
    tables: `
  ALTER TABLE server ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE hook (
    id TEXT PRIMARY KEY,
    server TEXT NOT NULL,
    events TEXT NOT NULL,
    format TEXT NOT NULL,
    signature TEXT NOT NULL,
    keys TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    description TEXT,
    created_at TEXT NOT NULL,
    created_by TEXT NOT NULL,
    manifest_sequence INTEGER NOT NULL DEFAULT -1,
    status_sequence INTEGER NOT NULL DEFAULT -1
  ) WITHOUT ROWID;
  CREATE TABLE hook_delivery (
    hook TEXT NOT NULL,
    message TEXT NOT NULL,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    sequence INTEGER,
    outcome TEXT NOT NULL,
    generation INTEGER,
    digest TEXT,
    reason TEXT,
    PRIMARY KEY (hook, message)
  ) WITHOUT ROWID;
  CREATE INDEX hook_delivery_at ON hook_delivery (hook, at);
  `,
  },
  {
    tables: `
  ALTER TABLE change ADD COLUMN previous TEXT NOT NULL DEFAULT '';
  ALTER TABLE change ADD COLUMN hash TEXT NOT NULL DEFAULT '';
  `,
    changes: "chain",
  },
  {
    tables: `
  CREATE TABLE subscription (
    id TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    own_host TEXT NOT NULL,
    filters TEXT NOT NULL,
    description TEXT,
    secrets TEXT NOT NULL,
    state TEXT NOT NULL,
    reason TEXT,
    since TEXT NOT NULL,
    version INTEGER NOT NULL DEFAULT 1,
    not_before INTEGER NOT NULL DEFAULT 0,
    dropped INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    created_by TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE delivery (
    subscription TEXT NOT NULL,
    generation INTEGER NOT NULL,
    server TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    PRIMARY KEY (subscription, generation)
  ) WITHOUT ROWID;
  CREATE INDEX delivery_due ON delivery (subscription, due_at);
  CREATE TABLE delivery_attempt (
    subscription TEXT NOT NULL,
    number INTEGER NOT NULL,
    message TEXT NOT NULL,
    at INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    status INTEGER,
    failure TEXT,
    next_at INTEGER,
    PRIMARY KEY (subscription, number)
  ) WITHOUT ROWID;
  `,
  },
  {
    tables: `
  CREATE TABLE source (
    server TEXT NOT NULL,
    id TEXT NOT NULL,
    position INTEGER NOT NULL,
    config TEXT NOT NULL,
    state TEXT NOT NULL,
    since TEXT NOT NULL,
    last_synced TEXT,
    error TEXT,
    message TEXT,
    remembered TEXT,
    failures INTEGER NOT NULL DEFAULT 0,
    warnings TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (server, id)
  ) WITHOUT ROWID;
  `,
  },
  { tables: "", sources: "follow" },
  { tables: "", attributes: "count" },
  {
    tables: `
  CREATE INDEX server_advertised ON server (name)
    WHERE coalesce(json_extract(config, '$.advertise.advertiseResources'),
      json_extract(config, '$.advertise.advertise_resources')) = 1;
  `,
  },
  {
    tables: `
  CREATE TABLE version (
    server TEXT NOT NULL,
    version TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    document TEXT NOT NULL,
    status TEXT NOT NULL,
    status_message TEXT,
    status_changed_at TEXT NOT NULL,
    published_at TEXT NOT NULL,
    published_by TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    latest INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    pending INTEGER NOT NULL,
    UNIQUE (server, version)
  );
  CREATE INDEX version_pending ON version (server) WHERE pending = 1;
  INSERT INTO outbox (task, subject, version, due_at)
    SELECT 'directory', name, 1, 0 FROM server WHERE public_since IS NOT NULL
    ON CONFLICT (task, subject) DO UPDATE SET version = outbox.version + 1, due_at = 0, attempts = 0;
  `,
  },
  {
    tables: `
  DROP TABLE card_text;
  ALTER TABLE card ADD COLUMN bag BLOB;
  ${cardTextTables}
  `,
    cards: "rebuild",
  },
  {
    tables: `
  CREATE INDEX revision_body ON revision (server, digest, number);
  DROP INDEX revision_digest;
  CREATE INDEX capability_past ON capability (server, last_revision) WHERE last_revision IS NOT NULL;
  `,
  },
  { tables: "", cards: "rebuild" },
];

interface Step {
  tables: string;
  /**
   * The index is worked out from the other tables, by the code of the day. It is rebuilt once all steps have run: by
   * then the tables are those that the code knows, whichever step asked for it.
   */
  cards?: "rebuild";
  /** Hashes the entries that the log has already, in their order. */
  changes?: "chain";
  /** Reads the sources that settings name already. */
  sources?: "follow";
  /** Counts what servers are found by in the catalogue, and tells the directory. */
  attributes?: "count";
}

/**
 * Brings the tables up to date and says whether there was anything to do. Called before a write, so that asking about an
 * unknown tenant stores nothing.
 */
export function migrate(storage: ObjectStorage, tenant: string): boolean {
  const { sql } = storage;
  sql.exec("CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value ANY NOT NULL)");
  const version = Number(sql.exec("SELECT value FROM meta WHERE key = 'schema'").toArray()[0]?.value ?? 0);
  const due = steps.slice(version);
  if (due.length === 0) return false;
  storage.transactionSync(() => {
    for (const { tables } of due) if (tables !== "") sql.exec(tables);
    sql.exec(
      `INSERT INTO meta (key, value) VALUES ('tenant', ?), ('generation', 0), ('schema', 0)
       ON CONFLICT (key) DO NOTHING`,
      tenant,
    );
    sql.exec("UPDATE meta SET value = ? WHERE key = 'schema'", steps.length);
    if (due.some(({ cards }) => cards === "rebuild")) rebuildCards(sql);
    if (due.some(({ changes }) => changes === "chain")) chainLog(sql);
    if (due.some(({ sources }) => sources === "follow")) followAllSources(sql, new Date().toISOString());
    if (due.some(({ attributes }) => attributes === "count")) recountAllAttributes(sql);
  });
  return true;
}

export function isEmpty(sql: SqlStorage): boolean {
  return sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'meta'").toArray().length === 0;
}
