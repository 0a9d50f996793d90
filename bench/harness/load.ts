import type { IncomingHttpHeaders } from "node:http";
import { Client } from "undici";
import { CommandError, errorCode } from "../../scripts/command.ts";
import type { Exchange, Received } from "./exchange.ts";

/** What some seconds of load measured. */
export interface Load {
  perSecond: number;
  /** Milliseconds of each request, in the order they ended. */
  latencies: number[];
}

/** A response whose body was counted and dropped. */
export interface Answer {
  headers: IncomingHttpHeaders;
  bytes: number;
  milliseconds: number;
}

interface LoadOptions<Sent extends Exchange> {
  seconds: number;
  next: () => Sent;
  /** The status every answer must have: a case that fails fast must not look fast. */
  status: number;
  onAnswer?: (exchange: Sent, answer: Answer) => void;
  /** Called if the connection is lost before the response is complete; without this, the load ends with an error. */
  onDropped?: (exchange: Sent) => void;
}

/** The server closed the connection; a server that is gone refuses the next one instead. */
class ConnectionDropped extends CommandError {}
const droppedCodes = ["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"];

export function isDropped(error: unknown): boolean {
  // `fetch` fails with the reason as the cause of its error.
  const reason = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return droppedCodes.includes(errorCode(reason) ?? "");
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

  async load<Sent extends Exchange>(options: LoadOptions<Sent>): Promise<Load> {
    const { seconds, next, status, onAnswer, onDropped } = options;
    const latencies: number[] = [];
    const started = performance.now();
    const end = started + seconds * 1_000;
    await Promise.all(
      this.#clients.map(async (client) => {
        for (let at = performance.now(); at < end; ) {
          const exchange = next();
          const answered = await send(client, exchange).catch((error) => {
            if (onDropped === undefined || !(error instanceof ConnectionDropped)) throw error;
            return onDropped(exchange);
          });
          const now = performance.now();
          const milliseconds = now - at;
          at = now;
          if (answered === undefined) continue;
          const { status: received, headers, bytes } = answered;
          if (received !== status) throw await unexpected(client, exchange, received, status);
          latencies.push(milliseconds);
          onAnswer?.(exchange, { headers, bytes, milliseconds });
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

/** Status and headers, once the last byte is here. The bytes are counted and dropped as they come. */
function send(client: Client, exchange: Exchange): Promise<Omit<Answer, "milliseconds"> & { status: number }> {
  return new Promise((resolve, reject) => {
    let [status, bytes] = [0, 0];
    let headers: IncomingHttpHeaders = {};
    client.dispatch(requestOf(exchange), {
      onRequestStart() {},
      onResponseStart(_, code, given) {
        status = code;
        headers = given;
      },
      onResponseData(_, chunk) {
        bytes += chunk.length;
      },
      onResponseEnd: () => resolve({ status, headers, bytes }),
      onResponseError(_, error) {
        const Reason = isDropped(error) ? ConnectionDropped : CommandError;
        reject(new Reason(`${exchange.method} ${exchange.path} failed: ${reasonOf(error)}`));
      },
    });
  });
}

function requestOf({ method, path, headers, body }: Exchange) {
  return { method: method as "GET", path, headers, body: body ?? null };
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
