/**
 * Databases as version 0.1.0 makes them, recorded: the text of the first migration step of a tenant and of the directory,
 * and some rows. Never edited. A change of tables is a step that is appended, and these are what the step finds.
 */
export const firstTenantTables = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value ANY NOT NULL) STRICT;
  INSERT INTO meta (key, value) VALUES ('generation', 0);
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
    bag BLOB NOT NULL,
    UNIQUE (tenant, server, kind, key)
  );
  CREATE INDEX card_id ON card (id);
  CREATE VIRTUAL TABLE card_text USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '_'"
  );
  CREATE VIRTUAL TABLE card_vocabulary USING fts5vocab (card_text, row);
  CREATE TABLE pending_item (
    server TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (server, kind, key)
  ) WITHOUT ROWID;
  CREATE TABLE watcher (
    id TEXT PRIMARY KEY,
    until INTEGER NOT NULL
  ) WITHOUT ROWID;
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

export const firstDirectoryTables = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL);
  INSERT INTO meta (key, value) VALUES ('generation', 0);
  CREATE TABLE server (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    generation INTEGER NOT NULL,
    public INTEGER NOT NULL,
    entry TEXT,
    PRIMARY KEY (tenant, name)
  );
  CREATE INDEX server_public ON server (public, tenant, name) WHERE entry IS NOT NULL;
  CREATE TABLE attribute (
    id INTEGER PRIMARY KEY,
    dimension TEXT NOT NULL,
    value TEXT NOT NULL,
    UNIQUE (dimension, value)
  );
  INSERT INTO attribute (id, dimension, value) VALUES (0, 'server', '');
  CREATE TABLE listing (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    public INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    attributes TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
  ) WITHOUT ROWID;
  CREATE INDEX listing_updated ON listing (public, updated_at);
  CREATE TABLE server_attribute (
    attribute INTEGER NOT NULL,
    public INTEGER NOT NULL,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (attribute, public, tenant, name)
  ) WITHOUT ROWID;
  CREATE TABLE attribute_count (
    scope TEXT NOT NULL,
    attribute INTEGER NOT NULL,
    dimension TEXT NOT NULL,
    servers INTEGER NOT NULL,
    PRIMARY KEY (scope, attribute)
  ) WITHOUT ROWID;
  CREATE INDEX attribute_count_most ON attribute_count (scope, dimension, servers DESC);
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
    bag BLOB NOT NULL,
    UNIQUE (tenant, server, kind, key)
  );
  CREATE INDEX card_id ON card (id);
  CREATE VIRTUAL TABLE card_text USING fts5 (
    terms, content = '', contentless_delete = 1, detail = none, tokenize = "ascii tokenchars '_'"
  );
  CREATE VIRTUAL TABLE card_vocabulary USING fts5vocab (card_text, row);
  CREATE TABLE indexed_server (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    public_since INTEGER NOT NULL,
    items_generation INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
  ) WITHOUT ROWID;
  CREATE TABLE term_count (token TEXT PRIMARY KEY, items INTEGER NOT NULL) WITHOUT ROWID;
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

/** The tenant acme with a public server, two tools of which one is switched off, and no index of them. */
export const firstTenantRows = `
  UPDATE meta SET value = 3 WHERE key = 'generation';
  INSERT INTO meta (key, value) VALUES ('tenant', 'acme'), ('steps', 1);
  INSERT INTO server (name, config, visibility, digest, revision, overlay, generation, last_synced, flags, summary, created_at, updated_at, deleted_at, public_since, withdrawn)
    VALUES ('s', '{"tenant":"acme","name":"s","visibility":"public"}', 'public', 'sha256-9e06d19210358923a14b379fce285c8459c07c97e7fc398c653d2c3e6ae972e8', 1, 3, 3, '2026-11-18T00:58:28.532Z', '[]', '{"counts":{"tool":2},"tokens":16,"attributes":{"values":[["provider","mcp",1]]}}', '2026-11-18T00:58:28.303Z', '2026-11-18T00:58:28.573Z', NULL, 1, 0);
  INSERT INTO capability (server, kind, digest, key, id, declared, tokens, flags, created_at, first_revision, last_revision)
    VALUES ('s', 'tool', 'sha256-63ed983b7f1306998145a9ddf411dd3804b7e6b89ea23606c5c4c45f914bcb71', 'apple', 'mcp.s.apple', '{"description":"Eats apples.","name":"apple"}', 11, '[]', NULL, 1, NULL);
  INSERT INTO capability (server, kind, digest, key, id, declared, tokens, flags, created_at, first_revision, last_revision)
    VALUES ('s', 'tool', 'sha256-c53c54276490b128ac1b27c0cd255af025a81b9ed61886ae51fc032abe0c985e', 'pear', 'mcp.s.pear', '{"name":"pear"}', 5, '[]', NULL, 1, NULL);
  INSERT INTO revision (server, number, digest, generation, published_at, published_by, changes, header, layout)
    VALUES ('s', 1, 'sha256-9e06d19210358923a14b379fce285c8459c07c97e7fc398c653d2c3e6ae972e8', 2, '2026-11-18T00:58:28.532Z', 'tester', '{"breaking":0,"additive":2,"cosmetic":0,"removed":0}', '{}', '[["tool","sha256-63ed983b7f1306998145a9ddf411dd3804b7e6b89ea23606c5c4c45f914bcb71"],["tool","sha256-c53c54276490b128ac1b27c0cd255af025a81b9ed61886ae51fc032abe0c985e"]]');
  INSERT INTO disabled (server, kind, key)
    VALUES ('s', 'tool', 'pear');
  INSERT INTO change (sequence, generation, at, server, kind, key, classification, from_digest, to_digest, reasons, previous, hash)
    VALUES (1, 1, '2026-11-18T00:58:28.303Z', 's', 'server', 's', 'additive', NULL, NULL, '[]', 'genesis:acme', 'sha256-1a76d67f92d8255e5bdf161777332ed8a9cd5a60427af6a431078bf09e8bd22d');
  INSERT INTO change (sequence, generation, at, server, kind, key, classification, from_digest, to_digest, reasons, previous, hash)
    VALUES (2, 2, '2026-11-18T00:58:28.532Z', 's', 'tool', 'apple', 'additive', NULL, 'sha256-63ed983b7f1306998145a9ddf411dd3804b7e6b89ea23606c5c4c45f914bcb71', '[]', 'sha256-1a76d67f92d8255e5bdf161777332ed8a9cd5a60427af6a431078bf09e8bd22d', 'sha256-138e9227cac80f8ede8669220d88f967182f0258a3725d2a9dc2f81624c25ce8');
  INSERT INTO change (sequence, generation, at, server, kind, key, classification, from_digest, to_digest, reasons, previous, hash)
    VALUES (3, 2, '2026-11-18T00:58:28.532Z', 's', 'tool', 'pear', 'additive', NULL, 'sha256-c53c54276490b128ac1b27c0cd255af025a81b9ed61886ae51fc032abe0c985e', '[]', 'sha256-138e9227cac80f8ede8669220d88f967182f0258a3725d2a9dc2f81624c25ce8', 'sha256-858e261065fe60d2ca3fc56b4b545bcb3f08d1eb210dbf647b3b8c86fe2e333f');
  INSERT INTO change (sequence, generation, at, server, kind, key, classification, from_digest, to_digest, reasons, previous, hash)
    VALUES (4, 3, '2026-11-18T00:58:28.573Z', 's', 'tool', 'pear', 'breaking', NULL, NULL, '[{"path":"","classification":"breaking","message":"switched off"}]', 'sha256-858e261065fe60d2ca3fc56b4b545bcb3f08d1eb210dbf647b3b8c86fe2e333f', 'sha256-1dee454b9f07f4f9f765cbf8b2e3477f251f4f3d533d24774589d055d7d22978');
`;

/** The directory with one server that is not public. */
export const firstDirectoryRows = `
  INSERT INTO meta (key, value) VALUES ('steps', 1);
  UPDATE meta SET value = 1 WHERE key = 'generation';
  INSERT INTO server (tenant, name, generation, public, entry) VALUES ('acme', 's', 3, 0,
    '{"tenant":"acme","name":"s","visibility":"tenant","status":"active","generation":3,"updatedAt":"2026-01-01T00:00:03.000Z","probe":"unknown","attributes":[]}');
`;
