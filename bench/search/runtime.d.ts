/**
 * The few of the runtime's types that the code of the index names. All of them at once would collide with those of the
 * browser, which the commands are checked with.
 */
type SqlStorageValue = ArrayBuffer | string | number | null;

interface SqlStorageCursor<T> extends Iterable<T> {
  toArray(): T[];
  one(): T;
}

interface SqlStorage {
  exec<T extends Record<string, SqlStorageValue> = Record<string, SqlStorageValue>>(
    query: string,
    ...values: unknown[]
  ): SqlStorageCursor<T>;
}
