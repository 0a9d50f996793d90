import type { TenantKey } from "../../kernel/names.ts";
import { countedKv } from "../../kernel/platform/counted-bindings.ts";
import type { ObjectStorage } from "../../kernel/platform/counted-storage.ts";
import { objectUsage } from "../../kernel/platform/usage.ts";
import { readJson } from "../../kernel/read-json.ts";
import { withTimeout } from "../../kernel/timeout.ts";
import { headKey } from "../../registry/cache/keys.ts";
import type { Head, HeadStamp, NamedStamp } from "../../registry/contract.ts";
import { generationOf } from "../../registry/sql/change-log.ts";
import { enqueueTask } from "../../registry/sql/outbox-table.ts";
import { findRow } from "../../registry/sql/servers.ts";
import { markItemsPending } from "../../search/sql/pending-items.ts";
import type { Outbox } from "./outbox.ts";

export function stampOf({ generation, asOf, overlay }: Head): HeadStamp {
  return { generation, asOf, overlay };
}

interface RestoreOptions {
  storage: Pick<ObjectStorage, "sql" | "transactionSync">;
  kv: KVNamespace;
  outbox: Pick<Outbox, "enqueueHead" | "arm" | "drain">;
}

/** How long a write waits for KV. */
const patienceMs = 3_000;

/**
 * Notices that the object was set back to an earlier point in time while KV was not, and has what others know replaced by
 * what the object has: generations go on above everything that was ever shown. One list of KV before the first write after
 * the object woke; nothing after that.
 */
export class RestoreCheck {
  readonly #options: RestoreOptions;
  #check: Promise<void> | undefined;
  #isDone = false;

  constructor(options: RestoreOptions) {
    this.#options = options;
  }

  /** Call before a write, outside its transaction. Undefined once the object has been compared with KV. */
  beforeWrite(tenant: TenantKey): Promise<undefined> | undefined {
    return this.#isDone ? undefined : this.compare(tenant);
  }

  /** KV need not be there for a write. A comparison that takes longer goes on; if it failed, the next write compares. */
  async compare(tenant: TenantKey): Promise<undefined> {
    this.#check ??= this.#compare(tenant).finally(() => {
      this.#check = undefined;
    });
    try {
      await withTimeout(this.#check, patienceMs);
    } catch (cause) {
      console.error(JSON.stringify({ event: "restore-check", tenant, cause: String(cause) }));
    }
    return undefined;
  }

  /** What a reader was shown may be later than what KV has: its write to KV may never have been made. */
  async compareWith(tenant: TenantKey, shown: NamedStamp): Promise<void> {
    await this.compare(tenant);
    const { sql } = this.#options.storage;
    const known = findRow(sql, shown.name)?.generation ?? 0;
    const highest = Math.max(shown.asOf, generationOf(sql));
    if (highest > generationOf(sql) || known < shown.generation) this.#raise(tenant, highest, [shown]);
  }

  async #compare(tenant: TenantKey): Promise<void> {
    const heads = await this.#storedHeads(tenant);
    this.#isDone = true;
    const highest = heads.reduce((most, { generation, asOf }) => Math.max(most, generation, asOf), 0);
    if (highest > generationOf(this.#options.storage.sql)) this.#raise(tenant, highest, heads);
  }

  #raise(tenant: TenantKey, highest: number, heads: readonly NamedStamp[]): void {
    const { storage, outbox } = this.#options;
    storage.transactionSync(() => this.#goOnAbove(tenant, highest, heads));
    // The alarm does what the end of the request cuts off.
    outbox.arm();
    void outbox.drain();
    console.error(JSON.stringify({ event: "restored", tenant, generation: highest + 1 }));
  }

  /** What the object has counts as a change of now, for every server that others know in a later state. */
  #goOnAbove(tenant: TenantKey, highest: number, heads: readonly NamedStamp[]): void {
    const { storage, outbox } = this.#options;
    const { sql } = storage;
    const generation = highest + 1;
    const at = new Date().toISOString();
    sql.exec("UPDATE meta SET value = ? WHERE key = 'generation'", generation);
    for (const { name, overlay, ...stored } of heads) {
      const row = findRow(sql, name);
      if (row !== undefined && row.generation >= stored.generation) continue;
      // A server that the object does not have any more leaves a tombstone, as a deleted one does.
      if (row === undefined) {
        sql.exec(
          `INSERT INTO server (name, config, visibility, generation, created_at, updated_at, deleted_at)
           VALUES (?1, ?2, 'tenant', ?3, ?4, ?4, ?4)`,
          ...[name, JSON.stringify({ tenant, name }), generation, at],
        );
      }
      sql.exec(
        `UPDATE server SET generation = ?2, overlay = max(overlay, ?3) + 1,
           public_since = iif(public_since IS NULL, NULL, ?2) WHERE name = ?1`,
        ...[name, generation, overlay],
      );
      // With another `public_since` the directory drops what it has of the server, and takes all of it again.
      if (row?.public_since != null) markItemsPending(sql, tenant, name, generation);
      outbox.enqueueHead(name);
      enqueueTask(sql, "directory", name);
    }
  }

  async #storedHeads(tenant: TenantKey): Promise<NamedStamp[]> {
    const kv = countedKv(this.#options.kv, objectUsage);
    const prefix = headKey(tenant, "");
    const found: NamedStamp[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await kv.list<HeadStamp>({ prefix, cursor: cursor ?? null });
      for (const { name: key, metadata } of page.keys) {
        // Earlier releases wrote none; such a head is read.
        const stamp = metadata ?? (readJson((await kv.get(key)) ?? "null") as Head | null);
        if (stamp != null) found.push({ ...stamp, name: key.slice(prefix.length) });
      }
      if (page.list_complete) return found;
      cursor = page.cursor;
    }
  }
}
