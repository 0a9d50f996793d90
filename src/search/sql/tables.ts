/** Created with the full-text index of earlier releases, which `cardIndexColumns` removes again. */
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
 * items are indexed. `term_count` is of earlier releases.
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

/**
 * Search weighs every card in memory: the tables of the full-text index go. The columns are what an item is filtered by, and
 * its meaning.
 */
export const cardIndexColumns = `
  DROP TABLE card_vocabulary;
  DROP TABLE card_text;
  ALTER TABLE card ADD COLUMN vector BLOB;
  ALTER TABLE card ADD COLUMN attributes TEXT NOT NULL DEFAULT '[]';
`;

/** What was known of an item when its card was written. Cards of earlier releases have neither until they are rewritten. */
export const cardRecordColumns = `
  ALTER TABLE card ADD COLUMN flags TEXT NOT NULL DEFAULT '[]';
  ALTER TABLE card ADD COLUMN deprecated TEXT;
`;

export const directoryCardIndex = `${cardIndexColumns} DROP TABLE term_count;`;

/** A tenant's cards are found by the places of their items. The directory has only cards. */
export const dropCardIds = "DROP INDEX card_id;";
