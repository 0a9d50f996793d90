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

/** Values that one statement may bind. */
const maxBound = 100;

/**
 * Rows with the same columns, as many in one statement as it may bind. A table that never uses a number twice writes down its
 * last number with every statement, which is a row as well.
 */
export function insertAll(
  sql: SqlStorage,
  table: string,
  rows: readonly Readonly<Record<string, SqlStorageValue>>[],
): void {
  const columns = Object.keys(rows[0] ?? {});
  if (columns.length === 0) return;
  const row = `(${columns.map(() => "?").join(", ")})`;
  const atOnce = Math.max(1, Math.floor(maxBound / columns.length));
  for (let at = 0; at < rows.length; at += atOnce) {
    const some = rows.slice(at, at + atOnce);
    const values = some.flatMap((one) => columns.map((column) => one[column] ?? null));
    sql.exec(`INSERT INTO ${table} (${columns.join(", ")}) VALUES ${some.map(() => row).join(", ")}`, ...values);
  }
}
