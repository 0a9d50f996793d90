import { eventText, heartbeatText, positionsText, retryText } from "../../domain/event-stream.ts";
import type { Topic, TopicChange } from "../../domain/topic.ts";

export interface StreamOptions {
  /** The session it belongs to, which ends it. */
  session: string;
  topics: Topic[];
  lifetimeMs: number;
}

/** Also how a client that left is noticed: the runtime finds out by writing, and takes a write or two to tell. */
const heartbeatMs = 700;

/** A reader this far behind is let go; it comes back with the last id it saw. */
const mostQueuedBytes = 1024 * 1024;
const retryMs = 2_000;

/**
 * One live stream: what was sent, what is waiting, and the timers that keep it alive and end it. Everything stops when
 * the client leaves, when its time is up, or when it cannot keep up.
 */
export class OpenStream {
  readonly session: string;
  readonly readable: ReadableStream<Uint8Array>;
  readonly #topics: Map<string, Topic>;
  readonly #positions: Map<string, number>;
  readonly #controller: ReadableByteStreamController;
  readonly #heartbeat: ReturnType<typeof setInterval>;
  readonly #lifetime: ReturnType<typeof setTimeout>;
  readonly #onClosed: () => void;
  #closed = false;

  constructor({ session, topics, lifetimeMs }: StreamOptions, onClosed: () => void) {
    this.session = session;
    this.#onClosed = onClosed;
    this.#topics = new Map(topics.map((topic) => [topic.tenant, topic]));
    this.#positions = new Map(topics.map(({ tenant, servers }) => [tenant, seenBy(servers)]));
    let opened: ReadableByteStreamController | undefined;
    this.readable = new ReadableStream({
      type: "bytes",
      start: (controller) => {
        opened = controller;
      },
      cancel: () => this.#release(),
    });
    if (opened === undefined) throw new Error("a stream starts at once");
    this.#controller = opened;
    this.#heartbeat = setInterval(() => this.#send(heartbeatText), heartbeatMs);
    this.#lifetime = setTimeout(() => this.close(), lifetimeMs);
    // The position comes with the first words, so that a client which hears nothing more can come back to it.
    this.#send(retryText(retryMs, positionsText(this.#positions)));
  }

  get closed(): boolean {
    return this.#closed;
  }

  get tenants(): string[] {
    return [...this.#topics.keys()];
  }

  topic(tenant: string): Topic | undefined {
    return this.#topics.get(tenant);
  }

  /** Sends the changes of one tenant up to a generation, and follows it from there. */
  advance(tenant: string, changes: readonly TopicChange[], generation: number): void {
    const topic = this.#topics.get(tenant);
    if (topic === undefined || this.#closed) return;
    for (const [index, change] of changes.entries()) {
      // An id promises that everything up to its generation was sent: true only with the last change of one.
      const last = changes[index + 1]?.generation !== change.generation;
      const seen = Math.max(this.#positions.get(tenant) ?? 0, last ? change.generation : change.generation - 1);
      this.#positions.set(tenant, seen);
      this.#send(eventText({ id: positionsText(this.#positions), name: "change", data: change }));
    }
    this.#positions.set(tenant, Math.max(this.#positions.get(tenant) ?? 0, generation));
    for (const server of topic.servers) server.since = Math.max(server.since, generation);
  }

  /** The end as the client sees it: it may come back after a moment. */
  close(): void {
    if (this.#closed) return;
    this.#send(retryText(retryMs));
    if (this.#closed) return;
    this.#release();
    this.#controller.close();
  }

  #send(text: string): void {
    if (this.#closed) return;
    if ((this.#controller.desiredSize ?? 0) < -mostQueuedBytes) {
      this.#release();
      this.#controller.error(new Error("the reader does not keep up"));
      return;
    }
    this.#controller.enqueue(new TextEncoder().encode(text));
  }

  #release(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#heartbeat);
    clearTimeout(this.#lifetime);
    this.#onClosed();
  }
}

/** A tenant is seen as far as the server that was seen least. */
function seenBy(servers: Topic["servers"]): number {
  return Math.min(...servers.map(({ since }) => since));
}
