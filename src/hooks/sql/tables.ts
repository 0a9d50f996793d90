/** Hooks, and the messages they received. */
export const hookTables = `
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
`;
