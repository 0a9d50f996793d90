/**
 * Inserts one row: every column is named once, and those that are left out take their default. `onConflict` says what
 * happens to a row that is there already.
 */
export function insert(
  sql: SqlStorage,
  table: string,
  row: Readonly<Record<string, SqlStorageValue>>,
  onConflict = "",
): void {
  const columns = Object.keys(row);
  const values = columns.map(() => "?").join(", ");
  sql.exec(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${values}) ${onConflict}`, ...Object.values(row));
}
