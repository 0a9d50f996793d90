import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "undici";
import { Semaphore } from "../../src/kernel/semaphore.ts";
import { cases } from "../cases/all.ts";
import { tenant } from "../cases/servers.ts";
import { freshSeeds, manifest, tool } from "../cases/tools.ts";
import type { Exchange } from "../harness/exchange.ts";
import { prepare, type Target } from "../harness/target.ts";
import type { Kind, Send } from "./clients.ts";

/** Cases that leave a new server or a session behind each time are done here together with what ends them. */
const growing = ["publish", "negotiate"];
/** Readers that ask in one case would leave the slow ones no turn. */
const clientsOfCase = 1;
/** The registry asks for one large document at a time, and answers 503 to more where it is busy. */
const large = ["publish one changed of 1,000", "publish unchanged"];
const largeTools = 1_000;
const streamMs = 1_500;
/** Between two large publishes: one costs as much as a thousand small requests. */
const pauseMs = 10_000;

/** All kinds of request, ready to be sent. `stop` ends what was started for them. */
export async function prepareKinds(target: Target) {
  const stops: (() => Promise<unknown>)[] = [];
  const kinds: Kind[] = [];
  const oneAtATime = new Semaphore(1);
  for (const { name, status, prepare: ready } of cases) {
    if (growing.includes(name)) continue;
    const { next, stop } = await ready(target, { sessions: 20 });
    if (stop !== undefined) stops.push(stop);
    const ask = async (send: Send) => void (await send(next(), status));
    const turn = large.includes(name) ? (send: Send) => oneAtATime.run(() => ask(send)) : ask;
    kinds.push({ name, clients: clientsOfCase, turn });
  }
  const caller = await target.callerOf([tenant], { subject: "soak" });
  const subscriber = await startSubscriber();
  stops.push(subscriber.stop);
  await prepare(target, "POST", "/api/subscriptions", caller, { tenant, url: subscriber.url });
  const streams = { opened: 0 };
  kinds.push(
    sessionKind(),
    serverKind(caller),
    hookKind(caller),
    largePublishKind(caller, oneAtATime),
    streamKind(target.url, caller, streams),
    badInputKind(caller),
  );
  return {
    kinds,
    counts: () => ({ streams: streams.opened, deliveries: subscriber.received() }),
    stop: async () => void (await Promise.all(stops.map((stop) => stop()))),
  };
}

const json = { "Content-Type": "application/json" };
const exchange = (method: string, path: string, headers: Record<string, string>, body?: unknown): Exchange => ({
  method,
  path,
  headers: body === undefined ? headers : { ...headers, ...json },
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
});

/** Negotiates, reads in the session, resumes it, and ends it. */
function sessionKind(): Kind {
  const offer = { client_name: "soak", client_version: "1", supported_capabilities: ["session_resume"] };
  return {
    name: "session: negotiate, read, resume, end",
    clients: 1,
    async turn(send) {
      const opened = await send(exchange("POST", "/mcp/negotiate", {}, offer), 200);
      if (opened === undefined) return;
      const { id, resume_token } = opened.body.session;
      const inSession = { "X-MCP-Session-ID": id };
      await send(exchange("GET", "/mcp/session", inSession), 200);
      const resumed = await send(exchange("POST", "/mcp/session/resume", {}, { resume_token }), 200);
      const last = resumed?.body.session.id ?? id;
      await send(exchange("DELETE", "/mcp/session", { "X-MCP-Session-ID": last }), 200, 204);
    },
  };
}

/** A server that comes and goes under the same few names. */
function serverKind(caller: Record<string, string>): Kind {
  const names = Array.from({ length: 20 }, (_, index) => `coming-${index}`);
  const firstSeed = freshSeeds(12 * names.length);
  let turns = 0;
  return {
    name: "server: create, publish, read, delete",
    clients: 1,
    async turn(send) {
      const index = turns++ % names.length;
      const name = names[index] ?? "";
      const config = { tenant, name, visibility: "public" };
      await send(exchange("POST", "/api/mcp/configs", caller, config), 201);
      const path = `/api/mcp/capabilities/${tenant}/${name}`;
      await send(exchange("PUT", path, caller, manifest(12, firstSeed + 12 * index)), 200, 201);
      await send(exchange("GET", path, { ...caller, "Cache-Control": "no-cache" }), 200);
      await send(exchange("DELETE", `/api/mcp/configs/${tenant}/${name}`, caller), 200, 204);
    },
  };
}

function hookKind(caller: Record<string, string>): Kind {
  return {
    name: "hook: register, list, delete",
    clients: 1,
    async turn(send) {
      const made = await send(exchange("POST", "/api/hooks", caller, { tenant, server: "reading" }), 201);
      await send(exchange("GET", `/api/hooks?tenant=${tenant}`, caller), 200);
      if (made !== undefined)
        await send(exchange("DELETE", `/api/hooks/${tenant}/${made.body.data.id}`, caller), 200, 204);
    },
  };
}

/** So many items that change at once are staged before they are published. */
function largePublishKind(caller: Record<string, string>, oneAtATime: Semaphore): Kind {
  const firstSeed = freshSeeds(largeTools);
  let turns = 0;
  return {
    name: `publish ${largeTools.toLocaleString("en")} changed items`,
    clients: 1,
    async turn(send) {
      const note = ` Turn ${turns++ % 2}.`;
      const tools = Array.from({ length: largeTools }, (_, index) => tool(firstSeed + index, note));
      const sent = exchange("PUT", `/api/mcp/capabilities/${tenant}/large`, caller, { version: "1.0.0", tools });
      await oneAtATime.run(() => send(sent, 200, 201));
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    },
  };
}

/** Follows the changes of a tenant for a moment and leaves without a word. */
function streamKind(origin: string, caller: Record<string, string>, streams: { opened: number }): Kind {
  return {
    name: "stream: open, leave",
    clients: 4,
    async turn(send) {
      // On a connection of its own: the runtime closes one that was idle for five seconds, such as while a stream is open.
      await send(exchange("GET", `/api/changes/${tenant}?limit=1`, { ...caller, Connection: "close" }), 200);
      const client = new Client(origin);
      try {
        const answer = await client.request({
          method: "GET",
          path: `/api/changes/${tenant}`,
          headers: { ...caller, Accept: "text/event-stream" },
        });
        // All places may be taken by streams that have just been left.
        if (answer.statusCode === 200) streams.opened += 1;
        const leaving = setTimeout(() => void client.destroy(), streamMs);
        await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER }).catch(() => {});
        clearTimeout(leaving);
      } catch {
        // Left.
      } finally {
        await client.destroy();
      }
    },
  };
}

function badInputKind(caller: Record<string, string>): Kind {
  const path = `/api/mcp/capabilities/${tenant}/reading`;
  const bad: { sent: Exchange; status: number }[] = [
    { sent: { method: "PUT", path, headers: { ...caller, ...json }, body: '{"tools": [' }, status: 400 },
    { sent: exchange("PUT", path, caller, { tools: [{ title: "without a name" }] }), status: 422 },
    { sent: { method: "PUT", path, headers: { ...caller, ...json }, body: '{"tools": [], "tools": []}' }, status: 400 },
    { sent: exchange("GET", path, { Authorization: "Bearer x" }), status: 401 },
    { sent: exchange("GET", "/api/mcp/capabilities/elsewhere/none", caller), status: 403 },
    { sent: exchange("GET", `${path}?limit=minus`, caller), status: 400 },
    { sent: exchange("POST", "/hooks/bench/none", {}, { type: "x" }), status: 401 },
    { sent: exchange("GET", "/nowhere", {}), status: 404 },
    { sent: exchange("PATCH", path, caller, {}), status: 422 },
  ];
  let turns = 0;
  return {
    name: "bad input",
    clients: 1,
    async turn(send) {
      const { sent, status } = bad[turns++ % bad.length] as (typeof bad)[number];
      await send(sent, status);
    },
  };
}

/** Takes whatever is delivered. */
async function startSubscriber() {
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    request.resume().on("end", () => response.writeHead(204).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    received: () => count,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
