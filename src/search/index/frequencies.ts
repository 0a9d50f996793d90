import { findHash } from "./hashes.ts";
import type { IndexPart } from "./part.ts";

/** A part with what is searched of it. */
export interface SearchedPart {
  part: IndexPart;
  /** 1 for each item that is no longer there. */
  gone?: Uint8Array;
  /** 1 for each item that the filters let through; all items if absent. */
  wanted?: Uint8Array;
}

/** Term frequencies in all parts together. */
export interface Frequencies {
  /** Number of items. */
  items: number;
  usualLength: number;
  /** Number of items that have a term. */
  itemsWith(hash: number): number;
  /** Worth of a term, or of several taken for one: the fewer items have it, the more. */
  rarityOf(hashes: readonly number[]): number;
}

export function frequenciesIn(parts: readonly SearchedPart[]): Frequencies {
  let [items, length] = [0, 0];
  for (const searched of parts) {
    const live = liveIn(searched);
    items += live.items;
    length += live.length;
  }
  const itemsWith = (hash: number) => parts.reduce((sum, searched) => sum + itemsOf(searched, hash), 0);
  return {
    items,
    usualLength: length / Math.max(1, items) || 1,
    itemsWith,
    rarityOf(hashes) {
      const found = Math.min(
        items,
        hashes.reduce((sum, hash) => sum + itemsWith(hash), 0),
      );
      return Math.log(1 + (items - found + 0.5) / (found + 0.5));
    },
  };
}

function itemsOf({ part: { terms, termStarts, places }, gone }: SearchedPart, hash: number): number {
  const term = findHash(terms, hash);
  if (term === -1) return 0;
  const [start, end] = [termStarts[term] as number, termStarts[term + 1] as number];
  if (gone === undefined) return end - start;
  let live = 0;
  for (let slot = start; slot < end; slot += 1) live += 1 - (gone[places[slot] as number] as number);
  return live;
}

function liveIn({ part: { count, lengths, totalLength }, gone }: SearchedPart): { items: number; length: number } {
  let [items, length] = [count, totalLength];
  if (gone === undefined) return { items, length };
  for (let place = 0; place < count; place += 1) {
    if (gone[place] === 0) continue;
    items -= 1;
    length -= lengths[place] as number;
  }
  return { items, length };
}
