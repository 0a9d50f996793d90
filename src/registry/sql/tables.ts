/**
 * Servers with their settings, items and history, and the outbox.
 *
 * `capability` holds each version of an item once. A version is current while `last_revision` is null. `first_revision`
 * and `last_revision` bound the revisions that may refer to it, so a publish touches only the rows that changed, and
 * pruning needs no reference counts.
 */
export const registryTables = `
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
    deleted_at TEXT,
    public_since INTEGER,
    withdrawn INTEGER NOT NULL DEFAULT 0
  );
  CREATE INDEX server_public ON server (name) WHERE public_since IS NOT NULL;
  CREATE INDEX server_advertised ON server (name)
    WHERE coalesce(json_extract(config, '$.advertise.advertiseResources'),
      json_extract(config, '$.advertise.advertise_resources')) = 1;
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
  CREATE INDEX capability_current ON capability (server, kind, key) WHERE last_revision IS NULL;
  CREATE INDEX capability_past ON capability (server, last_revision) WHERE last_revision IS NOT NULL;
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
  CREATE INDEX revision_body ON revision (server, digest, number);
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
    reasons TEXT NOT NULL,
    previous TEXT NOT NULL DEFAULT '',
    hash TEXT NOT NULL DEFAULT ''
  );
  CREATE INDEX change_server ON change (server, generation);
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
  CREATE TABLE outbox (
    task TEXT NOT NULL,
    subject TEXT NOT NULL,
    version INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (task, subject)
  );
  CREATE INDEX outbox_due ON outbox (due_at);
`;

/** The version of the analysis that an item's tokens and flags are from. */
export const analysisColumn = "ALTER TABLE capability ADD COLUMN analysis INTEGER NOT NULL DEFAULT 0;";

/** Flags that an admin accepts, of content by its digest. */
export const acknowledgedTable = `
  CREATE TABLE acknowledged_flag (
    server TEXT NOT NULL,
    digest TEXT NOT NULL,
    rule TEXT NOT NULL,
    path TEXT NOT NULL,
    message TEXT NOT NULL,
    of TEXT NOT NULL,
    by TEXT NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (server, digest, rule, path, of, message)
  ) WITHOUT ROWID;
`;

/** What was known of the item or server at the change. */
export const changeRecordColumn = "ALTER TABLE change ADD COLUMN record TEXT;";
/**
 * What each source offered when it was last read, as text in parts: one SQL value has at most 2 MB. A source has a copy of
 * one address at most. `disabled` covers items that are hidden because their source has another address now.
 */
export const sourceCopyTables = `
  CREATE TABLE source_copy (
    server TEXT NOT NULL,
    source TEXT NOT NULL,
    address TEXT NOT NULL,
    part INTEGER NOT NULL,
    at TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (server, source, address, part)
  );
  ALTER TABLE disabled ADD COLUMN switched INTEGER NOT NULL DEFAULT 1;
  ALTER TABLE disabled ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
`;

/** When a server's sources are looked at next; null while they are not. Was a task of the outbox. */
export const nextLookColumn = `
  ALTER TABLE source ADD COLUMN next_at INTEGER;
  UPDATE source SET next_at = (SELECT due_at FROM outbox WHERE task = 'refresh' AND subject = server)
    WHERE state <> 'not-read';
  DELETE FROM outbox WHERE task = 'refresh';
  CREATE INDEX source_next ON source (next_at) WHERE next_at IS NOT NULL;
`;

/** Large publishes that are being stored, and what they will append to the log. One at a time. */
export const stageTables = `
  CREATE TABLE publish_stage (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    server TEXT NOT NULL,
    revision INTEGER
  );
  CREATE TABLE staged_change (
    sequence INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL,
    at TEXT NOT NULL,
    server TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    classification TEXT NOT NULL,
    from_digest TEXT,
    to_digest TEXT,
    reasons TEXT NOT NULL,
    record TEXT,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
  );
`;

/** Entries of one write share rows. */
export const changeRestColumn = "ALTER TABLE change ADD COLUMN rest TEXT;";

/** Without a rowid, which was one more thing to write for each task. */
export const outboxWithoutRowid = `
  ALTER TABLE outbox RENAME TO outbox_before;
  CREATE TABLE outbox (
    task TEXT NOT NULL,
    subject TEXT NOT NULL,
    version INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (task, subject)
  ) WITHOUT ROWID;
  INSERT INTO outbox (task, subject, version, due_at, attempts)
    SELECT task, subject, version, due_at, attempts FROM outbox_before;
  DROP TABLE outbox_before;
  CREATE INDEX outbox_due ON outbox (due_at);
`;
