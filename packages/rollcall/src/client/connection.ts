import { errorOf, isRefusedForNow, RollcallError } from "./errors.ts";

/** A token, or a function that is asked for one with every request. */
export type Token = string | (() => string | undefined | Promise<string | undefined>);
export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

export interface ConnectOptions {
  /** Address of the registry, such as `https://registry.acme.dev`. */
  url: string;
  token?: Token;
  fetch?: Fetch;
  /** Tries of one request, and milliseconds that waiting between them may take in all. */
  retry?: { tries?: number; totalMs?: number };
  /** `session` (default): a read never shows less than this connection has written or seen. */
  consistency?: "session" | "none";
  /** Bytes of answers kept for 304; 0 keeps none. */
  cache?: { bytes?: number };
  /** Milliseconds for one answer; of a stream, none. */
  timeoutMs?: number;
  /** Told of each try; never of the token. */
  onRequest?: (event: RequestEvent) => void;
}

export interface RequestEvent {
  method: string;
  path: string;
  /** 0 if there was no answer. */
  status: number;
  ms: number;
  requestId?: string;
}

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

export interface RequestOptions {
  query?: Query;
  /** Sent as JSON, a string as it is. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Sending it twice is the same as once: a lost connection is tried again. */
  idempotent?: boolean;
  /** Resolves with the body unread, for streams. */
  stream?: boolean;
}

export interface Connection {
  readonly url: string;
  readonly options: ConnectOptions;
  /** Sends a request, tries again where that is safe, and throws a RollcallError for a refusal. 304 is no refusal. */
  send(method: string, path: string, options?: RequestOptions): Promise<Response>;
  /** Who is calling, as far as the token says. */
  subject(): Promise<string>;
  /** Highest generation written or seen, by tenant. */
  readonly generations: Map<string, number>;
  /** For answers that are kept; see `read`. */
  readonly kept: Map<string, unknown>;
}

/** What answers say of themselves, beside their data. */
export interface AnswerMeta {
  generation: number | undefined;
  /** What answered: memory, cache, kv or object. */
  source: string | undefined;
  /** Seconds since the data was known to be current, where the registry says it. */
  age: number | undefined;
  requestId: string | undefined;
}

const loopback = ["localhost", "127.0.0.1", "[::1]"];

export function connect(options: ConnectOptions): Connection {
  const base = parseBase(options.url);
  const { tries = 3, totalMs = 20_000 } = options.retry ?? {};
  const fetchIt: Fetch = options.fetch ?? ((input, init) => fetch(input, init));
  const tokenNow = async () => (typeof options.token === "function" ? options.token() : options.token);

  const once = async (method: string, url: URL, path: string, sent: RequestOptions, token: string | undefined) => {
    const headers = new Headers(sent.headers);
    if (token !== undefined && token !== "") {
      if (url.protocol !== "https:" && !loopback.includes(url.hostname)) {
        throw new RollcallError("ErrorInsecure", `The token is not sent to ${url.origin}: it is not https`, {
          hint: "Use an https address. Only this machine itself may be asked over http.",
        });
      }
      headers.set("Authorization", `Bearer ${token}`);
    }
    let body: string | undefined;
    if (sent.body !== undefined) {
      body = typeof sent.body === "string" ? sent.body : JSON.stringify(sent.body);
      if (!headers.has("Content-Type")) headers.set("Content-Type", "application/json");
    }
    const timeout = AbortSignal.timeout(options.timeoutMs ?? 30_000);
    const signal = sent.stream ? sent.signal : sent.signal ? AbortSignal.any([sent.signal, timeout]) : timeout;
    const started = Date.now();
    const tell = (status: number, requestId?: string) =>
      options.onRequest?.({ method, path, status, ms: Date.now() - started, requestId });
    let response: Response;
    try {
      // By hand: a redirect would take the token to wherever it leads.
      response = await fetchIt(url.href, { method, headers, body, signal, redirect: "manual" });
      if (!sent.stream) response = await whole(response);
    } catch (error) {
      tell(0);
      if (sent.signal?.aborted) throw sent.signal.reason;
      if (error instanceof RollcallError) throw error;
      const isLate = timeout.aborted;
      const message = isLate ? `${base.origin} did not answer in time` : `${base.origin} cannot be reached`;
      throw new RollcallError(isLate ? "ErrorTimeout" : "ErrorUnreachable", message, { retryable: true, cause: error });
    }
    tell(response.status, response.headers.get("X-Request-Id") ?? undefined);
    if (
      (response.type as string) === "opaqueredirect" ||
      (response.status >= 300 && response.status < 400 && response.status !== 304)
    ) {
      const to = response.headers.get("Location") ?? "another address";
      throw new RollcallError("ErrorNotRegistry", `${base.origin} sends requests on to ${to}`, {
        status: response.status,
        hint: "Use the address of the registry itself; the token is not sent elsewhere.",
      });
    }
    return response;
  };

  const send = async (method: string, path: string, sent: RequestOptions = {}): Promise<Response> => {
    const url = new URL(base.href + path.replace(/^\//, ""));
    if (url.origin !== base.origin) throw new RollcallError("ErrorInsecure", `${path} is not a path of ${base.origin}`);
    for (const [name, value] of Object.entries(sent.query ?? {})) {
      for (const one of Array.isArray(value) ? value : [value])
        if (one !== undefined) url.searchParams.append(name, String(one));
    }
    const isSafe = method === "GET" || method === "HEAD" || sent.idempotent === true;
    let waited = 0;
    let renewed = false;
    for (let attempt = 1; ; attempt += 1) {
      let failure: RollcallError;
      let wait: number | undefined;
      try {
        const response = await once(method, url, path, sent, await tokenNow());
        if (response.ok || response.status === 304) return response;
        failure = errorOf(response, await bodyOf(response));
        // A function may have a newer token by now.
        if (
          response.status === 401 &&
          !renewed &&
          typeof options.token === "function" &&
          failure.code === "ErrorUnauthorized"
        ) {
          renewed = true;
          attempt -= 1;
          continue;
        }
        const mayRepeat = isRefusedForNow(response.status) || (isSafe && response.status >= 502);
        if (mayRepeat) wait = retryAfter(response) ?? backoff(attempt);
      } catch (error) {
        if (!(error instanceof RollcallError) || !error.retryable) throw error;
        failure = error;
        // A connection that was kept too long is reset at once: no reason to wait the first time.
        if (isSafe && error.code === "ErrorUnreachable") wait = attempt === 1 ? 0 : backoff(attempt);
      }
      if (wait === undefined || attempt >= tries || waited + wait > totalMs) throw failure;
      waited += wait;
      await delay(wait, sent.signal);
    }
  };

  const subject = async () => {
    const token = (await tokenNow()) ?? "";
    try {
      const payload = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
      return String(JSON.parse(atob(payload)).sub);
    } catch {
      return token;
    }
  };

  return { url: base.href.replace(/\/$/, ""), options, send, subject, generations: new Map(), kept: new Map() };
}

const mostBytes = 64 * 1_024 * 1_024;

/** Reads the body before the answer counts as one: a connection that breaks off within it may be tried again. */
async function whole({ body, status, statusText, headers }: Response): Promise<Response> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = body?.getReader();
  for (let bytes = 0; reader; ) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes += value.length;
    if (bytes > mostBytes) {
      await reader.cancel();
      throw new RollcallError("ErrorNotRegistry", "The answer is larger than 64 MiB", { status });
    }
    chunks.push(value);
  }
  return new Response(chunks.length > 0 ? new Blob(chunks) : null, { status, statusText, headers });
}

function parseBase(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new RollcallError("ErrorBadUrl", `"${text}" is not an address`, {
      hint: "It looks like https://registry.acme.dev",
    });
  }
  if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "") {
    throw new RollcallError(
      "ErrorBadUrl",
      `"${url.protocol}//${url.host}" cannot be a registry: only http and https, without a password`,
    );
  }
  return new URL(`${url.origin}${url.pathname.replace(/\/*$/, "/")}`);
}

function retryAfter(response: Response): number | undefined {
  const header = response.headers.get("Retry-After");
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header) * 1_000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** Full jitter: clients that failed together do not come back together. */
function backoff(attempt: number): number {
  return Math.random() * 300 * 2 ** attempt;
}

export function delay(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

export async function bodyOf(response: Response): Promise<unknown> {
  return parsed(await response.text());
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function metaOf({ headers }: Response): AnswerMeta {
  const number = (name: string) => {
    const text = headers.get(name);
    return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
  };
  return {
    generation: number("Rollcall-Generation"),
    source: headers.get("Rollcall-Source") ?? undefined,
    age: number("Age"),
    requestId: headers.get("X-Request-Id") ?? undefined,
  };
}

/** The `data` of an answer of `/api`; with `whole`, the answer itself. */
export function dataIn<T>(response: Response, text: string, whole = false): T {
  const body = parsed(text) as { data?: unknown } | null;
  const data = whole ? body : body?.data;
  if (typeof data === "object" && data !== null) return data as T;
  throw notRegistry(response.status);
}

export function notRegistry(status: number): RollcallError {
  return new RollcallError("ErrorNotRegistry", "What answers at this address is not a registry", {
    status,
    hint: "Check the address: it answers, but not with Rollcall's API.",
  });
}

export async function dataOf<T>(response: Response): Promise<T> {
  return dataIn<T>(response, await response.text());
}

/** One segment of a path. */
export const segment = encodeURIComponent;

/** The path of a server, from `tenant/name`. */
export function serverPath(server: string): { tenant: string; name: string; path: string } {
  const [tenant = "", name = "", ...more] = server.split("/");
  if (tenant === "" || name === "" || more.length > 0) {
    throw new RollcallError("ErrorBadName", `"${server}" is not the name of a server`, {
      hint: "It looks like acme/weather",
    });
  }
  return { tenant, name, path: `${segment(tenant)}/${segment(name)}` };
}
