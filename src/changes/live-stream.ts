import type { TenantKey } from "../kernel/names.ts";
import { formatEvent, formatRetry, heartbeat } from "../kernel/sse.ts";
import type { ChangeFeed } from "./contract.ts";

/** Also how long a client that left is taken for present: the runtime notices only when something is written. */
const defaultHeartbeatMs = 5_000;
/** The first write to a connection whose client has left still succeeds; it provokes the reset that fails the second. */
const secondWriteMs = 250;
/** How long a client that has stopped reading may take for the last lines, before the connection is cut. */
const closingMs = 5_000;
const retryMs = 2_000;

export interface LiveStreamOptions {
  lifetimeMs: number;
  heartbeatMs?: number;
  /** False when the stream must end because the request may make no more calls. */
  mayRead?: () => boolean;
  onClosed: () => void;
}

/**
 * One live stream, held by the Worker: its feed, and the timers for heartbeat and lifetime. The next page is fetched
 * when the last one has been read, so a reader that is far behind needs no more memory than one that keeps up.
 * Everything stops when the client leaves or the lifetime is over.
 */
export class LiveStream {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #followed: ChangeFeed;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #options: LiveStreamOptions;
  readonly #heartbeat: ReturnType<typeof setInterval>;
  readonly #lifetime: ReturnType<typeof setTimeout>;
  /** Tenants that may have new events. */
  readonly #tenantsToRead = new Set<TenantKey>();
  #catchingUp = false;
  /** Done when the reader has taken everything written so far. */
  #written: Promise<void> = Promise.resolve();
  #unread = 0;
  #closed = false;

  constructor(followed: ChangeFeed, options: LiveStreamOptions) {
    this.#followed = followed;
    this.#options = options;
    // A write here is done when the client's connection has taken it, and fails when the client has left.
    const { readable, writable } = new IdentityTransformStream();
    this.readable = readable;
    this.#writer = writable.getWriter();
    this.#writer.closed.catch(() => this.release());
    this.#heartbeat = setInterval(() => void this.checkClient(), options.heartbeatMs ?? defaultHeartbeatMs);
    this.#lifetime = setTimeout(() => this.close(), options.lifetimeMs);
    // The position is sent first, so that a client that receives nothing more can resume from it.
    void this.#send(followed.frame?.opening ?? formatRetry(retryMs, followed.position));
  }

  /**
   * Sends new events of a tenant at the reader's pace. One page at a time, so that all events are sent in order and
   * once.
   */
  async catchUp(tenant: TenantKey): Promise<void> {
    this.#tenantsToRead.add(tenant);
    if (this.#catchingUp) return;
    this.#catchingUp = true;
    try {
      // A tenant that is added again during the loop is read after the others.
      for (const next of this.#tenantsToRead) {
        await this.#written;
        if (this.#closed) return;
        if (this.#options.mayRead?.() === false) return this.close();
        // Delete before reading: a change that arrives meanwhile adds the tenant again.
        this.#tenantsToRead.delete(next);
        const { events, more } = await this.#followed.next(next);
        void this.#send(events.map(formatEvent).join(""));
        if (more) this.#tenantsToRead.add(next);
      }
    } catch (cause) {
      // The client reconnects with the last id it saw, when the tenant may respond again.
      console.error(JSON.stringify({ event: "stream", tenants: this.#followed.tenants, cause: String(cause) }));
      this.close();
    } finally {
      this.#catchingUp = false;
    }
  }

  /** Writes to the client; if it has left, the stream is released. A client with unread lines has not shown either. */
  async checkClient(): Promise<void> {
    if (this.#unread > 0) return;
    await this.#send(heartbeat);
    await scheduler.wait(secondWriteMs);
    if (this.#unread === 0) await this.#send(heartbeat);
  }

  /** Ends the stream for the client, which may reconnect after a moment. */
  close(): void {
    if (this.#closed) return;
    const last = this.#send(this.#followed.frame?.closing ?? formatRetry(retryMs));
    this.release();
    const cut = setTimeout(() => void this.#writer.abort().catch(() => {}), closingMs);
    void last
      .then(() => this.#writer.close())
      .catch(() => {})
      .finally(() => clearTimeout(cut));
  }

  /** Stops everything, without a word to the client. */
  release(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#heartbeat);
    clearTimeout(this.#lifetime);
    this.#options.onClosed();
  }

  /** Never rejects: a failed write means that the client has left. */
  #send(text: string): Promise<void> {
    if (this.#closed || text === "") return this.#written;
    this.#unread += 1;
    this.#written = this.#writer
      .write(new TextEncoder().encode(text))
      .catch(() => this.release())
      .finally(() => {
        this.#unread -= 1;
      });
    return this.#written;
  }
}
