/** Versions that a tenant's servers published. */
export const tenantVersionTables = `
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
`;

/** What a version that was deleted because its server was withdrawn returns to: `{status, statusMessage?}` as JSON. */
export const statusBeforeColumn = "ALTER TABLE version ADD COLUMN status_before TEXT;";

/** Versions of public servers, and the remote URLs they hold. */
export const directoryVersionTables = `
  CREATE TABLE server_version (
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    tenant TEXT NOT NULL,
    server TEXT NOT NULL,
    derived INTEGER NOT NULL,
    description TEXT NOT NULL,
    status TEXT NOT NULL,
    status_message TEXT,
    status_changed_at TEXT NOT NULL,
    published_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    latest INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    -- Last, so that looking at the others does not read it.
    document TEXT NOT NULL,
    UNIQUE (name, version)
  );
  CREATE INDEX server_version_latest ON server_version (name) WHERE latest = 1;
  CREATE TABLE version_remote (
    url TEXT NOT NULL,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    PRIMARY KEY (url, name, version)
  ) WITHOUT ROWID;
  CREATE INDEX version_remote_name ON version_remote (name, version);
  CREATE TABLE remote_claim (
    url TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    until INTEGER NOT NULL
  ) WITHOUT ROWID;
`;

/** For lists of what changed since a time. */
export const versionUpdatedIndex = "CREATE INDEX server_version_updated ON server_version (updated_at);";

/** Flags about the text of a version's document. */
export const tenantVersionFlags = "ALTER TABLE version ADD COLUMN flags TEXT NOT NULL DEFAULT '[]';";
export const directoryVersionFlags = "ALTER TABLE server_version ADD COLUMN flags TEXT NOT NULL DEFAULT '[]';";
