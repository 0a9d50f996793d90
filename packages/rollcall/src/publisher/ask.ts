import {
  headerOf,
  type Introduction,
  Items,
  introductionIn,
  isObject,
  type Json,
  lists,
  mostItems,
  mostPages,
} from "./manifest.ts";

/** Asks a server in this process for its lists, with requests that look like a client's. */

const prefix = "rollcall:";
const answerMs = 10_000;
const methodNotFound = -32601;
const modernVersion = "2026-07-28";
const versionKey = "io.modelcontextprotocol/protocolVersion";

export type Message = Json;

/** Ids of our own requests; clients number theirs or use other words. */
export const isOwnId = (id: unknown): boolean => typeof id === "string" && id.startsWith(prefix);

/** Whether a request is of revision 2026-07-28, which names itself in every request. */
export function isModern({ params }: Message): boolean {
  const meta = isObject(params) && isObject(params._meta) ? params._meta : {};
  return meta[versionKey] !== undefined;
}

let count = 0;

export class Asker {
  readonly #receive: (message: Message) => void;
  readonly #waiting = new Map<unknown, (message: Message | undefined) => void>();

  /** `receive` hands a message to the server, as its transport does. */
  constructor(receive: (message: Message) => void) {
    this.#receive = receive;
  }

  /** Takes an answer to one of our requests; false for every other message. */
  take(message: Message): boolean {
    if (!isOwnId(message.id)) return false;
    this.#waiting.get(message.id)?.(message);
    return true;
  }

  /** The connection ended: nothing will be answered any more. */
  end(): void {
    for (const settle of this.#waiting.values()) settle(undefined);
  }

  tell(method: string): void {
    this.#receive({ jsonrpc: "2.0", method });
  }

  /** Undefined if the connection ends or nothing comes in time. */
  request(method: string, params: Json, modern: boolean): Promise<Message | undefined> {
    count += 1;
    const id = `${prefix}${count}`;
    const meta = {
      [versionKey]: modernVersion,
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "rollcall", version: "1" },
    };
    return new Promise((resolve) => {
      const timer = setTimeout(() => settle(undefined), answerMs);
      unref(timer);
      const settle = (message: Message | undefined) => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        resolve(message);
      };
      this.#waiting.set(id, settle);
      this.#receive({ jsonrpc: "2.0", id, method, params: modern ? { ...params, _meta: meta } : params });
    });
  }

  /** What the server offers now; undefined if it cannot be read whole. */
  async manifest({
    introduction,
    modern,
  }: {
    introduction?: Introduction;
    modern: boolean;
  }): Promise<Json | undefined> {
    let known = introduction;
    if (known === undefined) {
      const answer = await this.request("server/discover", {}, modern);
      if (!isObject(answer?.result)) return undefined;
      known = introductionIn(answer.result);
    }
    const { capabilities } = known;
    const read = await Promise.all(
      lists.map((list) => (capabilities[list.capability] === undefined ? [] : this.#list(list, modern))),
    );
    if (read.includes(undefined)) return undefined;
    const sections = lists.map(({ section }, index) => [section, read[index]]);
    return { ...headerOf(known), ...Object.fromEntries(sections) };
  }

  async #list(list: (typeof lists)[number], modern: boolean): Promise<Json[] | undefined> {
    const items = new Items(list);
    let cursor: string | undefined;
    for (let page = 1; page <= mostPages && items.size <= mostItems; page += 1) {
      const answer = await this.request(list.method, cursor === undefined ? {} : { cursor }, modern);
      if (isObject(answer?.error) && answer.error.code === methodNotFound) return [];
      const result = isObject(answer?.result) ? answer.result : {};
      const found = result[list.section];
      if (!Array.isArray(found)) return undefined;
      for (const item of found) items.add(item);
      const { nextCursor } = result;
      if (typeof nextCursor !== "string" || nextCursor === "" || nextCursor === cursor) return items.sorted();
      cursor = nextCursor;
    }
    return undefined;
  }
}

/** Timers of the kit never keep a process alive. Browsers and Workers have numbers instead. */
export function unref(timer: unknown): void {
  (timer as { unref?: () => void }).unref?.();
}
