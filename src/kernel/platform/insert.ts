/**
 * Inserts one row. Columns that are left out get their defaults. `onConflict` is the SQL clause for a row that already
 * exists.
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
