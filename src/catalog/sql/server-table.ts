import { compareServers, type ServerRef, type TenantKey } from "../../kernel/names.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { CatalogEntry } from "../../registry/summary.ts";
import type { CatalogCaller } from "../contract.ts";
import { createIntern, firstFrom, type ListedRow, type ListingSource, listedRow } from "../listing.ts";

interface Listed {
  ref: ServerRef;
  isPublic: boolean;
  row: ListedRow;
}

/**
 * Every server of the directory in memory, so that the object answers as the isolates do and needs no tables to filter and
 * count by. Read from the directory's rows when it is first needed, and then changed with them.
 */
export class ServerTable {
  readonly #sql: SqlStorage;
  #intern = createIntern();
  #rows: Listed[] | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Call for every change of a row; `entry` is undefined for a removed server. */
  put(ref: ServerRef, entry: CatalogEntry | undefined): void {
    if (this.#rows === undefined) return;
    const rows = this.#rows;
    const at = firstFrom(rows.length, (index) => compareServers(rows[index]?.ref ?? ref, ref));
    const found = rows[at];
    const known = found !== undefined && compareServers(found.ref, ref) === 0;
    if (entry === undefined) rows.splice(at, known ? 1 : 0);
    else rows.splice(at, known ? 1 : 0, this.#listed(ref, entry));
  }

  /** Forgets everything: after a transaction that may have been undone. */
  clear(): void {
    this.#rows = undefined;
    this.#intern = createIntern();
  }

  /** What the caller may see. No other row ever leaves here. */
  sourceFor(caller: CatalogCaller): ListingSource {
    const rows = this.#loaded();
    const own = new Set<string>(caller === "admin" ? [] : caller);
    const refAt = (at: number) => {
      const ref = rows[at]?.ref;
      if (ref === undefined) throw new Error(`there is no server ${at}`);
      return ref;
    };
    return {
      length: rows.length,
      rowAt(at) {
        const listed = rows[at];
        if (listed === undefined) return undefined;
        const isSeen = caller === "admin" || listed.isPublic || own.has(listed.ref.tenant);
        return isSeen ? listed.row : undefined;
      },
      refAt,
      firstFrom: (server) => firstFrom(rows.length, (at) => compareServers(refAt(at), server)),
      entryAt: (at) => this.#entryOf(refAt(at)),
    };
  }

  /** Servers of these tenants that are not public; undefined if there are more than `limit`. */
  privateEntries(tenants: readonly TenantKey[], limit: number): CatalogEntry[] | undefined {
    const entries: CatalogEntry[] = [];
    for (const tenant of tenants) {
      const rows = this.#sql.exec<{ entry: string }>(
        "SELECT entry FROM server WHERE tenant = ? AND public = 0 AND entry IS NOT NULL ORDER BY name LIMIT ?",
        tenant,
        limit + 1 - entries.length,
      );
      for (const { entry } of rows.toArray()) entries.push(readJson(entry) as CatalogEntry);
      if (entries.length > limit) return undefined;
    }
    return entries;
  }

  #entryOf({ tenant, name }: ServerRef): CatalogEntry {
    const { entry } = this.#sql
      .exec<{ entry: string }>("SELECT entry FROM server WHERE tenant = ? AND name = ?", tenant, name)
      .one();
    return readJson(entry) as CatalogEntry;
  }

  #loaded(): Listed[] {
    if (this.#rows !== undefined) return this.#rows;
    const stored = this.#sql.exec<{ tenant: TenantKey; name: string; entry: string }>(
      "SELECT tenant, name, entry FROM server WHERE entry IS NOT NULL ORDER BY tenant, name",
    );
    const rows: Listed[] = [];
    for (const { tenant, name, entry } of stored)
      rows.push(this.#listed({ tenant, name }, readJson(entry) as CatalogEntry));
    this.#rows = rows;
    return rows;
  }

  #listed(ref: ServerRef, entry: CatalogEntry): Listed {
    return { ref, isPublic: entry.visibility === "public", row: listedRow(ref.tenant, entry, this.#intern) };
  }
}
