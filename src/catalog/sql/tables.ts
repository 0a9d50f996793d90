/**
 * Of earlier releases: tables that the catalogue was filtered and counted by. `attribute` gives every value of every dimension an id; id 0 is
 * the attribute that every server has. `listing` is a small row per server, scanned before its entry is read.
 */
export const catalogTables = `
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
`;

/** Everything they were for is in memory. */
export const dropCatalogTables = `
  DROP TABLE server_attribute;
  DROP TABLE attribute_count;
  DROP TABLE attribute;
  DROP TABLE listing;
`;
