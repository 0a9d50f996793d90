import { analysisUnits } from "../../kernel/pace/pace.ts";
import type { ObjectStorage } from "../../kernel/platform/counted-storage.ts";
import { createWorkerPace } from "../../kernel/platform/worker-pace.ts";
import { definitionText } from "../../manifest/definition.ts";
import { loadTokenizer } from "../../manifest/tokens.ts";
import type { WriteContext } from "../../registry/sql/listener.ts";
import { enqueueTask } from "../../registry/sql/outbox-table.ts";
import {
  finishReanalysis,
  needsReanalysis,
  type StaleItem,
  staleItems,
  storeAnalysis,
  takeDueReanalysis,
} from "../../registry/sql/reanalysis.ts";
import { findRevision } from "../../registry/sql/revisions.ts";

/** How long another run waits for one that may have died with its instance. */
const retryAfterMs = 60_000;
/** About 2 s of counting in one run. The alarm starts the next one. */
const charactersPerRun = 6_000_000;

/** Derives stored tokens and flags again after a release that derives them differently, one slice at a time. */
export class Reanalysis {
  readonly #storage: ObjectStorage;
  readonly #context: WriteContext;
  readonly #onChanged: (server: string) => void;
  #isRunning = false;

  /** `onChanged` runs in the transaction that logs other flags of a server. */
  constructor(storage: ObjectStorage, context: WriteContext, onChanged: (server: string) => void) {
    this.#storage = storage;
    this.#context = context;
    this.#onChanged = onChanged;
  }

  /** Goes on with the servers that are due. Returns whether any was finished, or is left for the next run. */
  async runDue(now: number): Promise<boolean> {
    if (this.#isRunning) return false;
    const { sql } = this.#context;
    const servers = takeDueReanalysis(sql, now, now + retryAfterMs);
    if (servers.length === 0) return false;
    this.#isRunning = true;
    try {
      let left = charactersPerRun;
      for (const server of servers) {
        left -= await this.#update(server, left);
        if (left > 0) this.#storage.transactionSync(() => this.#finish(server));
        else enqueueTask(sql, "reanalyse", server);
      }
    } finally {
      this.#isRunning = false;
    }
    return true;
  }

  #finish(server: string): void {
    if (finishReanalysis(this.#context, server, new Date().toISOString())) this.#onChanged(server);
  }

  /** Brings the items of one revision up to date before a body with them is read. */
  async ensure(server: string, digest: string): Promise<void> {
    const { sql } = this.#context;
    if (!needsReanalysis(sql, server)) return;
    const revision = findRevision(sql, server, digest);
    if (revision !== undefined) await this.#update(server, Number.POSITIVE_INFINITY, revision.number);
  }

  /** Updates items until none is left or the limit is reached. Returns how many characters were counted. */
  async #update(server: string, limit: number, revision?: number): Promise<number> {
    const { sql } = this.#context;
    const count = await loadTokenizer();
    const pace = createWorkerPace();
    let characters = 0;
    let last: StaleItem | undefined;
    while (characters < limit) {
      const items = staleItems(sql, server, last, revision);
      last = items.at(-1);
      if (last === undefined) break;
      let units = 0;
      const counted = items.map((item) => {
        const text = definitionText(item.kind, item.declared);
        characters += item.declared.length;
        units += analysisUnits(item.declared.length);
        return { ...item, tokens: count(text) };
      });
      this.#storage.transactionSync(() => storeAnalysis(this.#context, server, counted));
      await pace.spend(units);
    }
    return characters;
  }
}
