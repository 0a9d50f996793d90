import { vi } from "vitest";
import { importVerifyingKey } from "../../../src/webhooks/keys.ts";
import { verifyWebhook } from "../../../src/webhooks/verify.ts";

/** One message as it arrived. */
export interface Received {
  url: string;
  id: string;
  timestamp: string;
  signature: string;
  headers: Headers;
  bytes: Uint8Array;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the message holds
  body: any;
}

type Answer = number | Response | Promise<Response>;

/** Stands where the network is: keeps what arrives and answers as it is told, by address and by how often it came. */
export class Receiver {
  readonly received: Received[] = [];
  /** How many waited for an answer at the same time, at most. */
  mostAtOnce = 0;
  answer: (message: Received, count: number) => Answer = () => 200;
  #waiting = 0;

  readonly fetch = async (request: Request): Promise<Response> => {
    const bytes = new Uint8Array(await request.arrayBuffer());
    const header = (name: string) => request.headers.get(name) ?? "";
    const message: Received = {
      url: request.url,
      id: header("webhook-id"),
      timestamp: header("webhook-timestamp"),
      signature: header("webhook-signature"),
      headers: request.headers,
      bytes,
      body: JSON.parse(new TextDecoder().decode(bytes)),
    };
    this.received.push(message);
    this.#waiting += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#waiting);
    try {
      const answer = await this.answer(message, this.received.length);
      return typeof answer === "number" ? new Response(null, { status: answer }) : answer;
    } finally {
      this.#waiting -= 1;
    }
  };

  get last(): Received {
    const message = this.received.at(-1);
    if (message === undefined) throw new Error("nothing arrived");
    return message;
  }
}

/**
 * Puts receivers where the network begins: all that leaves an object passes here and goes to the receiver of its tenant.
 * Messages of tenants that have none, such as late attempts of an earlier test, end here.
 */
export function standInForTheNetwork(): Map<string, Receiver> {
  const receivers = new Map<string, Receiver>();
  vi.spyOn(globalThis, "fetch").mockImplementation(async (request) => {
    const copy = (request as Request).clone();
    const { data } = await copy.json<{ data: { tenant: string } }>();
    return receivers.get(data.tenant)?.fetch(request as Request) ?? new Response(null, { status: 410 });
  });
  return receivers;
}

/** Whether a message is signed with a secret, by the rules that receivers go by. */
export async function isSignedWith(secret: string, { headers, bytes }: Received, now: number): Promise<boolean> {
  const key = await importVerifyingKey(secret);
  if (!key.ok) throw new Error(key.error);
  return (await verifyWebhook({ headers, body: bytes }, [key.value], now)).ok;
}
