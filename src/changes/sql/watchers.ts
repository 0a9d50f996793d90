import type { ObjectStorage } from "../../kernel/platform/counted-storage.ts";

/** Watchers of a tenant without tables, by id, with the time until which they watch. */
const earlyWatchers = "watchers";

/**
 * Objects with live streams, notified of the tenant's writes until their streams must have ended. Before the tenant's
 * first write there are no tables: watchers wait beside them, to be told of that write.
 */
export class Watchers {
  readonly #storage: Pick<ObjectStorage, "sql" | "kv">;
  readonly #isReady: () => boolean;

  constructor(storage: Pick<ObjectStorage, "sql" | "kv">, isReady: () => boolean) {
    this.#storage = storage;
    this.#isReady = isReady;
  }

  add(watcher: string, until: number): void {
    if (!this.#isReady()) {
      this.#putEarly({ ...this.#early(), [watcher]: until });
      return;
    }
    this.#storage.sql.exec(
      "INSERT INTO watcher (id, until) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET until = max(until, ?2)",
      watcher,
      until,
    );
  }

  drop(watcher: string): void {
    if (this.#isReady()) {
      this.#storage.sql.exec("DELETE FROM watcher WHERE id = ?", watcher);
      return;
    }
    const { [watcher]: known, ...others } = this.#early();
    if (known !== undefined) this.#putEarly(others);
  }

  /** Active watchers. Expired ones are deleted. */
  active(now: number): string[] {
    const { sql } = this.#storage;
    const rows = sql.exec<{ id: string; until: number }>("SELECT id, until FROM watcher").toArray();
    if (rows.some(({ until }) => until <= now)) sql.exec("DELETE FROM watcher WHERE until <= ?", now);
    return rows.flatMap(({ id, until }) => (until > now ? [id] : []));
  }

  /** Call when the tables have just been created. */
  moveToTable(): void {
    const early = Object.entries(this.#early());
    if (early.length === 0) return;
    for (const [id, until] of early) {
      this.#storage.sql.exec("INSERT INTO watcher (id, until) VALUES (?, ?)", id, until);
    }
    this.#storage.kv.delete(earlyWatchers);
  }

  #early(): Record<string, number> {
    return this.#storage.kv.get<Record<string, number>>(earlyWatchers) ?? {};
  }

  #putEarly(watchers: Record<string, number>): void {
    if (Object.keys(watchers).length === 0) this.#storage.kv.delete(earlyWatchers);
    else this.#storage.kv.put(earlyWatchers, watchers);
  }
}
