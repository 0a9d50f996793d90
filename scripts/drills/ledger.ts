import { DirectoryWatch } from "./directory-watch.ts";
import { HookSender } from "./hook-sender.ts";
import { startSource } from "./mcp-source.ts";
import { isAcknowledged, manifestOf, type Outcome, repeat, send } from "./traffic.ts";

export const tenant = "crash";
/** Written by events of its publisher. */
const hooked = "hooked";
/** Read from a source. */
const sourced = "sourced";
const writers = 4;
/** At every other turn publishes more items than one transaction writes: they are staged first. */
const largeServer = "s3";
const largeTools = 800;

/** What was acknowledged to the clients of the crash drill, and what was found of it after a crash. */
export class Ledger {
  readonly totals = { acknowledged: 0, lost: 0, duplicated: 0, resumed: 0, unresumed: 0 };
  readonly #token: string;
  /** By server: the last turn that was acknowledged. A later one may be there as well: its answer was cut off. */
  readonly #turns = new Map<string, number>();
  /** Registrations by key: the id once it is known. */
  readonly #hooks = new Map<string, string | undefined>();
  #sessions: { id: string; resume: string }[] = [];
  readonly #sender = new HookSender(tenant);
  readonly #directory = new DirectoryWatch(tenant);
  /** What the source offers now. */
  #offered = 0;
  #source: Awaited<ReturnType<typeof startSource>> | undefined;
  #round = 0;
  #problems: string[] = [];
  readonly #byKind = new Map<string, number>();

  constructor(token: string) {
    this.#token = token;
  }

  /** What must be there before anything is killed. */
  async prepare(url: string): Promise<void> {
    this.#source = await startSource(() => (manifestOf(sourced, this.#offered) as { tools: object[] }).tools);
    const sources = [{ id: "main", type: "streamable-http", url: this.#source.url }];
    await this.#must(url, "POST", "/api/mcp/configs", { tenant, name: sourced, sources });
    await this.#must(url, "POST", "/api/mcp/configs", { tenant, name: hooked });
    const { data } = await this.#must(url, "POST", "/api/hooks", { tenant, server: hooked });
    await this.#sender.register(data);
    await this.#must(url, "POST", "/api/mcp/configs", { tenant, name: "s2", visibility: "public" });
  }

  async stop(): Promise<void> {
    await this.#source?.stop();
  }

  /** Starts the clients. Call the result when the server is dead: it waits for them to notice. */
  load(url: string): () => Promise<void> {
    this.#round += 1;
    let isOver = false;
    const ends = () => isOver;
    const clients = [
      ...Array.from({ length: writers }, (_, index) => repeat(ends, () => this.#publish(url, `s${index}`))),
      repeat(ends, () => this.#registerHook(url)),
      repeat(ends, () => this.#negotiate(url)),
      repeat(ends, () => this.#sendEvent(url)),
      repeat(ends, () => this.#refresh(url)),
      repeat(ends, () => this.#switchVisibility(url)),
      repeat(ends, () => this.#directory.look(url)),
    ];
    return async () => {
      isOver = true;
      await Promise.all(clients);
    };
  }

  async check(url: string): Promise<void> {
    for (const [server, turn] of this.#turns) await this.#checkServer(url, server, turn);
    await this.#checkLog(url);
    await this.#checkHooks(url);
    await this.#checkSessions(url);
    const behind = await this.#directory.check(url, this.#token);
    this.totals.lost += behind.length;
    this.#problems.push(...behind);
  }

  /** Large publishes that were acknowledged, and states of the directory that were seen. */
  get slowWork(): { largePublishes: number; directoryStates: number } {
    return { largePublishes: this.#byKind.get("large publish") ?? 0, directoryStates: this.#directory.states };
  }

  summary(): string {
    const { acknowledged, lost, duplicated, resumed } = this.totals;
    return `acknowledged ${acknowledged}, lost ${lost}, duplicated ${duplicated}, resumed ${resumed}`;
  }

  report(): string {
    const { unresumed } = this.totals;
    const kinds = [...this.#byKind].map(([kind, count]) => `${kind} ${count}`).join(", ");
    const problems = this.#problems.slice(0, 10).map((problem) => `  ${problem}`);
    return [
      `${this.summary()}, not resumed ${unresumed}`,
      `acknowledged by kind: ${kinds}; states of the directory that were seen: ${this.#directory.states}`,
      ...problems,
    ].join("\n");
  }

  async #publish(url: string, server: string): Promise<number> {
    const turn = (this.#turns.get(server) ?? 0) + 1;
    const tools = server === largeServer && turn % 2 === 0 ? largeTools : 3;
    const path = `/api/mcp/capabilities/${tenant}/${server}`;
    const outcome = await this.#send(url, "PUT", path, manifestOf(server, turn, tools));
    if (isAcknowledged(outcome)) {
      this.#turns.set(server, turn);
      this.#count(tools === largeTools ? "large publish" : "publish");
    }
    return outcome.status === undefined ? 20 : 0;
  }

  async #registerHook(url: string): Promise<number> {
    const pending = [...this.#hooks].find(([, id]) => id === undefined)?.[0];
    if (pending === undefined && this.#hooks.size >= 80) return 100;
    // A request whose answer was cut off is sent again with its key.
    const key = pending ?? `key-${this.#round}-${this.#hooks.size}`;
    this.#hooks.set(key, undefined);
    const headers = { "Idempotency-Key": key };
    const outcome = await this.#send(url, "POST", "/api/hooks", { tenant, server: "s0", description: key }, headers);
    if (isAcknowledged(outcome)) {
      this.#hooks.set(key, outcome.body.data.id);
      this.#count("hook");
    }
    return 40;
  }

  async #negotiate(url: string): Promise<number> {
    const request = { client_name: "drill", client_version: "1", supported_capabilities: ["session_resume"] };
    const outcome = await this.#send(url, "POST", "/mcp/negotiate", request);
    const { id, resume_token: resume } = outcome.body?.session ?? {};
    if (isAcknowledged(outcome) && typeof resume === "string") {
      this.#sessions.push({ id, resume });
      this.#count("negotiation");
    }
    return 50;
  }

  /** An event without an answer is sent again as the same message, which has no second effect. */
  async #sendEvent(url: string): Promise<number> {
    const { outcome, turn } = await this.#sender.send(url, (next) => manifestOf(hooked, next));
    if (isAcknowledged(outcome)) {
      this.totals.acknowledged += 1;
      this.#turns.set(hooked, turn);
      this.#count("event");
    }
    return 30;
  }

  async #refresh(url: string): Promise<number> {
    this.#offered += 1;
    const turn = this.#offered;
    const outcome = await this.#send(url, "POST", `/api/mcp/capabilities/${tenant}/${sourced}/refresh`);
    if (isAcknowledged(outcome)) {
      this.#turns.set(sourced, turn);
      this.#count("refresh");
    }
    return 100;
  }

  /** Public servers are in the directory, which builds what the edge reads from it. */
  async #switchVisibility(url: string): Promise<number> {
    const visibility = Math.random() < 0.5 ? "public" : "tenant";
    const outcome = await this.#send(url, "PUT", "/api/mcp/configs", { tenant, name: "s1", visibility });
    if (isAcknowledged(outcome)) this.#count("visibility");
    return 60;
  }

  async #checkServer(url: string, server: string, turn: number): Promise<void> {
    const path = `/api/mcp/capabilities/${tenant}/${server}`;
    const outcome = await this.#send(url, "GET", path, undefined, { "Cache-Control": "no-cache" });
    const shown = Number(/^Turn (\d+)\.$/.exec(outcome.body?.data?.tools?.[0]?.description ?? "")?.[1] ?? 0);
    if (shown < turn) {
      this.totals.lost += turn - shown;
      this.#problems.push(`${server}: turn ${turn} was acknowledged, turn ${shown} is there (${outcome.status})`);
    }
    this.#turns.set(server, Math.max(shown, 0));
  }

  /** No write is in the log twice, and its numbers have no gaps. */
  async #checkLog(url: string): Promise<void> {
    const seen = new Set<string>();
    for (let since = 0; ; ) {
      const { body } = await this.#send(url, "GET", `/api/changes/${tenant}?since=${since}&limit=1000`);
      const items = (body?.data?.items ?? []) as { sequence: number; server: string; kind: string; to?: string }[];
      if (items.length === 0) return;
      for (const { sequence, server, kind, to } of items) {
        since += 1;
        if (sequence !== since) this.#problems.push(`the log has ${sequence} where ${since} belongs`);
        since = sequence;
        // Tools have the turn in their words, so that each digest comes once.
        const entry = `${server} ${kind} ${to}`;
        if (kind === "tool" && to !== undefined && seen.has(entry)) {
          this.totals.duplicated += 1;
          this.#problems.push(`${entry} is in the log twice`);
        }
        seen.add(entry);
      }
    }
  }

  async #checkHooks(url: string): Promise<void> {
    const { body } = await this.#send(url, "GET", `/api/hooks?tenant=${tenant}`);
    const found = (body?.data?.items ?? []) as { id: string; description: string }[];
    const ids = new Set(found.map(({ id }) => id));
    for (const [key, id] of this.#hooks) {
      const same = found.filter(({ description }) => description === key).length;
      if (same > 1) this.totals.duplicated += same - 1;
      if (id !== undefined && !ids.has(id)) this.totals.lost += 1;
      if (same > 1 || (id !== undefined && !ids.has(id))) this.#problems.push(`hook ${key}: ${same} found`);
    }
  }

  async #checkSessions(url: string): Promise<void> {
    const sessions = this.#sessions.splice(0);
    for (const { id, resume } of sessions) {
      const resumed = await this.#send(url, "POST", "/mcp/session/resume", { resume_token: resume });
      if (isAcknowledged(resumed)) this.totals.resumed += 1;
      else {
        this.totals.unresumed += 1;
        this.#problems.push(`session ${id}: ${resumed.status} ${JSON.stringify(resumed.body)}`);
      }
    }
  }

  #count(kind: string): void {
    this.#byKind.set(kind, (this.#byKind.get(kind) ?? 0) + 1);
  }

  async #must(url: string, method: string, path: string, body: unknown) {
    const outcome = await this.#send(url, method, path, body);
    if (!isAcknowledged(outcome))
      throw new Error(`${method} ${path}: ${outcome.status} ${JSON.stringify(outcome.body)}`);
    return outcome.body;
  }

  async #send(url: string, ...request: [string, string, unknown?, Record<string, string>?]): Promise<Outcome> {
    const outcome = await send(url, this.#token, ...request);
    if (isAcknowledged(outcome) && request[0] !== "GET") this.totals.acknowledged += 1;
    return outcome;
  }
}
