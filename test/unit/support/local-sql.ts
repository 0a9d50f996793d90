import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";

/** As much of an object's storage as a test needs, over SQLite in this process. */
export function openLocalSql(file: string): SqlStorage {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -262144");
  const prepared = new Map<string, StatementSync>();
  const statementOf = (query: string) => {
    const known = prepared.get(query) ?? database.prepare(query);
    prepared.set(query, known);
    return known;
  };
  const exec = (query: string, ...values: unknown[]) => {
    if (values.length === 0 && query.includes(";")) {
      database.exec(query);
      return cursorOver([]);
    }
    const bound = values.map((value) => (value instanceof ArrayBuffer ? new Uint8Array(value) : value));
    return cursorOver(statementOf(query).all(...(bound as SQLInputValue[])));
  };
  return { exec } as unknown as SqlStorage;
}

function cursorOver(found: Record<string, unknown>[]) {
  const rows = found.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, withOwnBuffer(value)])),
  );
  return {
    toArray: () => rows,
    one: () => rows[0],
    [Symbol.iterator]: () => rows[Symbol.iterator](),
  };
}

/** An object's storage answers blobs as buffers of their own. */
function withOwnBuffer(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value;
  return value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength);
}
