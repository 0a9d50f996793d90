import type { TenantKey } from "../kernel/names.ts";
import { formatEvent, formatRetry, heartbeat } from "../kernel/sse.ts";
import type { ChangeFeed } from "./contract.ts";

/** Also detects that a client has left: the runtime notices only on a write, and may take two. */
const heartbeatMs = 700;
const retryMs = 2_000;

/**
 * One live stream: its feed, and the timers for heartbeat and lifetime. The next page is fetched when the last one has
 * been read, so a reader that is far behind needs no more memory than one that keeps up. Everything stops when the
 * client leaves or the lifetime is over.
 */
export class LiveStream {
  readonly tenants: readonly TenantKey[];
  readonly endsAt: number;
  readonly readable: ReadableStream<Uint8Array>;
  readonly #followed: ChangeFeed;
  readonly #controller: ReadableByteStreamController;
  readonly #heartbeat: ReturnType<typeof setInterval>;
  readonly #lifetime: ReturnType<typeof setTimeout>;
  readonly #onClosed: () => void;
  /** Tenants that may have new events. */
  readonly #tenantsToRead = new Set<TenantKey>();
  #catchingUp = false;
  #onDrained: () => void = () => {};
  #closed = false;

  constructor(followed: ChangeFeed, lifetimeMs: number, onClosed: () => void) {
    this.#followed = followed;
    this.#onClosed = onClosed;
    this.tenants = followed.tenants;
    this.endsAt = Date.now() + lifetimeMs;
    let opened: ReadableByteStreamController | undefined;
    this.readable = new ReadableStream({
      type: "bytes",
      start: (controller) => {
        opened = controller;
      },
      // Called only when the queue is empty.
      pull: () => this.#onDrained(),
      cancel: () => this.#release(),
    });
    if (opened === undefined) throw new Error("a stream starts at once");
    this.#controller = opened;
    this.#heartbeat = setInterval(() => this.#send(heartbeat), heartbeatMs);
    this.#lifetime = setTimeout(() => this.close(), lifetimeMs);
    // The position is sent first, so that a client that receives nothing more can resume from it.
    this.#send(followed.frame?.opening ?? formatRetry(retryMs, followed.position));
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
        await this.#drained();
        if (this.#closed) return;
        // Delete before reading: a change that arrives meanwhile adds the tenant again.
        this.#tenantsToRead.delete(next);
        const { events, more } = await this.#followed.next(next);
        this.#send(events.map(formatEvent).join(""));
        if (more) this.#tenantsToRead.add(next);
      }
    } catch (cause) {
      // The client reconnects with the last id it saw, when the tenant may respond again.
      console.error(JSON.stringify({ event: "stream", tenants: this.tenants, cause: String(cause) }));
      this.close();
    } finally {
      this.#catchingUp = false;
    }
  }

  /** Ends the stream for the client, which may reconnect after a moment. */
  close(): void {
    if (this.#closed) return;
    this.#send(this.#followed.frame?.closing ?? formatRetry(retryMs));
    this.#release();
    this.#controller.close();
  }

  async #drained(): Promise<void> {
    // desiredSize is null once the stream has ended; then there is nothing to wait for.
    if (this.#closed || (this.#controller.desiredSize ?? 0) >= 0) return;
    await new Promise<void>((resolve) => {
      this.#onDrained = resolve;
    });
  }

  #send(text: string): void {
    if (this.#closed || text === "") return;
    this.#controller.enqueue(new TextEncoder().encode(text));
  }

  #release(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#heartbeat);
    clearTimeout(this.#lifetime);
    this.#onDrained();
    this.#onClosed();
  }
}
