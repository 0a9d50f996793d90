/**
 * `card_text` keeps no text, only which terms are where, under the number of the card. That number is a declared key
 * because a rowid that is not may be renumbered, and would then point at another item's terms.
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

/** A tenant's index of its own items, and which of them the directory has not heard of yet. */
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
 * The directory's index of the items of public servers. A server's `public_since` and `items_generation` say which of
 * its items are here.
 *
 * `term_count` has how many cards have a term. The full-text index would have to read all places of a common term to say
 * so, and of those a directory has as many as there are public items; so they are counted as cards come and go.
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
