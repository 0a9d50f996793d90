import { setTimeout as sleep } from "node:timers/promises";

/** What became of one request of a drill. */
export interface Outcome {
  status: number | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a drill reads whatever the answer holds
  body: any;
  headers?: Headers;
  error?: string;
}

/**
 * Sends a request on a connection of its own: the runtime resets a kept connection that was idle for five seconds, which
 * is not what a drill looks for.
 */
export async function send(
  url: string,
  token: string | undefined,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Outcome> {
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { ...(token && { Authorization: `Bearer ${token}` }), Connection: "close", ...headers },
      body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    const { status, headers: answered } = response;
    return { status, headers: answered, body: text.startsWith("{") ? JSON.parse(text) : text };
  } catch (error) {
    const cause = (error as { cause?: { code?: string } }).cause?.code;
    return { status: undefined, body: undefined, error: cause ?? String(error) };
  }
}

export function isAcknowledged({ status }: Outcome): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

/** Repeats work until told to stop; `work` says how long to pause before the next turn. */
export async function repeat(isOver: () => boolean, work: (turn: number) => Promise<number>): Promise<void> {
  for (let turn = 1; !isOver(); turn += 1) await sleep(await work(turn));
}

/** Every tool has the turn in its words: an item that goes and comes back in a later turn has another digest. */
export function manifestOf(name: string, turn: number, tools = 3): object {
  const tool = (index: number) => ({
    name: `${name}_${index}`,
    description:
      index === 0
        ? `Turn ${turn}.`
        : `Tool ${index} of ${name} in turn ${turn}, which finds invoices and sends reminders.`,
    inputSchema: { type: "object", properties: { id: { type: "string" }, count: { type: "integer" } } },
  });
  return { tools: Array.from({ length: tools }, (_, index) => tool(index)) };
}
