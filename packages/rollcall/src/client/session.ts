import { stream } from "./changes.ts";
import { bodyOf, type Connection, delay, notRegistry, type RequestOptions, segment } from "./connection.ts";
import type { DefinitionsFor } from "./definitions.ts";
import { isRollcallError, RollcallError } from "./errors.ts";
import type { Include, Kind } from "./search.ts";
import { readEvents } from "./sse.ts";
import type { components } from "./types.ts";

type Schemas = components["schemas"];
type NegotiationResponse = Schemas["NegotiationResponse"];
type ContextAnswer = Schemas["ContextAnswer"];
export type ItemChange = Schemas["ItemChange"];

export interface NegotiateOptions {
  task?: string;
  /** Tokens that the chosen definitions may cost together. */
  budget?: number;
  mustHave?: readonly (string | { id: string; version?: string; tenant?: string })[];
  pins?: readonly { id: string; tenant?: string; digest: string }[];
  kinds?: readonly Kind[];
  tenants?: readonly string[];
  /** Also what a choice would leave out. */
  include?: readonly Include[];
  for?: DefinitionsFor;
  /** Names of client capabilities; all that this library can handle if absent. */
  capabilities?: readonly string[];
  client?: { name: string; version: string };
  signal?: AbortSignal;
}

export interface CallOptions {
  onProgress?: (progress: { progress: number; total?: number; message?: string }) => void;
  signal?: AbortSignal;
}

const context = "dev.rollcall/context";
const able = [
  "sampling",
  "streaming",
  "progress_tracking",
  "cancellation",
  "batch_requests",
  "notifications",
  "session_resume",
];

/** The outcome of a negotiation. Ends itself after an hour without requests; `end()` or `await using` end it sooner. */
export class Session {
  /** What was settled, as of the last negotiation. */
  negotiation: NegotiationResponse;
  readonly #connection: Connection;
  readonly #options: NegotiateOptions;
  #id: string;
  #renewing: Promise<void> | undefined;
  #lastEvent: string | undefined;

  constructor(connection: Connection, options: NegotiateOptions, { answer, id }: Negotiated) {
    this.#connection = connection;
    this.#options = options;
    this.negotiation = answer;
    this.#id = id;
  }

  get #context(): Partial<ContextAnswer> {
    return (this.negotiation.extensions?.[context] ?? {}) as Partial<ContextAnswer>;
  }
  get items(): ContextAnswer["items"] {
    return this.#context.items ?? [];
  }
  get leftOut(): ContextAnswer["left_out"] {
    return this.#context.left_out ?? [];
  }
  /** Pins whose capability is no longer what was reviewed. */
  get changed(): ContextAnswer["changed"] {
    return this.#context.changed ?? [];
  }

  /** Calls one of the registry's own tools. */
  async call(tool: string, args: object, options: CallOptions = {}): Promise<Record<string, unknown>> {
    return (await this.#call(tool, args, options)) as Record<string, unknown>;
  }

  /** One answer for each of the arguments, in their order; one failure does not stop the others. */
  async batch(tool: string, list: readonly object[], options: CallOptions = {}) {
    return (await this.#call(tool, list, options)) as (
      | { result: Record<string, unknown> }
      | { error: string; code: string }
    )[];
  }

  async #call(tool: string, body: object, { onProgress, signal }: CallOptions): Promise<unknown> {
    const accept = onProgress ? "text/event-stream, application/json" : "application/json";
    const sent: RequestOptions = { body, signal, headers: { Accept: accept }, stream: onProgress !== undefined };
    const response = await this.#send("POST", `/mcp/tool/${segment(tool)}`, sent);
    if (!response.headers.get("Content-Type")?.startsWith("text/event-stream") || response.body === null) {
      return bodyOf(response);
    }
    for await (const event of readEvents(response.body)) {
      if (event === undefined) continue;
      const data = event.data === "" ? undefined : JSON.parse(event.data);
      if (event.event === "progress") onProgress?.(data);
      else if (event.event === "result") return data;
      else if (event.event === "error")
        throw new RollcallError(data.code, data.error, { status: 200, details: data.details });
    }
    throw new RollcallError("ErrorUnreachable", `The call of ${tool} was cut off`, { retryable: true });
  }

  async resource(uri: string, signal?: AbortSignal): Promise<unknown> {
    return bodyOf(await this.#send("GET", "/mcp/resource", { query: { uri }, signal }));
  }

  /** Changes of what the session has chosen, from the negotiation on, each once. */
  async *changes(signal?: AbortSignal): AsyncGenerator<ItemChange, void, void> {
    const seen = new Set<string>();
    let retry = 2_000;
    while (!signal?.aborted) {
      try {
        const headers = { "X-MCP-Session-ID": this.#id };
        for await (const event of stream(
          this.#connection,
          "/mcp/subscription/stream",
          this.#lastEvent,
          signal,
          headers,
        )) {
          if (event?.retry !== undefined) retry = event.retry;
          if (event?.id !== undefined) this.#lastEvent = event.id;
          if (event === undefined || event.event === "message" || event.data === "") continue;
          const change = JSON.parse(event.data) as ItemChange & { tenant?: string };
          const key = `${change.tenant} ${change.sequence}`;
          if (!seen.has(key)) yield change;
          seen.add(key);
        }
      } catch (error) {
        if (signal?.aborted) return;
        if (isRollcallError(error, "ErrorSessionInvalid")) await this.#renew(this.#id);
        else if (!isRollcallError(error) || !error.retryable) throw error;
      }
      await delay(retry, signal).catch(() => {});
    }
  }

  async end(): Promise<void> {
    const headers = { "X-MCP-Session-ID": this.#id };
    await this.#connection.send("DELETE", "/mcp/session", { headers }).catch((error) => {
      if (!isRollcallError(error, "ErrorSessionInvalid")) throw error;
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }

  /** A request that answers one of the session codes did nothing: it is repeated once, in the renewed session. */
  async #send(method: string, path: string, options: RequestOptions): Promise<Response> {
    const id = this.#id;
    const headers = (session: string) => ({ ...options.headers, "X-MCP-Session-ID": session });
    try {
      return await this.#connection.send(method, path, { ...options, headers: headers(id) });
    } catch (error) {
      if (!isRollcallError(error, "ErrorSessionInvalid") && !isRollcallError(error, "ErrorSessionMissing")) throw error;
      await this.#renew(id);
      return this.#connection.send(method, path, { ...options, headers: headers(this.#id) });
    }
  }

  /** Resumes, else negotiates again. Calls that fail together renew together. */
  #renew(failed: string): Promise<void> {
    if (failed !== this.#id) return Promise.resolve();
    this.#renewing ??= this.#renewNow().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #renewNow(): Promise<void> {
    const token = this.negotiation.session.resume_token;
    if (token !== undefined) {
      try {
        const response = await this.#connection.send("POST", "/mcp/session/resume", { body: { resume_token: token } });
        const { answer, id } = await negotiated(response);
        // A resumed session answers without its choice, which stays what it was.
        this.negotiation = { ...answer, extensions: this.negotiation.extensions };
        this.#id = id;
        return;
      } catch (error) {
        if (!isRollcallError(error, "ErrorResumeInvalid")) throw error;
      }
    }
    const { answer, id } = await ask(this.#connection, this.#options);
    this.negotiation = answer;
    this.#id = id;
  }
}

interface Negotiated {
  answer: NegotiationResponse;
  id: string;
}

async function negotiated(response: Response): Promise<Negotiated> {
  const answer = (await bodyOf(response)) as Partial<NegotiationResponse> | null;
  if (!answer?.session || !answer.extensions) throw notRegistry(response.status);
  const id = response.headers.get("X-MCP-Session-ID") ?? answer.session.id ?? "";
  return { answer: answer as NegotiationResponse, id };
}

async function ask(connection: Connection, options: NegotiateOptions): Promise<Negotiated> {
  const { task, budget, mustHave, pins, kinds, tenants, include, capabilities = able, client } = options;
  const wish = {
    task,
    budget,
    must_have: mustHave?.map((one) => (typeof one === "string" ? { id: one } : one)),
    pins,
    kinds,
    tenants,
    include,
    definitions: options.for,
  };
  const isWished = Object.values(wish).some((value) => value !== undefined);
  const body = {
    client_name: client?.name ?? "rollcall-client",
    client_version: client?.version ?? "0",
    supported_capabilities: isWished ? [...new Set([...capabilities, context])] : capabilities,
    extensions: isWished ? { [context]: { budget: 2_000, ...JSON.parse(JSON.stringify(wish)) } } : undefined,
  };
  return negotiated(await connection.send("POST", "/mcp/negotiate", { body, signal: options.signal }));
}

/** Settles what client and registry have in common, and with a task or a budget which capabilities to use. */
export async function negotiate(connection: Connection, options: NegotiateOptions = {}): Promise<Session> {
  return new Session(connection, options, await ask(connection, options));
}
