/** Subscriptions, pending messages, and delivery attempts. */
export const subscriptionTables = `
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
`;
