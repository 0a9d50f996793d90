import { readJson } from "../../../../../src/kernel/read-json.ts";
import { readEvents } from "../../client/sse.ts";
import { Context } from "../context.ts";
import { isObject, type Json, modernVersion } from "../reader/rpc.ts";

/**
 * A stdio MCP server that forwards to the registry. Messages are passed on as they are, in both directions: which revision
 * is spoken is between client and registry. The token is read for each request, so that a new login counts at once.
 */

const mostLine = 16 * 1_024 * 1_024;
const internalError = -32603;
const parseError = -32700;
const versionKey = "io.modelcontextprotocol/protocolVersion";

export async function mcp(context: Context): Promise<void> {
  const bridge = new BridgeToRegistry(context);
  context.signal.addEventListener("abort", () => bridge.end(), { once: true });
  // A client that is gone reads no answers.
  process.stdout.on("error", () => bridge.end());
  await bridge.run(process.stdin);
}

class BridgeToRegistry {
  readonly #context: Context;
  readonly #url: string;
  readonly #flights = new Map<unknown, { abort: AbortController; isListening: boolean }>();
  readonly #work = new Set<Promise<void>>();
  /** Of clients before 2026-07-28: what `initialize` settled. */
  #version: string | undefined;
  #session: string | undefined;
  #isEnded = false;

  constructor(context: Context) {
    this.#context = context;
    this.#url = `${context.target().url.replace(/\/+$/, "")}/mcp`;
  }

  /** Until the client closes its end; what it asked before is answered still. */
  async run(input: NodeJS.ReadableStream): Promise<void> {
    for await (const line of linesOf(input)) {
      if (this.#isEnded) break;
      if (line === undefined) this.#write(failureOf(null, parseError, "The message is longer than 16 MiB"));
      else if (line.trim() !== "") this.#take(line);
    }
    for (const { abort, isListening } of this.#flights.values()) if (isListening) abort.abort();
    await Promise.all(this.#work);
    await this.#leave();
  }

  end(): void {
    this.#isEnded = true;
    for (const { abort } of this.#flights.values()) abort.abort();
    (process.stdin as { destroy?: () => void }).destroy?.();
  }

  #take(line: string): void {
    let message: unknown;
    try {
      message = readJson(line);
    } catch {
      this.#write(failureOf(null, parseError, "The line is not JSON"));
      return;
    }
    if (isObject(message) && message.method === "notifications/cancelled" && this.#cancel(message)) return;
    const work = this.#forward(line, message).finally(() => this.#work.delete(work));
    this.#work.add(work);
  }

  /** Closing the request's stream is how a request of 2026-07-28 is cancelled; others are also told. */
  #cancel({ params }: Json): boolean {
    const id = isObject(params) ? params.requestId : undefined;
    const flight = this.#flights.get(id);
    flight?.abort.abort();
    return this.#version === undefined;
  }

  async #forward(line: string, message: unknown): Promise<void> {
    const id = isObject(message) && typeof message.method === "string" ? message.id : undefined;
    const abort = new AbortController();
    const isListening = isObject(message) && message.method === "subscriptions/listen";
    if (id !== undefined) this.#flights.set(id, { abort, isListening });
    try {
      const response = await this.#post(line, message, abort.signal);
      await this.#answer(response, message, id);
    } catch (error) {
      if (abort.signal.aborted) return;
      if (id !== undefined)
        this.#write(
          failureOf(id, internalError, `The registry cannot be reached: ${reasonOf(error)}`, "ErrorUnreachable"),
        );
    } finally {
      if (this.#flights.get(id)?.abort === abort) this.#flights.delete(id);
    }
  }

  async #post(body: string, message: unknown, signal: AbortSignal): Promise<Response> {
    const { flags, out, signal: interrupted } = this.#context;
    const { token } = new Context(flags, out, interrupted).target();
    const headers: Record<string, string> = {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...this.#headersOf(message),
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    };
    const send = () => fetch(this.#url, { method: "POST", headers, body, signal, redirect: "error" });
    try {
      return await send();
    } catch (error) {
      // A kept connection that the other side has closed meanwhile: nothing was read there.
      if (signal.aborted || !isReset(error)) throw error;
      return send();
    }
  }

  #headersOf(message: unknown): Record<string, string> {
    const params = isObject(message) && isObject(message.params) ? message.params : {};
    const version = isObject(params._meta) ? params._meta[versionKey] : undefined;
    if (typeof version === "string" && isObject(message)) {
      const name = params.name ?? params.uri;
      const headers: Record<string, string> = { "MCP-Protocol-Version": version };
      if (typeof message.method === "string") headers["Mcp-Method"] = message.method;
      if (typeof name === "string" && /^(?:tools\/call|prompts\/get|resources\/read)$/.test(String(message.method)))
        headers["Mcp-Name"] = headerText(name);
      return headers;
    }
    return {
      ...(this.#version !== undefined && { "MCP-Protocol-Version": this.#version }),
      ...(this.#session !== undefined && { "Mcp-Session-Id": this.#session }),
    };
  }

  async #answer(response: Response, message: unknown, id: unknown): Promise<void> {
    const type = response.headers.get("Content-Type") ?? "";
    if (type.startsWith("text/event-stream") && response.body !== null) {
      let isAnswered = id === undefined;
      for await (const event of readEvents(response.body)) {
        if (event === undefined || event.data === "") continue;
        this.#pass(event.data, message, response);
        isAnswered ||= answersRequest(event.data, id);
      }
      // A proxy or a new release may end the stream in an orderly way before the answer: the client must not wait for ever.
      if (!isAnswered) {
        this.#write(
          failureOf(id, internalError, "The registry ended the stream before its answer", "ErrorUnreachable"),
        );
      }
      return;
    }
    const text = await response.text();
    if (response.status === 401) return this.#refuse(id, response, text);
    if (text.trim() === "" && response.ok && id === undefined) return;
    if (!this.#pass(text, message, response)) this.#refuse(id, response, text);
  }

  /** Writes one message of the registry; false if it is none, or an error that names no request. */
  #pass(text: string, asked: unknown, response: Response): boolean {
    let answer: unknown;
    try {
      answer = readJson(text);
    } catch {
      return false;
    }
    if (isObject(answer) && answer.jsonrpc !== "2.0") return false;
    if (isObject(answer) && isObject(answer.error) && (answer.id === null || answer.id === undefined)) return false;
    if (isObject(asked) && asked.method === "initialize" && isObject(answer) && isObject(answer.result)) {
      const { protocolVersion } = answer.result;
      this.#version =
        typeof protocolVersion === "string" && protocolVersion !== modernVersion ? protocolVersion : undefined;
      this.#session = response.headers.get("Mcp-Session-Id") ?? undefined;
    }
    this.#write(answer);
    return true;
  }

  #refuse(id: unknown, { status }: Response, text: string): void {
    if (id === undefined) return;
    if (status === 401) {
      const hint =
        "The registry refuses the token, or it has ended. Sign in again with: rollcall login. This connection then goes on";
      this.#write(failureOf(id, internalError, hint, "ErrorUnauthorized"));
      return;
    }
    let answer: unknown;
    try {
      answer = readJson(text);
    } catch {}
    const error = isObject(answer) && isObject(answer.error) ? answer.error : undefined;
    const message = typeof error?.message === "string" ? error.message : `The registry answers HTTP ${status}`;
    const code = typeof error?.code === "number" ? error.code : internalError;
    this.#write(failureOf(id, code, message, typeof error?.code === "string" ? error.code : `HTTP ${status}`));
  }

  #write(message: unknown): void {
    if (!this.#isEnded) process.stdout.write(`${JSON.stringify(message)}\n`);
  }

  async #leave(): Promise<void> {
    if (this.#session === undefined || this.#isEnded) return;
    const headers = this.#headersOf(undefined);
    await fetch(this.#url, { method: "DELETE", headers, signal: AbortSignal.timeout(1_000) }).catch(() => {});
  }
}

function failureOf(id: unknown, code: number, message: string, name?: string): Json {
  const data = name === undefined ? undefined : { code: name };
  return { jsonrpc: "2.0", id, error: { code, message, data } };
}

/** True for the response to this request. */
function answersRequest(text: string, id: unknown): boolean {
  try {
    const message = readJson(text);
    return isObject(message) && message.method === undefined && message.id === id;
  } catch {
    return false;
  }
}

/** Header values are ASCII; other text is sent as the protocol says. */
function headerText(text: string): string {
  if (/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith("=?base64?")) return text;
  return `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}

function isReset(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: string } };
  return ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"].includes(cause?.code ?? "");
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message ?? "no reason given";
}

/** Lines of a stream; undefined for one that is too long. */
async function* linesOf(input: NodeJS.ReadableStream): AsyncGenerator<string | undefined> {
  let rest = "";
  let isTooLong = false;
  input.setEncoding("utf8");
  try {
    for await (const chunk of input as AsyncIterable<string>) {
      rest += chunk;
      let from = 0;
      for (let at = rest.indexOf("\n"); at !== -1; at = rest.indexOf("\n", from)) {
        yield isTooLong || at - from > mostLine ? undefined : rest.slice(from, at).replace(/\r$/, "");
        isTooLong = false;
        from = at + 1;
      }
      rest = rest.slice(from);
      if (rest.length <= mostLine) continue;
      isTooLong = true;
      rest = "";
    }
    if (rest !== "" || isTooLong) yield isTooLong ? undefined : rest;
  } catch {
    // The stream was closed under the reader.
  }
}
