import { Miniflare, NoOpLog } from "miniflare";
import type { Received } from "./exchange.ts";

export interface Floor {
  origins: Map<string, string>;
  stop(): Promise<void>;
}

/**
 * The fastest this machine can answer: for each case a Worker in the same runtime that does nothing but return the
 * bytes of the registry's answer, built once. It has a socket of its own, so that it need not even look at the path.
 * Only the type of its content is sent along; everything else the registry says in headers is the registry's cost.
 */
export async function startFloor(answers: ReadonlyMap<string, Received>): Promise<Floor> {
  const names = new Map([...answers.keys()].map((name, index) => [name, `floor-${index}`]));
  const runtime = new Miniflare({
    host: "127.0.0.1",
    port: 0,
    cf: false,
    logRequests: false,
    log: new NoOpLog(),
    workers: [...answers].map(([name, answer]) => ({
      name: names.get(name) ?? name,
      modules: true,
      compatibilityDate: "2026-07-30",
      script: floorWorker,
      bindings: {
        STATUS: answer.status,
        TYPE: answer.headers["content-type"] ?? "",
        BODY: answer.body.toString("utf8"),
      },
      unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    })),
  });
  await runtime.ready;
  const origins = new Map<string, string>();
  for (const [name, worker] of names) origins.set(name, (await runtime.unsafeGetDirectURL(worker)).origin);
  return { origins, stop: () => runtime.dispose() };
}

const floorWorker = `
let init, body;
export default {
  async fetch(request, { STATUS, TYPE, BODY }) {
    // Left unread, a body of any size would cost the connection.
    if (Number(request.headers.get("Content-Length")) > 16384) await request.arrayBuffer();
    if (init === undefined) {
      const empty = STATUS === 304;
      init = empty ? { status: STATUS } : { status: STATUS, headers: { "Content-Type": TYPE } };
      body = empty ? null : new TextEncoder().encode(BODY);
    }
    return new Response(body, init);
  },
};
`;
