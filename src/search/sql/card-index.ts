import type { TenantKey } from "../../kernel/names.ts";
import { readJson } from "../../kernel/read-json.ts";
import type { Attribute } from "../../manifest/attributes.ts";
import type { CapabilityKind } from "../../manifest/schema/capability.ts";
import type { SearchedPart } from "../index/frequencies.ts";
import { buildPart, type IndexedItem, type IndexedServer, type IndexPart } from "../index/part.ts";
import { itemVector } from "../load-word-vectors.ts";

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

  /** Approximate size in memory. */
  get bytes(): number {
    return [this.#base, this.#recent].reduce((sum, of) => sum + (of === undefined ? 0 : bytesOf(of)), 0);
  }

  drop(): void {
    this.#base = undefined;
    this.#recent = undefined;
    this.#stamp = "";
  }

  /** The parts of the index at this generation of the object. */
  parts(sql: SqlStorage, generation: number): readonly NumberedPart[] {
    // Cards of a large publish are written after its generation, so the newest number counts too.
    const { newest } = sql.exec<{ newest: number }>("SELECT coalesce(max(number), 0) AS newest FROM card").one();
    const stamp = `${generation} ${newest}`;
    if (stamp !== this.#stamp) this.#refresh(sql);
    this.#stamp = stamp;
    return [this.#base, this.#recent].filter((part) => part !== undefined);
  }

  #refresh(sql: SqlStorage): void {
    const base = this.#base;
    const highest = base?.numbers.reduce((most, number) => Math.max(most, number), 0) ?? 0;
    const isNew = base === undefined || newCards(sql, highest) > Math.max(minNew, maxNewShare * base.numbers.length);
    this.#recent = undefined;
    if (base === undefined || isNew) {
      this.#base = readPart(sql, 0);
      return;
    }
    const left = new Set<number>();
    for (const { number } of sql.exec<{ number: number }>("SELECT number FROM card WHERE number <= ?", highest)) {
      left.add(number);
    }
    const gone = Uint8Array.from(base.numbers, (number) => (left.has(number) ? 0 : 1));
    this.#base = { ...base, gone: left.size === base.numbers.length ? undefined : gone };
    const recent = readPart(sql, highest);
    if (recent.numbers.length > 0) this.#recent = recent;
  }
}

function newCards(sql: SqlStorage, after: number): number {
  return sql.exec<{ count: number }>("SELECT count(*) AS count FROM card WHERE number > ?", after).one().count;
}

/** The cards with higher numbers than `after`, as one part. */
function readPart(sql: SqlStorage, after: number): NumberedPart {
  const servers: (IndexedServer & { items: IndexedItem[] })[] = [];
  const numbers: number[] = [];
  const rows = sql.exec<IndexRow>(
    `SELECT number, tenant, server, kind, key, title, deprecated, attributes, bag, vector FROM card WHERE number > ?
     ORDER BY tenant, server, kind, key`,
    after,
  );
  for (const { number, tenant, server, kind, key, title, deprecated, attributes, bag, vector } of rows) {
    let last = servers.at(-1);
    if (last?.tenant !== tenant || last.name !== server) {
      last = { tenant, name: server, items: [] };
      servers.push(last);
    }
    numbers.push(number);
    last.items.push({
      ...{ kind, key, terms: bag },
      title: title ?? undefined,
      attributes: attributes === "[]" ? [] : (readJson(attributes) as Attribute[]),
      deprecated: deprecated !== null,
      // Written by an earlier release, or while there were no word vectors.
      vector: vector ?? itemVector(bag) ?? undefined,
    });
  }
  return { part: buildPart(servers), numbers: Float64Array.from(numbers) };
}

function bytesOf({ part, gone, numbers }: { part: IndexPart; gone?: Uint8Array; numbers: Float64Array }): number {
  return part.bytes + numbers.byteLength + (gone?.byteLength ?? 0);
}
