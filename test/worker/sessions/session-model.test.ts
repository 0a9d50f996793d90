import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { age, client, inSession, negotiate, sessionStub, stored } from "../support/negotiating.ts";
import { Registry } from "../support/registry.ts";

const idle = 3_600;
const window = 86_400;

/** What should be true of one session. */
interface Expected {
  id: string;
  resumable: boolean;
  token: string | undefined;
  /** Seconds since its last use was written down. */
  idle: number;
  /** Ended, or handed on to another id. */
  over: boolean;
}

interface Model {
  sessions: Expected[];
}

/** The real thing: isolates that share the objects, the first of which has a memo that the steps may outlive. */
interface Real {
  now: number;
  isolates: Registry[];
}

const alive = (session: Expected) => !session.over && session.idle <= idle;
const resumable = (session: Expected) => !session.over && session.resumable && session.idle <= idle + window;

type Step = fc.AsyncCommand<Model, Real>;

abstract class OnSession implements Step {
  readonly which: number;
  readonly isolate: number;
  constructor(which: number, isolate: number) {
    this.which = which;
    this.isolate = isolate;
  }
  check = ({ sessions }: Readonly<Model>) => sessions.length > 0;
  pick({ sessions }: Model): Expected {
    const session = sessions[this.which % sessions.length];
    if (session === undefined) throw new Error("checked before");
    return session;
  }
  at(real: Real): Registry {
    return real.isolates[this.isolate] as Registry;
  }
  abstract run(model: Model, real: Real): Promise<void>;
  toString = () => `${this.constructor.name}(${this.which} at ${this.isolate})`;
}

class Create implements Step {
  readonly resumable: boolean;
  constructor(flag: boolean) {
    this.resumable = flag;
  }
  check = () => true;
  async run(model: Model, real: Real): Promise<void> {
    const request = client("sampling", ...(this.resumable ? ["session_resume"] : []));
    const { id, answer } = await negotiate(real.isolates[0] as Registry, request);
    expect(answer.status).toBe(200);
    const token = answer.body.session.resume_token;
    expect(typeof token).toBe(this.resumable ? "string" : "undefined");
    model.sessions.push({ id, resumable: this.resumable, token, idle: 0, over: false });
  }
  toString = () => `Create(${this.resumable ? "resumable" : "plain"})`;
}

class Touch extends OnSession {
  async run(model: Model, real: Real): Promise<void> {
    const session = this.pick(model);
    const answer = await this.at(real).send("GET", "/mcp/session", inSession(session.id));
    expect(answer.status).toBe(alive(session) ? 200 : 401);
    if (!alive(session)) return;
    expect(answer.body).toMatchObject({ id: session.id, client_name: "test" });
    if (session.idle > 60) session.idle = 0;
  }
}

class Pass extends OnSession {
  readonly seconds: number;
  constructor(which: number, seconds: number) {
    super(which, 0);
    this.seconds = seconds;
  }
  async run(model: Model, real: Real): Promise<void> {
    const session = this.pick(model);
    await age(session.id, this.seconds);
    session.idle += this.seconds;
    // Time passes for the isolates as well, and what they remember of this session with it.
    real.now += this.seconds * 1_000;
  }
  override toString = () => `Pass(${this.which}, ${this.seconds} s)`;
}

class End extends OnSession {
  async run(model: Model, real: Real): Promise<void> {
    const session = this.pick(model);
    const answer = await this.at(real).send("DELETE", "/mcp/session", inSession(session.id));
    expect(answer.status).toBe(alive(session) ? 200 : 401);
    if (alive(session)) session.over = true;
    // The five seconds in which another isolate may still believe in it.
    real.now += 5_001;
  }
}

class Resume extends OnSession {
  override check = ({ sessions }: Readonly<Model>) => sessions.some(({ token }) => token !== undefined);
  async run(model: Model, real: Real): Promise<void> {
    const session = this.pick(model);
    if (session.token === undefined) return;
    const body = { resume_token: session.token };
    const answer = await this.at(real).send("POST", "/mcp/session/resume", { body });
    if (!resumable(session)) {
      expect([answer.status, answer.body.error]).toEqual([
        401,
        "Invalid resume token. Please negotiate capabilities again.",
      ]);
      return;
    }
    expect(answer.status).toBe(200);
    const id = answer.headers.get("X-MCP-Session-ID") ?? "";
    expect(id).not.toBe(session.id);
    expect(answer.body.session).toMatchObject({ id, client_capabilities: ["sampling", "session_resume"] });
    session.over = true;
    real.now += 5_001;
    model.sessions.push({ id, resumable: true, token: answer.body.session.resume_token, idle: 0, over: false });
  }
}

class Evict extends OnSession {
  async run(model: Model): Promise<void> {
    const stub = sessionStub(this.pick(model).id);
    await evictDurableObject(stub).catch((cause) => expect(String(cause)).toContain("not currently running"));
  }
}

class Alarm extends OnSession {
  async run(model: Model): Promise<void> {
    const session = this.pick(model);
    await runDurableObjectAlarm(sessionStub(session.id));
    const kept = alive(session) || resumable(session);
    const { keys, alarm } = await stored(session.id);
    expect({ kept: keys.length > 0, alarm: alarm !== null }).toEqual({ kept, alarm: kept });
  }
}

const which = fc.nat(4);
const isolate = fc.nat(1);
/** None of these add up to exactly a minute, an hour or a day: the test's own milliseconds would decide then. */
const seconds = fc.constantFrom(7, 50, 71, 1_807, 3_511, 3_701, 90_107);

describe("a session", () => {
  it("answers right whatever happens to it, in whatever order, evicted at any point", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.commands(
          [
            fc.boolean().map((flag) => new Create(flag)),
            fc.tuple(which, isolate).map((at) => new Touch(...at)),
            fc.tuple(which, seconds).map((at) => new Pass(...at)),
            fc.tuple(which, isolate).map((at) => new End(...at)),
            fc.tuple(which, isolate).map((at) => new Resume(...at)),
            fc.tuple(which, isolate).map((at) => new Evict(...at)),
            fc.tuple(which, isolate).map((at) => new Alarm(...at)),
          ],
          { maxCommands: 40 },
        ),
        async (commands) => {
          const real: Real = { now: Date.now(), isolates: [] };
          const surroundings = { now: () => real.now, vars: { NEGOTIATE_LIMIT: "10000/10000" } };
          real.isolates.push(new Registry(surroundings), new Registry(surroundings));
          await fc.asyncModelRun(() => ({ model: { sessions: [] }, real }), commands);
        },
      ),
      { numRuns: 60 },
    );
  }, 60_000);
});
