import { Client } from "undici";
import { CommandError, errorCode } from "../../scripts/command.ts";
import type { Exchange, Received } from "./exchange.ts";

/** What some seconds of load measured. */
export interface Load {
  perSecond: number;
  /** Milliseconds of each request, in the order they ended. */
  latencies: number[];
}

interface LoadOptions {
  seconds: number;
  next: () => Exchange;
  /** The status every answer must have: a case that fails fast must not look fast. */
  status: number;
}

/**
 * Connections to one server that stay open over the slices of a run. Each sends its next request when the last was
 * answered.
 */
export class Connections {
  readonly #clients: Client[];

  constructor(origin: string, count: number) {
    this.#clients = Array.from({ length: count }, () => new Client(origin, { pipelining: 1 }));
  }

  async load({ seconds, next, status }: LoadOptions): Promise<Load> {
    const latencies: number[] = [];
    const started = performance.now();
    const end = started + seconds * 1_000;
    await Promise.all(
      this.#clients.map(async (client) => {
        for (let at = performance.now(); at < end; ) {
          const exchange = next();
          const answered = await send(client, exchange);
          if (answered !== status) throw await unexpected(client, exchange, answered, status);
          const now = performance.now();
          latencies.push(now - at);
          at = now;
        }
      }),
    );
    return { perSecond: (latencies.length / (performance.now() - started)) * 1_000, latencies };
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.destroy()));
  }
}

/** One request with its whole answer. */
export async function receive(origin: string, exchange: Exchange, signal?: AbortSignal): Promise<Received> {
  const client = new Client(origin);
  try {
    const { statusCode, headers, body } = await client.request({ ...requestOf(exchange), signal: signal ?? null });
    const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    return { status: statusCode, headers: flat, body: Buffer.from(await body.arrayBuffer()) };
  } finally {
    await client.destroy();
  }
}

/** The status, once the last byte is here. The bytes themselves are dropped as they come. */
function send(client: Client, exchange: Exchange): Promise<number> {
  return new Promise((resolve, reject) => {
    let status = 0;
    client.dispatch(requestOf(exchange), {
      onRequestStart() {},
      onResponseStart(_, code) {
        status = code;
      },
      onResponseData() {},
      onResponseEnd: () => resolve(status),
      onResponseError: (_, error) =>
        reject(new CommandError(`${exchange.method} ${exchange.path} failed: ${reasonOf(error)}`)),
    });
  });
}

function requestOf({ method, body, ...rest }: Exchange) {
  return { ...rest, method: method as "GET", body: body ?? null };
}

async function unexpected(client: Client, exchange: Exchange, answered: number, wanted: number): Promise<CommandError> {
  const again = await client
    .request(requestOf(exchange))
    .then(({ body }) => body.text())
    .catch(reasonOf);
  const { method, path } = exchange;
  return new CommandError(
    `${method} ${path} answered ${answered} instead of ${wanted}. Asked again, it says: ${again.slice(0, 300)}`,
  );
}

/** Why a request had no answer: what several addresses refused has a code, but says nothing. */
export function reasonOf(error: unknown): string {
  return error instanceof Error && error.message !== "" ? error.message : (errorCode(error) ?? String(error));
}
