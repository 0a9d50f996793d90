import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { failure } from "../../../src/kernel/failure.ts";
import { importVerifyingKey } from "../../../src/webhooks/keys.ts";
import { verifyWebhook } from "../../../src/webhooks/verify.ts";
import { describeFixture } from "../../support/fixtures.ts";
import { type Running, runCli, startCli, stopAll } from "../support/process.ts";

interface Message {
  path: string;
  id: string;
  headers: Record<string, string>;
  body: string;
}

/** A subscriber on a real socket: keeps what arrives, and answers with a status, or not at all while it is undefined. */
class Subscriber {
  readonly received: Message[] = [];
  answer: (message: Message, count: number) => number | undefined = () => 204;
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      const headers = request.headers as Record<string, string>;
      const message = { path: request.url ?? "", id: headers["webhook-id"] ?? "", headers, body };
      this.received.push(message);
      const status = this.answer(message, this.received.length);
      if (status !== undefined) response.writeHead(status, { location: "/elsewhere" }).end();
    });
  }

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What a receiver that drops repeats has seen, by generation. */
  generations(path: string): number[] {
    const once = new Map(this.received.filter((message) => message.path === path).map(({ id, body }) => [id, body]));
    return Array.from(once.values(), (body) => JSON.parse(body).data.generation as number).sort((a, b) => a - b);
  }
}

let scratch: string;
let subscriber: Subscriber;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "rollcall-subscriptions-"));
});

beforeEach(async () => {
  subscriber = new Subscriber();
  await subscriber.start();
});

afterEach(() => subscriber.stop());

afterAll(async () => {
  await stopAll();
  await rm(scratch, { recursive: true, force: true });
});

async function serve(data: string, ...args: string[]): Promise<{ server: Running; url: string }> {
  const server = startCli("serve.ts", "--port", "0", "--data", data, "--no-demo", ...args);
  const [, url = ""] = await server.line(/ready (http:\S+)/);
  return { server, url };
}

async function mint(data: string): Promise<string> {
  const { stdout } = await runCli("token.ts", "--data", data, "--tenant", "demo");
  return stdout.trim();
}

async function call(url: string, token: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the answer holds
  return { status: response.status, body: (await response.json()) as any };
}

const soon = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 60_000, interval: 25 });
const tools = (...names: string[]) => ({ tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) });

/** By the reference implementation, and by our own. Both throw or refuse on the slightest difference. */
async function verified(secret: string, { headers, body }: Message): Promise<boolean> {
  try {
    new Webhook(secret).verify(body, headers);
  } catch {
    return false;
  }
  const key = await importVerifyingKey(secret);
  if (!key.ok) return false;
  const received = { headers: new Headers(headers), body: new TextEncoder().encode(body) };
  return (await verifyWebhook(received, [key.value], Date.now())).ok;
}

describe("a registry as it is deployed", () => {
  let url: string;
  let server: Running;
  let token: string;

  beforeAll(async () => {
    const data = join(scratch, "deployed");
    token = await mint(data);
    ({ server, url } = await serve(data, "--var", "PUBLIC_URL=https://registry.example"));
  });

  afterAll(async () => {
    server.signal("SIGINT");
    await server.finished;
  });

  const refused = {
    status: 422,
    body: {
      success: false,
      error: failure("ErrorAddressRefused"),
    },
  };

  it("sends nothing to its own machine", async () => {
    for (const address of [subscriber.origin, subscriber.origin.replace("127.0.0.1", "localhost"), url]) {
      expect(await call(url, token, "POST", "/api/subscriptions", { tenant: "demo", url: address })).toEqual(refused);
    }
    expect(subscriber.received).toEqual([]);
  });

  describeFixture("to a subscriber inside", "security/ssrf.tsv", (location) => {
    const addresses = readFileSync(location, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("refuse\t"))
      .map((line) => line.split("\t")[2] ?? "")
      // Longer ones are refused by their length, with the place named.
      .filter((address) => address !== "" && address.length <= 2_048);

    it("refuses each, with one answer for all", async () => {
      expect(addresses.length).toBeGreaterThan(50);
      const odd: { address: string; status: number; code?: string }[] = [];
      for (const address of addresses) {
        const answer = await call(url, token, "POST", "/api/subscriptions", { tenant: "demo", url: address });
        if (JSON.stringify(answer) !== JSON.stringify(refused))
          odd.push({ address, status: answer.status, code: answer.body.error?.code });
      }
      // Characters that nobody can see are refused with their place, before anything is made of them.
      expect(odd.filter(({ code }) => code !== "ErrorSubscriptionInvalid")).toEqual([]);
      expect((await call(url, token, "GET", "/api/subscriptions?tenant=demo")).body.data.items).toEqual([]);
    });
  });
});

describe("a registry that may reach its own machine", () => {
  const development = ["--var", "ALLOW_LOOPBACK_FETCH=true"];
  let url: string;
  let server: Running;
  let token: string;
  let data: string;
  let round = 0;

  beforeAll(async () => {
    data = join(scratch, "development");
    token = await mint(data);
    ({ server, url } = await serve(data, ...development));
  });

  afterAll(async () => {
    server.signal("SIGINT");
    await server.finished;
  });

  const publish = async (name: string, ...names: string[]): Promise<number> => {
    const { status, body } = await call(url, token, "PUT", `/api/mcp/capabilities/demo/${name}`, tools(...names));
    expect(status).toBeLessThan(300);
    return body.data.generation;
  };
  /** To one server of its own, so that tests do not hear of each other. */
  const subscribe = async () => {
    const name = `server-${++round}`;
    const path = `/in/${name}`;
    const request = { tenant: "demo", url: `${subscriber.origin}${path}`, filters: { servers: [name] } };
    const { status, body } = await call(url, token, "POST", "/api/subscriptions", request);
    expect(status).toBe(201);
    const { id, secret } = body.data as { id: string; secret: string };
    return { name, path, id, secret };
  };
  const show = async (id: string) => (await call(url, token, "GET", `/api/subscriptions/demo/${id}`)).body.data;
  const remove = (id: string) => call(url, token, "DELETE", `/api/subscriptions/demo/${id}`);

  it("delivers what any receiver of Standard Webhooks can verify", async () => {
    const { name, id, secret } = await subscribe();
    const generation = await publish(name, `${name}_add`);
    await soon(async () => expect(await show(id)).toMatchObject({ pending: 0, attempts: [{ status: 204 }] }));
    expect(subscriber.received).toHaveLength(1);
    const [message] = subscriber.received as [Message];
    expect(await verified(secret, message)).toBe(true);
    expect(await verified(secret, { ...message, body: `${message.body} ` })).toBe(false);
    expect(JSON.parse(message.body)).toMatchObject({
      type: "capabilities.changed",
      data: {
        tenant: "demo",
        generation,
        changes: [{ server: name, name: `${name}_add`, classification: "additive" }],
      },
    });
    await remove(id);
  });

  it("signs with the old secret and the new while one replaces the other", async () => {
    const { name, id, secret } = await subscribe();
    const rotated = await call(url, token, "POST", `/api/subscriptions/demo/${id}/rotate`);
    await publish(name, `${name}_add`);
    await soon(() => expect(subscriber.received).toHaveLength(1));
    const [message] = subscriber.received as [Message];
    expect(await verified(secret, message)).toBe(true);
    expect(await verified(rotated.body.data.secret, message)).toBe(true);
    await remove(id);
  });

  it("tests a subscription, and follows no redirect", async () => {
    subscriber.answer = (_, count) => (count === 1 ? 307 : 200);
    const { id } = await subscribe();
    const test = async () => (await call(url, token, "POST", `/api/subscriptions/demo/${id}/test`)).body.data;
    expect(await test()).toMatchObject({ delivered: false, status: 307 });
    expect(await test()).toMatchObject({ delivered: true, status: 200 });
    expect(subscriber.received.map(({ path }) => path)).not.toContain("/elsewhere");
    await remove(id);
  });

  it("does not send to itself", async () => {
    for (const path of ["/", "/hooks/demo/x", "/api/mcp/configs"]) {
      const answer = await call(url, token, "POST", "/api/subscriptions", { tenant: "demo", url: `${url}${path}` });
      expect([path, answer.status, answer.body.error.code]).toEqual([path, 422, "ErrorAddressRefused"]);
    }
  });

  it("tries again by itself when its time has come", async () => {
    subscriber.answer = (_, count) => (count === 1 ? 500 : 200);
    const { name, id, secret } = await subscribe();
    await publish(name, `${name}_add`);
    await soon(async () => expect(await show(id)).toMatchObject({ pending: 0 }));
    const [first, second] = subscriber.received as [Message, Message];
    expect(second.id).toBe(first.id);
    expect(second.body).toBe(first.body);
    expect(await verified(secret, second)).toBe(true);
    const { attempts } = await show(id);
    expect(attempts).toMatchObject([
      { attempt: 2, status: 200 },
      { attempt: 1, status: 500 },
    ]);
    expect(Date.parse(attempts[0].at)).toBeGreaterThanOrEqual(Date.parse(attempts[1].nextAt));
    await remove(id);
  });

  it("answers publishers and serves others while one subscriber hangs", async () => {
    const slow = await subscribe();
    const quick = await subscribe();
    subscriber.answer = ({ path }) => (path === slow.path ? undefined : 200);
    await publish(slow.name, `${slow.name}_a`);
    await soon(() => expect(subscriber.generations(slow.path)).toHaveLength(1));
    const told: number[] = [];
    for (const name of ["a", "b", "c", "d", "e"]) told.push(await publish(quick.name, `${quick.name}_${name}`));
    await soon(() => expect(subscriber.generations(quick.path)).toEqual(told));
    expect(await show(slow.id)).toMatchObject({ pending: 1, attempts: [] });
    await Promise.all([remove(slow.id), remove(quick.id)]);
  });

  it("loses no message to kill -9 between the publish and the delivery", async () => {
    const { name, path, id } = await subscribe();
    // Takes what comes, and says nothing of it: to the registry, nothing has been delivered.
    subscriber.answer = () => undefined;
    const expected: number[] = [];
    for (const tool of ["a", "b", "c", "d", "e"]) expected.push(await publish(name, `${name}_${tool}`));
    await soon(() => expect(subscriber.received.length).toBeGreaterThan(0));
    expect(await show(id)).toMatchObject({ pending: 5 });
    server.signalGroup("SIGKILL");
    await server.finished;
    const before = subscriber.received.length;
    expect(subscriber.generations(path).length).toBeLessThan(5);

    subscriber.answer = () => 200;
    ({ server, url } = await serve(data, ...development));
    // Nobody asks the tenant for anything: it must wake by itself.
    await soon(() => expect(subscriber.generations(path)).toEqual(expected));
    await soon(async () => expect(await show(id)).toMatchObject({ state: "active", pending: 0, dropped: 0 }));
    // What had arrived came a second time under its own id, and everything else once.
    expect(subscriber.received).toHaveLength(5 + before);
    expect(new Set(subscriber.received.map((message) => message.id)).size).toBe(5);
    await remove(id);
  });
});
