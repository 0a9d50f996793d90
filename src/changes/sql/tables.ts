/** Objects that are notified of writes. */
export const watcherTables = `
  CREATE TABLE watcher (
    id TEXT PRIMARY KEY,
    until INTEGER NOT NULL
  ) WITHOUT ROWID;
`;
