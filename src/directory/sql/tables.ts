/**
 * The segments that the builder has written or is about to write. A key is used once: an id never comes back.
 *
 * `changed` of a server is the public generation at which anything public of it last changed.
 */
export const segmentTables = `
  ALTER TABLE server ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX server_changed ON server (changed) WHERE changed > 0;
  CREATE TABLE segment (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    epoch INTEGER NOT NULL,
    state TEXT NOT NULL,
    bytes INTEGER NOT NULL DEFAULT 0,
    chunks INTEGER NOT NULL DEFAULT 0,
    places TEXT NOT NULL DEFAULT '[]',
    dropped_at INTEGER
  );
  INSERT INTO meta (key, value) VALUES ('public_generation', 0), ('epoch', 0), ('built', -1), ('root', -1);
`;
