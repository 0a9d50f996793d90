import type { HttpDeps } from "../http/deps.ts";
import { countWork, takePlace } from "../http/limits/work.ts";
import type { Failure } from "../kernel/failure.ts";
import type { Leave } from "../kernel/pace/admission.ts";

/** An index with more items is costly: it needs a place. */
export const heavyElements = 2_000;

/** The place of an index whose client has left is free after this time: nothing renews it. */
const keptMs = 5_000;

/** Items that are counted for the caller together. */
const countedAtOnce = 500;

/**
 * The work of one index, counted while its items are read: how many there are is known only then, and a small index costs
 * nothing here.
 */
export class IndexWork {
  readonly #services: HttpDeps;
  readonly #caller: string;
  #elements = 0;
  #leave: Leave | undefined;

  constructor(services: HttpDeps, caller: string) {
    this.#services = services;
    this.#caller = caller;
  }

  /** Counts an item. Returns a promise only if something is to be waited for, or was refused. */
  add(): Promise<Failure | undefined> | undefined {
    this.#elements += 1;
    if (this.#elements % countedAtOnce === 0) this.#leave?.renew();
    const isHeavy = this.#elements === heavyElements + 1;
    if (!isHeavy && this.#elements % countedAtOnce !== 0) return undefined;
    return this.#account(isHeavy);
  }

  async #account(isHeavy: boolean): Promise<Failure | undefined> {
    if (!isHeavy) return this.#count();
    const place = await takePlace(this.#services, this.#caller, keptMs);
    if (!place.ok) return place.error;
    this.#leave = place.value;
    return undefined;
  }

  /** A caller who has had enough is refused at the beginning; an index that was begun is finished, and paid for later. */
  #count(): Failure | undefined {
    const { workLimiters, now } = this.#services;
    if (this.#elements === countedAtOnce) return countWork(this.#services, this.#caller, "items", countedAtOnce);
    workLimiters.items.charge(this.#caller, now(), countedAtOnce);
    return undefined;
  }

  /** Gives the place back. */
  end(): void {
    this.#leave?.();
  }
}
