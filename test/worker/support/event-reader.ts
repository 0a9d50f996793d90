import { runInDurableObject } from "cloudflare:test";
import { askForClient } from "../../../src/changes/contract.ts";

/** What a heartbeat does, without waiting for it: the Workers find out which clients have left. */
export function askForClients(streams: DurableObjectStub): Promise<void> {
  return runInDurableObject(streams, (_, state) => {
    for (const socket of state.getWebSockets()) socket.send(askForClient);
  });
}

export interface ReadEvent {
  id?: string;
  name?: string;
  retry?: number;
  comment?: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the event holds
  data?: any;
}

/** Reads server-sent events one by one, as they come. */
export class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = "";

  constructor(response: Response) {
    if (response.body === null) throw new Error("there is no body to read");
    this.#reader = response.body.getReader();
  }

  /** The next block of lines; undefined when the stream has ended. */
  async next(): Promise<ReadEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        return parse(block);
      }
      const { value, done } = await this.#reader.read();
      if (done) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  /** The next event of a name; anything else in between is skipped. */
  async named(name: string): Promise<ReadEvent> {
    for (let event = await this.next(); event !== undefined; event = await this.next()) {
      if (event.name === name) return event;
    }
    throw new Error(`the stream ended before an event ${name}`);
  }

  leave(): Promise<void> {
    return this.#reader.cancel();
  }
}

function parse(block: string): ReadEvent {
  const event: ReadEvent = {};
  for (const line of block.split("\n")) {
    const [, field = "", value = ""] = /^([a-z]*): ?(.*)$/s.exec(line) ?? [];
    if (field === "") event.comment = value;
    else if (field === "id") event.id = value;
    else if (field === "event") event.name = value;
    else if (field === "retry") event.retry = Number(value);
    else if (field === "data") event.data = JSON.parse(value);
  }
  return event;
}
