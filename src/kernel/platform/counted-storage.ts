import { objectUsage, type Usage } from "./usage.ts";

/** The storage methods that objects use. */
export interface ObjectStorage
  extends Pick<DurableObjectStorage, "sql" | "transactionSync" | "setAlarm" | "deleteAlarm"> {
  kv: ObjectValues;
}

type ObjectValues = Pick<SyncKvStorage, "get" | "put" | "delete">;

/** Counts the rows that an object reads and writes in SQL. */
export function countedStorage(storage: DurableObjectStorage, usage = objectUsage): ObjectStorage {
  return {
    sql: countedSql(storage.sql, usage),
    kv: countedValues(storage.kv),
    transactionSync: (work) => storage.transactionSync(work),
    setAlarm: (time) => storage.setAlarm(time),
    deleteAlarm: () => storage.deleteAlarm(),
  };
}

/** Counts reads and writes of an object's key-value storage; each value is one row. */
export function countedValues(kv: SyncKvStorage): ObjectValues {
  return {
    get(key) {
      objectUsage.rowsRead += 1;
      return kv.get(key);
    },
    put(key, value) {
      objectUsage.rowsWritten += 1;
      kv.put(key, value);
    },
    delete(key) {
      objectUsage.rowsWritten += 1;
      return kv.delete(key);
    },
  };
}

function countedSql(sql: SqlStorage, operations: Usage): SqlStorage {
  const exec = <T extends Record<string, SqlStorageValue>>(query: string, ...bindings: SqlStorageValue[]) =>
    new CountedCursor<T>(sql.exec<T>(query, ...bindings), operations);
  // Objects use only `exec`; the rest of SqlStorage is left out.
  return { exec } as unknown as SqlStorage;
}

/**
 * A cursor's row counts grow while it is read. Each read adds the difference to the totals, so the totals are right
 * even if the reader stops early, and open cursors need not be tracked.
 */
class CountedCursor<T extends Record<string, SqlStorageValue>> {
  readonly #cursor: SqlStorageCursor<T>;
  readonly #operations: Usage;
  #read = 0;
  #written = 0;

  constructor(cursor: SqlStorageCursor<T>, operations: Usage) {
    this.#cursor = cursor;
    this.#operations = operations;
    this.#count();
  }

  toArray(): T[] {
    const rows = this.#cursor.toArray();
    this.#count();
    return rows;
  }

  one(): T {
    try {
      return this.#cursor.one();
    } finally {
      this.#count();
    }
  }

  next(): IteratorResult<T, undefined> {
    const step = this.#cursor.next();
    this.#count();
    return step;
  }

  /**
   * Counted once, when the reader finishes or stops: reading the counts after each row costs as much as reading the
   * row.
   */
  *[Symbol.iterator](): Generator<T, undefined> {
    try {
      for (const row of this.#cursor) yield row;
    } finally {
      this.#count();
    }
  }

  get rowsRead(): number {
    return this.#cursor.rowsRead;
  }

  get rowsWritten(): number {
    return this.#cursor.rowsWritten;
  }

  #count(): void {
    const { rowsRead, rowsWritten } = this.#cursor;
    this.#operations.rowsRead += rowsRead - this.#read;
    this.#operations.rowsWritten += rowsWritten - this.#written;
    this.#read = rowsRead;
    this.#written = rowsWritten;
  }
}
