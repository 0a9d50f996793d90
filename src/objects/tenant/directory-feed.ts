import { type DirectoryState, isAsNewAs } from "../../http/directory-state.ts";
import { tenantKey } from "../../kernel/names.ts";
import type { ServerVersion } from "../../official/contract.ts";
import { type VersionBatch, versionBatch } from "../../official/sql/directory-batch.ts";
import { markAllPending, markSent } from "../../official/sql/tenant-versions.ts";
import type { ServerConfig } from "../../registry/schema.ts";
import { enqueueTask } from "../../registry/sql/outbox-table.ts";
import { entryOf, findRow, type ServerRow } from "../../registry/sql/servers.ts";
import { shownTenant, tenantOf } from "../../registry/sql/tenant-name.ts";
import { directoryEntry, probeOf } from "../../registry/summary.ts";
import type { ItemChange } from "../../search/contract.ts";
import { markItemsPending, type PendingItem, pendingItems, removePending } from "../../search/sql/pending-items.ts";
import { indexedItem } from "../../search/sql/tenant-cards.ts";
import type { Directory } from "../contract.ts";
import type { DirectoryChange, ListedChange } from "../directory/contract.ts";

/** Limits of one batch: the directory serves all tenants and applies a batch in one transaction. */
const batchItems = 200;
const batchBytes = 512 * 1024;

interface BatchBudget {
  items: number;
  bytes: number;
}

interface SentBatch {
  change: DirectoryChange;
  items: PendingItem[];
  versions: ServerVersion[];
  complete: boolean;
}

/**
 * Sends the directory the current state of servers, and the pending items and versions of public ones. Accepted items
 * are recorded in memory and removed from the pending table only by `settle`: a writer may be waiting, and every row
 * written now would delay its response until it is on disk.
 */
export class DirectoryFeed {
  readonly #sql: SqlStorage;
  readonly #directory: () => Pick<Directory, "update">;
  readonly #loadVectors: () => Promise<unknown> | undefined;
  readonly #acceptedItems = new Map<string, PendingItem>();
  /** Servers of which the directory has a newer generation than this object. */
  readonly #refused = new Set<string>();
  #state: DirectoryState | undefined;
  readonly #acceptedVersions = new Map<string, { server: string; version: ServerVersion }>();

  constructor(
    sql: SqlStorage,
    directory: () => Pick<Directory, "update">,
    loadVectors: () => Promise<unknown> | undefined,
  ) {
    this.#sql = sql;
    this.#directory = directory;
    this.#loadVectors = loadVectors;
  }

  /** Sends one batch. Returns the servers with more items or versions to send. */
  async update(names: readonly string[]): Promise<string[]> {
    // Items that an earlier release wrote get their vectors on the way.
    const loading = this.#loadVectors();
    if (loading !== undefined) await loading;
    const room: BatchBudget = { items: batchItems, bytes: batchBytes };
    const sent = names.flatMap((name) => this.#batchOf(name, room) ?? []);
    const { accepted, state } = await this.#directory().update(sent.map(({ change }) => change));
    this.#noteState(state);
    const unfinished: string[] = [];
    sent.forEach(({ change, items, versions, complete }, index) => {
      const { name: server } = change;
      // The directory has a newer generation of this server than this object: after a restore to an earlier point in
      // time, or if an abandoned call arrives late. The items stay pending until the next write.
      if (!accepted[index]) {
        this.#refused.add(server);
        return;
      }
      this.#refused.delete(server);
      for (const item of items) this.#acceptedItems.set(slotOf(item), item);
      for (const version of versions) this.#acceptedVersions.set(`${server} ${version.version}`, { server, version });
      if (!complete) unfinished.push(server);
    });
    return unfinished;
  }

  /** A state of the directory that has what was sent of a server; undefined if it took nothing since this object started. */
  stateWith(name: string): DirectoryState | undefined {
    return this.#refused.has(name) ? undefined : this.#state;
  }

  /** A state of the directory that has everything it took. It is asked once if it took nothing since this object started. */
  async state(): Promise<DirectoryState | undefined> {
    if (this.#state === undefined) this.#noteState((await this.#directory().update([])).state);
    return this.#state;
  }

  /** Answers may come in any order. */
  #noteState(state: DirectoryState): void {
    if (this.#state === undefined || isAsNewAs(state, this.#state)) this.#state = state;
  }

  removeAccepted(): void {
    for (const item of this.#acceptedItems.values()) removePending(this.#sql, item);
    this.#acceptedItems.clear();
    for (const { server, version } of this.#acceptedVersions.values()) markSent(this.#sql, server, version);
    this.#acceptedVersions.clear();
  }

  #batchOf(name: string, room: BatchBudget): SentBatch | undefined {
    const row = findRow(this.#sql, name);
    if (row === undefined) return undefined;
    const shown = shownTenant(this.#sql);
    const tenant = tenantKey(shown);
    const { generation, updated_at: updatedAt } = row;
    const { config, summary, head } = entryOf(this.#sql, shown, row, generation);
    if (row.deleted_at !== null) {
      const removal = { tenant, name, generation, endedAt: row.deleted_at };
      if (row.visibility !== "public") return { change: removal, items: [], versions: [], complete: true };
      const { sent, versions, complete } = this.#versions(row, config, room);
      return { change: { ...removal, versions }, items: [], versions: sent, complete };
    }
    const entry: ListedChange = {
      ...directoryEntry(config, summary, head, updatedAt),
      tenant,
      spelling: shown === tenant ? undefined : shown,
      probe: probeOf((head.sources ?? []).map(({ status }) => status)),
      attributes: (summary.attributes?.values ?? []).map(([dimension, value]) => [dimension, value]),
    };
    if (row.public_since === null) return { change: entry, items: [], versions: [], complete: true };
    const { items, changed, complete } = this.#batch(row, room);
    const { sent, versions, complete: allVersions } = this.#versions(row, config, room);
    return {
      change: { ...entry, items: { publicSince: row.public_since, changed, complete }, versions },
      items,
      versions: sent,
      complete: complete && allVersions,
    };
  }

  #versions(row: ServerRow, config: ServerConfig, room: BatchBudget): VersionBatch {
    const isSent = ({ version, generation }: ServerVersion) =>
      this.#acceptedVersions.get(`${row.name} ${version}`)?.version.generation === generation;
    return versionBatch(this.#sql, row, config, isSent, this.#acceptedVersions.size, room);
  }

  /** As many of a server's pending items as fit the batch. */
  #batch(row: ServerRow, room: BatchBudget): { items: PendingItem[]; changed: ItemChange[]; complete: boolean } {
    const pending = pendingItems(this.#sql, row.name, room.items + this.#acceptedItems.size + 1).filter(
      (item) => this.#acceptedItems.get(slotOf(item))?.generation !== item.generation,
    );
    const items: PendingItem[] = [];
    const changed: ItemChange[] = [];
    for (const item of pending) {
      // Checked before an item is added, so every batch makes progress however large an item is. An item is at most a
      // few columns of text.
      if (room.items <= 0 || room.bytes <= 0) break;
      const { kind, key } = item;
      const indexed = indexedItem(this.#sql, row.name, { kind, key });
      const change: ItemChange = { kind, key, indexed };
      room.items -= 1;
      room.bytes -= bytesOf(change);
      items.push(item);
      changed.push(change);
    }
    return { items, changed, complete: items.length === pending.length };
  }
}

/** Enqueues every server for the directory, deleted ones included, with all their items and versions. */
export function enqueueDirectoryAll(sql: SqlStorage): void {
  const tenant = tenantOf(sql);
  const servers = sql.exec<Pick<ServerRow, "name" | "generation" | "public_since">>(
    "SELECT name, generation, public_since FROM server",
  );
  for (const { name, generation, public_since } of servers.toArray()) {
    if (public_since !== null) markItemsPending(sql, tenant, name, generation);
    enqueueTask(sql, "directory", name);
  }
  markAllPending(sql);
}

/** Two bytes per character: an upper bound of the serialised size. */
function bytesOf({ key, indexed }: ItemChange): number {
  if (indexed === undefined) return 2 * key.length;
  const { card, bag, vector } = indexed;
  const packed = bag.byteLength + (vector?.byteLength ?? 0);
  return Object.values(card).reduce<number>((sum, text) => sum + 2 * String(text ?? "").length, packed);
}

function slotOf({ server, kind, key }: PendingItem): string {
  return `${server} ${kind} ${key}`;
}
