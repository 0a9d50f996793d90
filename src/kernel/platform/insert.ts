/** Inserts one row: every column is named once. Columns that are left out take their default. */
export function insert(sql: SqlStorage, table: string, row: Record<string, SqlStorageValue>): void {
  const columns = Object.keys(row);
  const places = columns.map(() => "?").join(", ");
  sql.exec(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})`, ...Object.values(row));
}
