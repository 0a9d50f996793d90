/**
 * Bodies of costly requests, from their first byte until they are done with. They are read before a place is taken, so that
 * a slow sender holds no place; how much of them is in memory, and for how long they are sent, is bounded here.
 */
interface UploadLimits {
  /** Of all bodies together: three of the largest that a request may have. */
  bytes: number;
  /** A request that was cancelled cannot say that it ended, and is forgotten after this time. */
  abandonedAfterMs: number;
}

const limits: UploadLimits = { bytes: 48 * 1024 * 1024, abandonedAfterMs: 120_000 };

/** How long one body may take to be sent. */
export const uploadMs = 60_000;

export class Uploads {
  readonly #limits: UploadLimits;
  readonly #now: () => number;
  readonly #open = new Set<{ bytes: number; since: number }>();

  constructor(now: () => number, changed: Partial<UploadLimits> = {}) {
    this.#now = now;
    this.#limits = { ...limits, ...changed };
  }

  start(): Upload {
    const upload = { bytes: 0, since: this.#now() };
    this.#open.add(upload);
    return {
      hold: (bytes) => {
        upload.bytes += bytes;
        return this.#held() <= this.#limits.bytes;
      },
      end: () => void this.#open.delete(upload),
    };
  }

  #held(): number {
    const now = this.#now();
    let bytes = 0;
    for (const upload of this.#open) {
      if (now - upload.since > this.#limits.abandonedAfterMs) this.#open.delete(upload);
      else bytes += upload.bytes;
    }
    return bytes;
  }
}

export interface Upload {
  /** Counts bytes that were received. Returns false if there is no room for them. */
  hold: (bytes: number) => boolean;
  end: () => void;
}
