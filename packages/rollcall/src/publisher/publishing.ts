import { Asker, isModern, isOwnId, type Message } from "./ask.ts";
import { type Introduction, introductionIn, isObject } from "./manifest.ts";
import { type Publisher, type PublishingOptions, publisherFor } from "./publisher.ts";

/** What the transports of the official SDKs have in common; neither SDK is needed for the types. */
export interface TransportLike {
  start(): Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: the messages of either SDK
  send(message: any, options?: any): Promise<void>;
  close(): Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: the messages of either SDK
  onmessage?: ((message: any, extra?: any) => void) | undefined;
  onclose?: (() => void) | undefined;
}

const listChanged = /^notifications\/(?:tools|prompts|resources)\/list_changed$/;

/**
 * Makes a server publish itself: `server.connect(publishing(new StdioServerTransport()))`. The transport is the same
 * object and passes everything on. When the first client has been answered, and after every `list_changed`, the server is
 * asked for its lists, without anyone's authorisation, and the answers go to the hook of ROLLCALL_HOOK_URL.
 */
export function publishing<T extends TransportLike>(transport: T, options: PublishingOptions = {}): T {
  const publisher = publisherFor(options);
  if (publisher !== undefined) watch(transport, publisher, { asksAtStart: true });
  return transport;
}

const maxRequests = 1_000;

export function watch(transport: TransportLike, publisher: Publisher, { asksAtStart }: { asksAtStart: boolean }): void {
  let receive: TransportLike["onmessage"];
  const asker = new Asker((message) => receive?.(message));
  const requests = new Map<unknown, { method: string; modern: boolean }>();
  let introduction: Introduction | undefined;
  let modern = false;
  let isKnown = false;
  const read = () => asker.manifest({ introduction, modern });

  const received = (message: Message) => {
    if (isKnown || typeof message.method !== "string" || message.id === undefined) return;
    // Requests that are never answered must not add up.
    if (requests.size >= maxRequests) requests.delete(requests.keys().next().value);
    requests.set(message.id, { method: message.method, modern: isModern(message) });
  };
  const sent = (message: Message) => {
    if (typeof message.method === "string") {
      if (listChanged.test(message.method)) publisher.changed(read);
      return;
    }
    const request = requests.get(message.id);
    requests.delete(message.id);
    if (request === undefined || !isObject(message.result)) return;
    modern = request.modern;
    const isGreeting = request.method === "initialize" || request.method === "server/discover";
    if (isGreeting) introduction = introductionIn(message.result);
    // After server/discover the client may still fall back to initialize, and a request of ours would decide for it.
    isKnown = request.method === "initialize" || (modern && !isGreeting);
    if (!isKnown) return;
    requests.clear();
    if (asksAtStart) publisher.start(read);
  };

  try {
    const { start, send } = transport;
    // Servers over HTTP go on when a session ends; a process with one client ends with it.
    const isHttp = "handleRequest" in transport || "handleMessage" in transport;
    if (!isHttp) publisher.leaveWithClient();
    transport.start = async () => {
      const { onmessage, onclose } = transport;
      receive = onmessage;
      transport.onmessage = (message, extra) => {
        quietly(() => received(message));
        onmessage?.(message, extra);
      };
      transport.onclose = () => {
        asker.end();
        if (!isHttp) publisher.leave();
        onclose?.();
      };
      await start.call(transport);
    };
    transport.send = async (message, options) => {
      if (isOwnId(options?.relatedRequestId) || (message?.method === undefined && asker.take(message))) return;
      const sending = send.call(transport, message, options);
      quietly(() => sent(message));
      await sending;
    };
  } catch {
    // A frozen transport stays as it is.
  }
}

/** Whatever goes wrong in the kit is not the server's business. */
function quietly(work: () => void): void {
  try {
    work();
  } catch {}
}
