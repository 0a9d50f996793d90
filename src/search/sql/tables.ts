/**
 * `card_text` stores no text, only postings by card number. The number is a declared key because SQLite may renumber an
 * undeclared rowid, which would then point to another card's terms.
 */
const cardTables = `
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
`;

/** A tenant's card index, and the items whose current state the directory has not received yet. */
export const tenantSearchTables = `
  ${cardTables}
  CREATE TABLE pending_item (
    server TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    generation INTEGER NOT NULL,
    PRIMARY KEY (server, kind, key)
  ) WITHOUT ROWID;
`;

/**
 * The directory's card index of public servers. `public_since` and `items_generation` of a server say which of its
 * items are indexed.
 *
 * `term_count` is the number of cards that contain a term. To count a common term, the full-text index would read all
 * its postings, up to one per public item; so counts are updated as cards are added and removed.
 */
export const directorySearchTables = `
  ${cardTables}
  CREATE TABLE indexed_server (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    public_since INTEGER NOT NULL,
    items_generation INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
  ) WITHOUT ROWID;
  CREATE TABLE term_count (token TEXT PRIMARY KEY, items INTEGER NOT NULL) WITHOUT ROWID;
`;

/** What was known of an item when its card was written. Cards of earlier releases have neither until they are rewritten. */
export const cardRecordColumns = `
  ALTER TABLE card ADD COLUMN flags TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE card ADD COLUMN deprecated TEXT;
`;
