import type { ServerRef, TenantKey } from "../kernel/names.ts";
import type { Place } from "./rows.ts";

/** What a segment has of a place, in few bytes: the builder knows by it what a merge has to write. */
export type HeldPlace = [
  tenant: TenantKey,
  name: string,
  part: number,
  cards: number,
  versions: number,
  tokens: number,
  isServer: 0 | 1,
];

export interface Frequencies {
  servers: number;
  cards: number;
  versions: number;
  tokens: number;
}

export function heldPlace({ tenant, name, cards, versions, entry, part = 0 }: Place & { part?: number }): HeldPlace {
  const tokens = cards.reduce((sum, card) => sum + card.tokens, 0);
  return [tenant, name, part, cards.length, versions.length, tokens, entry === undefined ? 0 : 1];
}

interface Held {
  /** Segments that have a part of the place. */
  parts: { segment: number; weight: number }[];
  counts: Frequencies;
}

interface SegmentWeight {
  all: number;
  live: number;
}

/** Rows of a place, itself included: a tombstone weighs something too. */
function weightOf([, , , cards, versions]: HeldPlace): number {
  return 1 + cards + versions;
}

/** Which segment has the newest state of each place. In memory only: rebuilt from the segments' lists of places. */
export class HeldPlaces {
  readonly #places = new Map<string, Held>();
  readonly #weights = new Map<number, SegmentWeight>();
  readonly frequencies: Frequencies = { servers: 0, cards: 0, versions: 0, tokens: 0 };

  /** Adds the newest segment. */
  add(segment: number, places: readonly HeldPlace[]): void {
    const weight: SegmentWeight = { all: 0, live: 0 };
    this.#weights.set(segment, weight);
    for (const place of places) {
      const [tenant, name, part, cards, versions, tokens, isServer] = place;
      const key = keyOf({ tenant, name });
      const counts = { servers: isServer, cards, versions, tokens };
      const known = this.#places.get(key);
      if (part === 0 && known !== undefined) this.#forget(known);
      const held: Held = part === 0 || known === undefined ? { parts: [], counts: none() } : known;
      held.parts.push({ segment, weight: weightOf(place) });
      count(held.counts, counts, 1);
      count(this.frequencies, counts, 1);
      this.#places.set(key, held);
      weight.all += weightOf(place);
      weight.live += weightOf(place);
    }
  }

  /** Part of a segment that later segments have not replaced, from 0 to 1. */
  liveShare(segment: number): number {
    const { all, live } = this.#weights.get(segment) ?? { all: 0, live: 0 };
    return all === 0 ? 0 : live / all;
  }

  #forget({ parts, counts }: Held): void {
    count(this.frequencies, counts, -1);
    for (const { segment, weight } of parts) {
      const known = this.#weights.get(segment);
      if (known !== undefined) known.live -= weight;
    }
  }
}

function keyOf({ tenant, name }: ServerRef): string {
  return `${tenant}/${name}`;
}

function none(): Frequencies {
  return { servers: 0, cards: 0, versions: 0, tokens: 0 };
}

function count(into: Frequencies, by: Frequencies, sign: 1 | -1): void {
  into.servers += sign * by.servers;
  into.cards += sign * by.cards;
  into.versions += sign * by.versions;
  into.tokens += sign * by.tokens;
}

/** A segment that may be merged with newer ones. */
export interface MergeCandidate {
  bytes: number;
  liveShare: number;
}

/** Larger segments are left alone, unless most of them is replaced. */
const maxMergedBytes = 4 * 1024 * 1024;
/** A segment is merged with the newer ones while it is not much larger than they are: sizes grow by this factor. */
const growth = 2;
const fewLive = 0.5;

/**
 * How many of the oldest segments stay as they are, when `added` bytes of changes are written; the others are written
 * anew together with the changes. `segments` is oldest first. Always a run up to the newest: a merge can then write the
 * current state of each place without knowing what other segments have.
 */
export function keptSegments(segments: readonly MergeCandidate[], added: number): number {
  const worn = segments.findIndex(({ liveShare }) => liveShare < fewLive);
  let kept = segments.length;
  let run = added;
  for (const { bytes } of segments.toReversed()) {
    if (bytes > growth * run || bytes + run > maxMergedBytes) break;
    run += bytes;
    kept -= 1;
  }
  return worn === -1 ? kept : Math.min(kept, worn);
}
