import { createSender, type Sender } from "../webhooks/index.ts";
import { unref } from "./ask.ts";
import { isObject, type Json } from "./manifest.ts";

export interface PublishingOptions {
  /** Address of the hook; ROLLCALL_HOOK_URL if absent. */
  url?: string;
  /** Its secret; ROLLCALL_HOOK_SECRET if absent. */
  secret?: string;
  /**
   * Build number, ROLLCALL_RELEASE if absent. With it an old replica that restarts cannot bring back what a newer release
   * replaced; without, the latest to start wins.
   */
  release?: number | string;
  /** In Workers: `ctx.waitUntil`, so that publishing may outlive the request. */
  waitUntil?: (work: Promise<unknown>) => void;
  /** For the one line that says why nothing is published; stderr if absent. */
  log?: (line: string) => void;
  fetch?: (input: string, init: RequestInit) => Promise<Response>;
}

/** Reads what the server offers now; undefined if that is not possible any more. */
export type Read = () => Promise<Json | undefined>;

const firstDelayMs = 1_000;
const longestDelayMs = 300_000;
const settleMs = 500;
const requestMs = 10_000;
/** A Worker may go on for 30 seconds after its answer: two requests and the pause between them fit. */
const triesInWorker = 2;
const longestWaitInWorkerMs = 5_000;
const largestStep = 2 ** 20 - 1;

const publishers = new Map<string, Publisher | undefined>();

/** One for each hook in this process, however many sessions there are; undefined where nothing is to be published. */
export function publisherFor(options: PublishingOptions): Publisher | undefined {
  const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};
  const url = options.url ?? env.ROLLCALL_HOOK_URL ?? "";
  const secret = options.secret ?? env.ROLLCALL_HOOK_SECRET ?? "";
  const release = String(options.release ?? env.ROLLCALL_RELEASE ?? "");
  if (publishers.has(url)) return publishers.get(url);
  const problem = problemOf(url, secret, release);
  const { log = (line: string) => console.error(line) } = options;
  if (problem !== undefined) log(`rollcall: not publishing: ${problem}`);
  const publisher = problem === undefined ? new Publisher(url, secret, release, { ...options, log }) : undefined;
  publishers.set(url, publisher);
  return publisher;
}

function problemOf(url: string, secret: string, release: string): string | undefined {
  if (url === "" || secret === "") return "ROLLCALL_HOOK_URL and ROLLCALL_HOOK_SECRET are not set";
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) return "ROLLCALL_HOOK_URL is not an http or https address";
  return /^\d{0,9}$/.test(release) ? undefined : "ROLLCALL_RELEASE is not a build number";
}

interface Stdin {
  once?: (event: string, listener: () => void) => void;
}

interface Offer {
  text: string;
  manifest: Json;
}

type Outcome = "done" | "refused" | "stop" | "again";

/** Sends manifests one after the other, the newest of those that wait. Never throws and never keeps the process alive. */
export class Publisher {
  readonly #url: string;
  readonly #secret: string;
  readonly #release: string;
  readonly #options: PublishingOptions & { log: (line: string) => void };
  #isNeeded = true;
  #isReading = false;
  #waiting: Read | undefined;
  #isSending = false;
  #isStopped = false;
  #settling: unknown;
  #offer: Offer | undefined;
  #sent = "";
  #last = 0;
  #isDown = false;
  #retryAfterMs = 0;
  /** Made with the first request: a Worker must not make one while its module loads. */
  #flight: AbortController | undefined;
  #isLeaving = false;

  constructor(
    url: string,
    secret: string,
    release: string,
    options: PublishingOptions & { log: (line: string) => void },
  ) {
    this.#url = url;
    this.#secret = secret;
    this.#release = release;
    this.#options = options;
  }

  /** Publishes what `read` finds, unless that was done already in this process. */
  start(read: Read): void {
    if (!this.#isNeeded || this.#isStopped) return;
    // A list changed while it was read: read it again afterwards.
    if (this.#isReading) this.#waiting = read;
    else this.#keep(this.#read(read));
  }

  /** Reads again: the server said that a list changed. Several changes at once are one. */
  changed(read: Read): void {
    this.#isNeeded = true;
    clearTimeout(this.#settling as number);
    const settled = new Promise<void>((resolve) => {
      this.#settling = setTimeout(() => {
        this.start(read);
        resolve();
      }, settleMs);
    });
    unref(this.#settling);
    this.#keep(settled);
  }

  /** For a process with one client: a request in flight must not keep it alive when the client is gone. */
  leaveWithClient(): void {
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    const { stdin } = (globalThis as { process?: { stdin?: Stdin } }).process ?? {};
    // Transports of SDK 1 do not notice that their input ended.
    for (const event of ["end", "close"]) stdin?.once?.(event, () => this.leave());
  }

  leave(): void {
    this.#flight?.abort();
    this.#flight = undefined;
  }

  #keep(work: Promise<unknown>): void {
    const quiet = work.catch(() => {});
    try {
      this.#options.waitUntil?.(quiet);
    } catch {}
  }

  async #read(read: Read): Promise<void> {
    this.#isReading = true;
    this.#isNeeded = false;
    let manifest: Json | undefined;
    try {
      manifest = await read();
    } catch {}
    this.#isReading = false;
    const delivered = manifest && this.#deliver(manifest);
    // The next connection is asked instead.
    if (manifest === undefined) this.#isNeeded = true;
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting !== undefined) this.start(waiting);
    await delivered;
  }

  async #deliver(manifest: Json): Promise<void> {
    const text = JSON.stringify(manifest);
    this.#offer = text === this.#sent ? undefined : { text, manifest };
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      await this.#sendAll();
    } finally {
      this.#isSending = false;
    }
  }

  async #sendAll(): Promise<void> {
    for (let failures = 0; this.#offer !== undefined && !this.#isStopped; ) {
      const offer = this.#offer;
      const outcome = await this.#try(offer).catch((error): Outcome => this.#again(messageOf(error)));
      if (outcome === "again") {
        failures += 1;
        const isLong = failures >= triesInWorker || this.#retryAfterMs > longestWaitInWorkerMs;
        if (this.#options.waitUntil !== undefined && isLong) {
          this.#retryAfterMs = 0;
          this.#isNeeded = true;
          return;
        }
        await this.#pause(failures);
        continue;
      }
      failures = 0;
      if (outcome === "done") this.#sent = offer.text;
      if (outcome === "stop") this.#isStopped = true;
      if (this.#offer === offer) this.#offer = undefined;
    }
  }

  #pause(failures: number): Promise<void> {
    const delay = Math.min(longestDelayMs, firstDelayMs * 2 ** Math.min(failures - 1, 20));
    const wait = Math.max(delay * (0.5 + Math.random() / 2), this.#retryAfterMs);
    this.#retryAfterMs = 0;
    return new Promise((resolve) => unref(setTimeout(resolve, wait)));
  }

  async #try({ manifest }: Offer): Promise<Outcome> {
    const sender = await this.#sender();
    if (sender === undefined) return "stop";
    const first = await this.#send(sender, { manifest }, this.#next());
    if (first.outcome !== "done" || first.answer.outcome !== "stale") return this.#settle(first);
    if (this.#release === "")
      return this.#say(
        "another replica with a later clock has published; this one waits for its next change",
        "refused",
      );
    return this.#settle(await this.#overtake(sender, manifest));
  }

  /** Another replica of this release was here: take a higher number, unless a newer release was. */
  async #overtake(sender: Sender, manifest: Json): Promise<Sent> {
    const highest = await this.#send(sender, { manifest, dryRun: true }, this.#base() + largestStep);
    if (highest.outcome !== "done") return highest;
    if (highest.answer.outcome === "stale")
      return {
        ...highest,
        outcome: this.#say(`release ${this.#release} does not publish: a newer release has`, "stop"),
      };
    let step = Math.max(1, this.#last - this.#base());
    for (;;) {
      step = Math.min(largestStep, step * 2);
      this.#last = this.#base() + step;
      const sent = await this.#send(sender, { manifest }, this.#last);
      if (sent.outcome !== "done" || sent.answer.outcome !== "stale" || step === largestStep) return sent;
    }
  }

  async #sender(): Promise<Sender | undefined> {
    try {
      return await createSender({ url: this.#url, secret: this.#secret, fetch: this.#options.fetch });
    } catch {
      this.#say("ROLLCALL_HOOK_SECRET is not a secret: it looks like whsec_ and base64", "stop");
      return undefined;
    }
  }

  async #send(sender: Sender, data: Json, sequence: number): Promise<Sent> {
    this.#flight ??= new AbortController();
    const signal = AbortSignal.any([this.#flight.signal, AbortSignal.timeout(requestMs)]);
    const { status, answer, retryAfter } = await sender.send("manifest.published", data, { sequence, signal });
    const error = isObject(answer.error) ? answer.error : answer;
    const reason = plain(String(error.message ?? `HTTP ${status}`));
    if (status >= 200 && status < 300) return { outcome: "done", answer };
    const outcome = this.#refusal(status, reason, error);
    if (outcome === "again") this.#retryAfterMs = Math.min(longestDelayMs, (retryAfter ?? 0) * 1_000);
    return { outcome, answer };
  }

  #refusal(status: number, reason: string, error: Json): Outcome {
    if (status === 401)
      return this.#say(
        `stopped: the registry does not accept the signature. Check ROLLCALL_HOOK_SECRET and this machine's clock; if the hook is gone, make one with: rollcall hooks add`,
        "stop",
      );
    if (status === 410)
      return this.#say(
        "stopped: the hook is switched off. Switch it on with: rollcall hooks on; then start the server again",
        "stop",
      );
    if (status === 403 || status === 404 || (status >= 300 && status < 400))
      return this.#say(
        `stopped: the hook does not take this: ${reason} (HTTP ${status}). Check ROLLCALL_HOOK_URL`,
        "stop",
      );
    if (status === 429 || status >= 500) return this.#again(`${reason} (HTTP ${status})`);
    const { issues } = isObject(error.details) ? error.details : {};
    const places = (Array.isArray(issues) ? issues : [])
      .filter(isObject)
      .map(({ path, message }) => `${path} ${message}`);
    const more = places.length > 3 ? `; and ${places.length - 3} more` : "";
    const where = places.length === 0 ? "" : `: ${plain(places.slice(0, 3).join("; "))}${more}`;
    return this.#say(`the registry refused what this server offers (HTTP ${status}): ${reason}${where}`, "refused");
  }

  #settle({ outcome, answer }: Sent): Outcome {
    if (outcome !== "done") return outcome;
    if (answer.outcome === "pending" || answer.pending !== undefined)
      this.#say("published, and held for review: readers see the approved revision until then", "done");
    else if (this.#isDown) this.#say("published after all", "done");
    this.#isDown = false;
    return "done";
  }

  /** One line for an outage, however long it is. */
  #again(reason: string): Outcome {
    if (!this.#isDown) this.#say(`cannot publish, trying again later: ${reason}`, "again");
    this.#isDown = true;
    return "again";
  }

  #say(line: string, outcome: Outcome): Outcome {
    try {
      this.#options.log(`rollcall: ${line}`);
    } catch {}
    return outcome;
  }

  #base(): number {
    return (2 ** 22 + Number(this.#release)) * 2 ** 20;
  }

  /** Orders the events of a hook. Switching from the clock to releases only raises the number. */
  #next(): number {
    this.#last = this.#release === "" ? Math.max(this.#last + 1, Date.now()) : Math.max(this.#last, this.#base()) + 1;
    return this.#last;
  }
}

interface Sent {
  outcome: Outcome;
  answer: Json;
}

function messageOf(error: unknown): string {
  const {
    name = "",
    message = "",
    cause,
  } = (error ?? {}) as { name?: string; message?: string; cause?: { code?: string } };
  if (name === "TimeoutError") return "the registry did not answer in time";
  return plain(cause?.code ?? message) || "the registry cannot be reached";
}

/** What others wrote, on one line. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would reach a terminal
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, " ").slice(0, 500);
}
