import type { TenantKey } from "../../kernel/names.ts";
import { type Pace, runAtOnce, type Steps } from "../../kernel/pace/pace.ts";
import { createWorkerPace } from "../../kernel/platform/worker-pace.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { Attribute } from "../../manifest/attributes.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import type { SearchedPart } from "../index/frequencies.ts";
import { type IndexedItem, type IndexedServer, type IndexPart, partSteps } from "../index/part.ts";
import { itemVector } from "../load-word-vectors.ts";
import { inListOrder } from "./card-table.ts";

/** A part with the numbers of its cards. */
interface NumberedPart extends SearchedPart {
  /** In the order of the part's items. */
  numbers: Float64Array;
}

interface IndexRow extends Record<string, SqlStorageValue> {
  number: number;
  tenant: TenantKey;
  server: string;
  kind: CapabilityKind;
  key: string;
  title: string | null;
  deprecated: string | null;
  attributes: string;
  bag: ArrayBuffer;
  vector: ArrayBuffer | null;
}

/** Cards written since the base was built, of all its cards, before everything is built anew. */
const maxNewShare = 1 / 4;
const minNew = 200;

/**
 * The index of an object's cards in memory. Built on the first search and brought up to date when the generation has moved:
 * what was written since becomes a second part, so a write costs the next search what it changed.
 */
export class CardIndex {
  #base: NumberedPart | undefined;
  #recent: NumberedPart | undefined;
  #stamp = "";
  #preparing: Promise<void> | undefined;
  #isCurrent = false;

  /** Approximate size in memory. */
  get bytes(): number {
    return [this.#base, this.#recent].reduce((sum, of) => sum + (of === undefined ? 0 : bytesOf(of)), 0);
  }

  drop(): void {
    this.#base = undefined;
    this.#recent = undefined;
    this.#stamp = "";
    this.#isCurrent = false;
  }

  /**
   * Brings the index up to date with pauses. Returns undefined if it is; `parts` is then to be called at once. Many searches wait
   * for the same one. What is written meanwhile is added by `parts`.
   */
  prepare(sql: SqlStorage, generation: number, pace = createWorkerPace()): Promise<void> | undefined {
    const stamp = stampOf(sql, generation);
    this.#isCurrent = stamp === this.#stamp;
    if (this.#isCurrent) return undefined;
    this.#preparing ??= this.#refresh(sql, stamp, pace).finally(() => {
      this.#preparing = undefined;
    });
    return this.#preparing;
  }

  async #refresh(sql: SqlStorage, stamp: string, pace: Pace): Promise<void> {
    await pace.run(this.#refreshSteps(sql));
    this.#stamp = stamp;
  }

  /** The parts of the index at this generation of the object. */
  parts(sql: SqlStorage, generation: number): readonly NumberedPart[] {
    // Asked right behind `prepare`, nothing can have changed.
    if (!this.#isCurrent) {
      const stamp = stampOf(sql, generation);
      if (stamp !== this.#stamp) runAtOnce(this.#refreshSteps(sql));
      this.#stamp = stamp;
    }
    this.#isCurrent = false;
    return [this.#base, this.#recent].filter((part) => part !== undefined);
  }

  /** The parts are replaced at the end, in one piece: others use the ones before until then. */
  *#refreshSteps(sql: SqlStorage): Steps<void> {
    const base = this.#base;
    const newest = newestCard(sql);
    const highest = base?.numbers.reduce((most, number) => Math.max(most, number), 0) ?? 0;
    const isNew = base === undefined || newCards(sql, highest) > Math.max(minNew, maxNewShare * base.numbers.length);
    if (base === undefined || isNew) {
      const whole = yield* readPartSteps(sql, 0, newest);
      this.#base = { ...whole, gone: goneOf(sql, whole, newest) };
      this.#recent = undefined;
      return;
    }
    const recent = yield* readPartSteps(sql, highest, newest);
    this.#base = { ...base, gone: goneOf(sql, base, highest) };
    this.#recent = recent.numbers.length > 0 ? { ...recent, gone: goneOf(sql, recent, newest) } : undefined;
  }
}

/** Cards of a large publish are written after its generation, so the newest number counts too. */
function stampOf(sql: SqlStorage, generation: number): string {
  return `${generation} ${newestCard(sql)}`;
}

function newestCard(sql: SqlStorage): number {
  return sql.exec<{ newest: number }>("SELECT coalesce(max(number), 0) AS newest FROM card").one().newest;
}

/** Marks the cards of a part that are deleted; undefined if all are left. */
function goneOf(sql: SqlStorage, { numbers }: NumberedPart, upTo: number): Uint8Array | undefined {
  const left = new Set<number>();
  for (const { number } of sql.exec<{ number: number }>("SELECT number FROM card WHERE number <= ?", upTo)) {
    left.add(number);
  }
  const gone = Uint8Array.from(numbers, (number) => (left.has(number) ? 0 : 1));
  return gone.includes(1) ? gone : undefined;
}

function newCards(sql: SqlStorage, after: number): number {
  return sql.exec<{ count: number }>("SELECT count(*) AS count FROM card WHERE number > ?", after).one().count;
}

/** Rows that are read in one step: a cursor does not outlive a pause. */
const rowsPerStep = 250;
const unitsPerRow = 20;

/** The cards with higher numbers than `after`, up to `upTo`, as one part. */
function* readPartSteps(sql: SqlStorage, after: number, upTo: number): Steps<NumberedPart> {
  const rows: IndexRow[] = [];
  for (let from = after; from < upTo; ) {
    const page = sql
      .exec<IndexRow>(
        `SELECT number, tenant, server, kind, key, title, deprecated, attributes, bag, vector FROM card
         WHERE number > ? AND number <= ? ORDER BY number LIMIT ?`,
        from,
        upTo,
        rowsPerStep,
      )
      .toArray();
    rows.push(...page);
    from = page.length < rowsPerStep ? upTo : (page.at(-1)?.number ?? upTo);
    yield unitsPerRow * page.length;
  }
  // Items of a server are neighbours.
  rows.sort(inListOrder);
  yield rows.length;
  const servers: (IndexedServer & { items: IndexedItem[] })[] = [];
  for (const { tenant, server, kind, key, title, deprecated, attributes, bag, vector } of rows) {
    let last = servers.at(-1);
    if (last?.tenant !== tenant || last.name !== server) {
      last = { tenant, name: server, items: [] };
      servers.push(last);
    }
    last.items.push({
      ...{ kind, key, terms: bag },
      title: title ?? undefined,
      attributes: attributes === "[]" ? [] : (readJson(attributes) as Attribute[]),
      deprecated: deprecated !== null,
      // Written by an earlier release, or while there were no word vectors.
      vector: vector ?? itemVector(bag) ?? undefined,
    });
    yield vector === null ? unitsPerVector : 1;
  }
  return { part: yield* partSteps(servers), numbers: Float64Array.from(rows, ({ number }) => number) };
}

const unitsPerVector = 50;

function bytesOf({ part, gone, numbers }: { part: IndexPart; gone?: Uint8Array; numbers: Float64Array }): number {
  return part.bytes + numbers.byteLength + (gone?.byteLength ?? 0);
}
