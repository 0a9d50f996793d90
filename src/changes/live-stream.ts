import { formatEvent, formatRetry, heartbeat } from "../kernel/sse.ts";
import type { ChangeFeed } from "./contract.ts";

/** Also how a client that left is noticed: the runtime finds out by writing, and takes a write or two to tell. */
const heartbeatMs = 700;
const retryMs = 2_000;

/**
 * One live stream: what it follows, and the timers that keep it alive and end it. It goes at its reader's pace: the next
 * page is fetched when the last one is out, so a reader who is far behind costs no more memory than one who keeps up.
 * Everything stops when the client leaves or its time is up.
 */
export class LiveStream {
  readonly tenants: readonly string[];
  readonly endsAt: number;
  readonly readable: ReadableStream<Uint8Array>;
  readonly #followed: ChangeFeed;
  readonly #controller: ReadableByteStreamController;
  readonly #heartbeat: ReturnType<typeof setInterval>;
  readonly #lifetime: ReturnType<typeof setTimeout>;
  readonly #onClosed: () => void;
  /** Tenants of which there may be news. */
  readonly #tenantsToRead = new Set<string>();
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
      // Asked for only when nothing is queued any more.
      pull: () => this.#onDrained(),
      cancel: () => this.#release(),
    });
    if (opened === undefined) throw new Error("a stream starts at once");
    this.#controller = opened;
    this.#heartbeat = setInterval(() => this.#send(heartbeat), heartbeatMs);
    this.#lifetime = setTimeout(() => this.close(), lifetimeMs);
    // The position comes with the first words, so that a client which hears nothing more can come back to it.
    this.#send(followed.frame?.opening ?? formatRetry(retryMs, followed.position));
  }

  /** Sends what is new in a tenant, as fast as it is read. One page at a time, so that all goes out in order and once. */
  async catchUp(tenant: string): Promise<void> {
    this.#tenantsToRead.add(tenant);
    if (this.#catchingUp) return;
    this.#catchingUp = true;
    try {
      // What is put back while this runs has its turn after the others.
      for (const next of this.#tenantsToRead) {
        await this.#drained();
        if (this.#closed) return;
        // Before it is asked: news that comes meanwhile puts it back.
        this.#tenantsToRead.delete(next);
        const { events, more } = await this.#followed.next(next);
        this.#send(events.map(formatEvent).join(""));
        if (more) this.#tenantsToRead.add(next);
      }
    } catch (cause) {
      // The client comes back to the last id it saw, by when the tenant may answer again.
      console.error(JSON.stringify({ event: "stream", tenants: this.tenants, cause: String(cause) }));
      this.close();
    } finally {
      this.#catchingUp = false;
    }
  }

  /** The end as the client sees it: it may come back after a moment. */
  close(): void {
    if (this.#closed) return;
    this.#send(this.#followed.frame?.closing ?? formatRetry(retryMs));
    this.#release();
    this.#controller.close();
  }

  async #drained(): Promise<void> {
    // Null once the stream is over, when there is nothing to wait for either.
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
