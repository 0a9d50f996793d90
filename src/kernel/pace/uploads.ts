/**
 * Bodies of costly requests, from their first byte until they are done with. They are read before a place is taken, so that
 * a slow sender holds no place; how much of them is in memory, and for how long they are sent, is bounded here.
 */
interface UploadLimits {
  /** Of all bodies together: three of the largest that a request may have. */
  bytes: number;
  /** Beyond this, only who holds less than others may go on: nobody's slow bodies keep out everybody. */
  sharedBytes: number;
  /** A body up to this size always has room, as one has that is not costly. */
  smallBytes: number;
  /** A request that was cancelled cannot say that it ended, and is forgotten after this time. */
  abandonedAfterMs: number;
}

const limits: UploadLimits = {
  bytes: 48 * 1024 * 1024,
  sharedBytes: 32 * 1024 * 1024,
  smallBytes: 256 * 1024,
  abandonedAfterMs: 120_000,
};

/** How long one body may take to be sent. */
export const uploadMs = 60_000;

export class Uploads {
  readonly #limits: UploadLimits;
  readonly #now: () => number;
  readonly #open = new Set<{ caller: string; bytes: number; since: number }>();

  constructor(now: () => number, changed: Partial<UploadLimits> = {}) {
    this.#now = now;
    this.#limits = { ...limits, ...changed };
  }

  start(caller: string): Upload {
    const upload = { caller, bytes: 0, since: this.#now() };
    this.#open.add(upload);
    return {
      hold: (bytes) => {
        upload.bytes += bytes;
        return upload.bytes <= this.#limits.smallBytes || this.#hasRoom(caller);
      },
      end: () => void this.#open.delete(upload),
    };
  }

  #hasRoom(caller: string): boolean {
    const now = this.#now();
    const held = new Map<string, number>();
    let total = 0;
    for (const upload of this.#open) {
      if (now - upload.since > this.#limits.abandonedAfterMs) this.#open.delete(upload);
      else if (upload.bytes > 0) {
        held.set(upload.caller, (held.get(upload.caller) ?? 0) + upload.bytes);
        total += upload.bytes;
      }
    }
    const { bytes, sharedBytes } = this.#limits;
    return total <= sharedBytes || (total <= bytes && (held.get(caller) ?? 0) <= total / Math.max(2, held.size));
  }
}

export interface Upload {
  /** Counts bytes that were received. Returns false if there is no room for them. */
  hold: (bytes: number) => boolean;
  end: () => void;
}
