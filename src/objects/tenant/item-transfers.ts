import { type Failure, failure } from "../../kernel/failure.ts";
import { err, ok, type Result } from "../../kernel/result.ts";
import type { AcceptedManifest, PreparedCapability } from "../../manifest/prepare.ts";

interface Transfer {
  items: PreparedCapability[];
  characters: number;
  at: number;
}

/** As much as four manifests of the largest size. */
const mostCharacters = 32 * 1024 * 1024;
/** What a Worker that is gone has sent is dropped after this time. */
const keptMs = 60_000;

/** Items of manifests that are too large for one call, until the call that publishes them. In memory only. */
export class ItemTransfers {
  readonly #transfers = new Map<string, Transfer>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns false if the object holds too much already. */
  add(id: string, items: PreparedCapability[]): boolean {
    const now = this.#now();
    let held = items.reduce((sum, { text }) => sum + text.length, 0);
    const characters = held;
    for (const [other, transfer] of this.#transfers) {
      if (now - transfer.at > keptMs) this.#transfers.delete(other);
      else held += transfer.characters;
    }
    const transfer = this.#transfers.get(id) ?? { items: [], characters: 0, at: now };
    if (held > mostCharacters) {
      this.#transfers.delete(id);
      return false;
    }
    transfer.items.push(...items);
    transfer.characters += characters;
    transfer.at = now;
    this.#transfers.set(id, transfer);
    return true;
  }

  /** A manifest with the items that were sent before it. */
  complete({ transfer: id, ...manifest }: AcceptedManifest): Result<AcceptedManifest, Failure> {
    if (id === undefined) return ok(manifest);
    const transfer = this.#transfers.get(id);
    this.#transfers.delete(id);
    // The object was restarted in between.
    return transfer === undefined
      ? err(failure("ErrorUnavailable"))
      : ok({ ...manifest, capabilities: transfer.items });
  }
}
