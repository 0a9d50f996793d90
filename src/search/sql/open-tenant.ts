import type { SearchState } from "../contract.ts";

/** Whether a tenant has no server for members alone. A look at every server, so it is remembered while nothing is written. */
export class OpenTenant {
  #seen: { generation: number; isAllPublic: boolean } | undefined;

  state(sql: SqlStorage, generation: number, outbox: { owesDirectory(): boolean }): SearchState {
    if (this.#seen?.generation !== generation) {
      const hidden = sql.exec("SELECT 1 FROM server WHERE public_since IS NULL AND deleted_at IS NULL LIMIT 1");
      this.#seen = { generation, isAllPublic: hidden.toArray().length === 0 };
    }
    return { isAllPublic: this.#seen.isAllPublic && !outbox.owesDirectory() };
  }
}
