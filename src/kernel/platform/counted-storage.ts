import { objectUsage, type Usage } from "./usage.ts";

/** What objects use of their storage. */
export type ObjectStorage = Pick<DurableObjectStorage, "sql" | "transactionSync" | "setAlarm" | "deleteAlarm">;

/** An object's storage whose rows are counted. */
export function countedStorage(storage: DurableObjectStorage): ObjectStorage {
  return {
    sql: countedSql(storage.sql, objectUsage),
    transactionSync: (work) => storage.transactionSync(work),
    setAlarm: (time) => storage.setAlarm(time),
    deleteAlarm: () => storage.deleteAlarm(),
  };
}

/** The same for an object that keeps values by key, each of which is a row. */
export function countedValues(kv: SyncKvStorage): Pick<SyncKvStorage, "get" | "put"> {
  return {
    get(key) {
      objectUsage.rowsRead += 1;
      return kv.get(key);
    },
    put(key, value) {
      objectUsage.rowsWritten += 1;
      kv.put(key, value);
    },
  };
}

function countedSql(sql: SqlStorage, operations: Usage): SqlStorage {
  const exec = <T extends Record<string, SqlStorageValue>>(query: string, ...bindings: SqlStorageValue[]) =>
    new CountedCursor<T>(sql.exec<T>(query, ...bindings), operations);
  // The one verb that objects use: all else of SqlStorage is for whoever runs the platform.
  return { exec } as unknown as SqlStorage;
}

/**
 * A cursor's counts grow while it is read. What it cost is added as it is read, so that the sums are right however far a
 * reader goes, and nothing has to remember cursors that are still open.
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

  /** Counted once, when whoever reads the rows has enough of them: asking after each costs as much as reading it. */
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
