import { Client } from "undici";
import type { Exchange } from "../harness/exchange.ts";
import { reasonOf } from "../harness/load.ts";

export interface SoakAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a kind reads whatever its answer holds
  body: any;
}

/** Sends one request of a kind. Undefined if there was no answer, or not one of `statuses`. */
export type Send = (exchange: Exchange, ...statuses: number[]) => Promise<SoakAnswer | undefined>;

/** One thing that callers do, over and over, until the soak ends. */
export interface Kind {
  name: string;
  /** How many do it at once. */
  clients: number;
  /** One turn: one request, or several that belong together. */
  turn(send: Send): Promise<void>;
}

export interface Tally {
  latencies: number[];
  limited: number;
  errors: number;
  dropped: number;
}

const patienceMs = 120_000;
const mostSamples = 10;

/** Clients that keep their connections and send their next request when the last was answered. */
export class Clients {
  readonly tallies = new Map<string, Tally>();
  /** The first unexpected answers, for whoever has to find out why. */
  readonly samples: string[] = [];
  readonly #sampled = new Set<string>();
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  async run(kinds: readonly Kind[], ms: number): Promise<void> {
    const end = performance.now() + ms;
    await Promise.all(
      kinds.flatMap((kind) =>
        Array.from({ length: kind.clients }, () => this.#repeat(kind, () => performance.now() < end)),
      ),
    );
  }

  totals() {
    const all = [...this.tallies.values()];
    const sum = (of: (tally: Tally) => number) => all.reduce((total, tally) => total + of(tally), 0);
    return {
      requests: sum(({ latencies }) => latencies.length),
      limited: sum(({ limited }) => limited),
      errors: sum(({ errors }) => errors),
      dropped: sum(({ dropped }) => dropped),
    };
  }

  async #repeat({ name, turn }: Kind, goesOn: () => boolean): Promise<void> {
    const tally = this.tallies.get(name) ?? { latencies: [], limited: 0, errors: 0, dropped: 0 };
    this.tallies.set(name, tally);
    const client = new Client(this.#origin, { pipelining: 1 });
    const send = (exchange: Exchange, ...statuses: number[]) => this.#send(client, tally, exchange, statuses);
    try {
      while (goesOn()) await turn(send);
    } finally {
      await client.destroy();
    }
  }

  async #send(client: Client, tally: Tally, exchange: Exchange, statuses: number[]): Promise<SoakAnswer | undefined> {
    const { method, path, headers, body = null } = exchange;
    const started = performance.now();
    try {
      const answer = await client.request({
        ...{ method: method as "GET", path, headers, body },
        signal: AbortSignal.timeout(patienceMs),
      });
      const text = await answer.body.text();
      tally.latencies.push(performance.now() - started);
      const status = answer.statusCode;
      if (status === 429) {
        tally.limited += 1;
        return undefined;
      }
      if (!statuses.includes(status)) {
        tally.errors += 1;
        this.#sample(`${status} ${method} ${path}`, text.slice(0, 300));
        return undefined;
      }
      return { status, body: text.startsWith("{") ? JSON.parse(text) : text };
    } catch (cause) {
      tally.dropped += 1;
      this.#sample(`no answer to ${method} ${path}`, reasonOf(cause));
      return undefined;
    }
  }

  #sample(what: string, text: string): void {
    if (this.#sampled.has(what) || this.samples.length >= mostSamples) return;
    this.#sampled.add(what);
    this.samples.push(`${what}: ${text}`);
  }
}
