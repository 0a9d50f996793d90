import { CommandError, UsageError } from "../command.ts";

/** How long one request may take. A deployment that is slower than this is not well. */
const patienceMs = 15_000;

export interface Sent {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: each step reads what its own answer holds
  body: any;
}

interface Request {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** Without the token, as anyone would ask. */
  anonymous?: boolean;
}

/** A deployment at an address, and the caller who tries it. */
export class Deployment {
  readonly url: string;
  readonly #token: string;
  /** Aborts at Ctrl-C, at SIGTERM and when the whole trial takes too long. */
  #signal: AbortSignal;

  constructor(url: string, token: string, signal: AbortSignal) {
    this.url = url;
    this.#token = token;
    this.#signal = signal;
  }

  /** For what must be removed although the trial was aborted. */
  resumed(): Deployment {
    return new Deployment(this.url, this.#token, new AbortController().signal);
  }

  async send(path: string, request: Request = {}): Promise<Sent> {
    const response = await this.open(path, request, AbortSignal.timeout(patienceMs));
    const text = await this.#reached(path, () => response.text());
    return { status: response.status, headers: response.headers, body: parsed(text) };
  }

  /** The answer's data. Every other status than `wanted` is an error that repeats what the registry said. */
  async expect(wanted: number, path: string, request: Request = {}): Promise<Sent> {
    const sent = await this.send(path, request);
    if (sent.status !== wanted) throw this.unexpected(sent, wanted, path, request);
    return sent;
  }

  unexpected(sent: Sent, wanted: number, path: string, request: Request): CommandError {
    return new CommandError(`${request.method ?? "GET"} ${path} answered ${sent.status}, not ${wanted}${said(sent)}`);
  }

  /** Like `send`, without reading the body: for streams. Ends when `until` aborts. */
  open(path: string, request: Request, until: AbortSignal): Promise<Response> {
    const { method = "GET", body, headers = {}, anonymous = false } = request;
    return this.#reached(path, () =>
      fetch(`${this.url}${path}`, {
        method,
        headers: { ...(anonymous ? {} : { Authorization: `Bearer ${this.#token}` }), ...headers },
        body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
        // A token goes to the address that was given and nowhere else.
        redirect: "manual",
        signal: AbortSignal.any([this.#signal, until]),
      }),
    );
  }

  async #reached<T>(path: string, request: () => Promise<T>): Promise<T> {
    try {
      return await request();
    } catch (error) {
      if (this.#signal.aborted) throw new CommandError(String(this.#signal.reason?.message ?? "Stopped"));
      const { cause, name, message } = error as Error & { cause?: { code?: string } };
      const reason =
        name === "TimeoutError" ? `no answer within ${patienceMs / 1_000} s` : whyUnreached(cause?.code, message);
      throw new CommandError(`${this.url}${path} cannot be reached: ${reason}`);
    }
  }
}

/** The origin that a person wrote. A token in the clear may only go to this machine. */
export function parseOrigin(text: string): string {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new UsageError(`"${text}" is no URL; give one such as https://registry.example.com.`);
  }
  if (url.username !== "" || url.href !== `${url.origin}/`) {
    throw new UsageError(`Give the origin alone, ${url.origin}: the registry is served at the root of its host.`);
  }
  if (url.protocol === "http:" && !["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)) {
    throw new UsageError(`${url.origin} is not https: the token would go over the network in the clear.`);
  }
  return url.origin;
}

function whyUnreached(code: string | undefined, message: string): string {
  const known: Record<string, string> = {
    ECONNREFUSED: "nothing listens there; is it running?",
    ENOTFOUND: "there is no such host; is the address right?",
  };
  const said = code === undefined ? undefined : known[code];
  return said === undefined ? (code ?? message) : `${said} (${code})`;
}

function parsed(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What an error says in its body, in either of its forms. */
function said({ body, status, headers }: Sent): string {
  if (status >= 300 && status < 400) return `: it redirects to ${headers.get("Location")}. Give that address.`;
  const error = body?.error;
  const message = typeof error === "string" ? error : error?.message;
  const hint = error?.details?.hint ?? body?.details?.hint;
  if (typeof message !== "string") return ". Is this a Rollcall registry?";
  return `: ${message}.${typeof hint === "string" ? ` ${hint}.` : ""}`;
}
