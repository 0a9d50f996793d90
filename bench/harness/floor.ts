import { Miniflare, NoOpLog } from "miniflare";
import type { Received } from "./exchange.ts";

/** What the floor of a case answers. */
export interface FloorAnswer {
  name: string;
  answer: Received;
  /** A body of any size that is left unread costs the connection. */
  readsBody: boolean;
}

export interface Floor {
  origins: Map<string, string>;
  stop(): Promise<void>;
}

/**
 * The fastest this machine can answer: for each case a Worker in the same runtime that does nothing but return the
 * bytes of the registry's answer, built once. It has a socket of its own, so that it need not even look at the path.
 * Only the type of its content is sent along; everything else the registry says in headers is the registry's cost.
 */
export async function startFloor(answers: readonly FloorAnswer[]): Promise<Floor> {
  const names = new Map(answers.map(({ name }, index) => [name, `floor-${index}`]));
  const runtime = new Miniflare({
    host: "127.0.0.1",
    port: 0,
    cf: false,
    logRequests: false,
    log: new NoOpLog(),
    workers: answers.map(({ name, answer, readsBody }) => ({
      name: names.get(name) ?? name,
      modules: true,
      compatibilityDate: "2026-07-30",
      script: floorWorker(answer, readsBody),
      unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
    })),
  });
  await runtime.ready;
  const origins = new Map<string, string>();
  for (const [name, worker] of names) origins.set(name, (await runtime.unsafeGetDirectURL(worker)).origin);
  return { origins, stop: () => runtime.dispose() };
}

/** One line, with everything built before the first request. A 304 is empty. */
function floorWorker({ status, headers, body }: Received, readsBody: boolean): string {
  const answer =
    status === 304
      ? "const init = { status: 304 }, body = null;"
      : `const init = { status: ${status}, headers: new Headers({ "Content-Type": ${JSON.stringify(headers["content-type"] ?? "")} }) };
         const body = new TextEncoder().encode(${JSON.stringify(body.toString("utf8"))});`;
  const fetch = readsBody
    ? "async fetch(request) { await request.arrayBuffer(); return new Response(body, init); }"
    : "fetch() { return new Response(body, init); }";
  return `${answer}\nexport default { ${fetch} };`;
}
