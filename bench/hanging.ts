import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { runCommand } from "../scripts/command.ts";
import { startSource } from "../scripts/drills/mcp-source.ts";
import { manifest } from "./cases/tools.ts";
import { prepare, startTarget, type Target } from "./harness/target.ts";

const help = `
Usage: npm run drill:hanging

What subscribers and sources that never answer cost the others of their tenant: 0, 1, 2, 4 and 8 of them, each number in
a tenant of its own, all at once. Prints how long the next subscriber waited for a change, for the first that was told and
for the second, and how long the next source waited to be asked. Takes about 20 seconds.
`;

const numbers = [0, 1, 2, 4, 8];
const patienceMs = 60_000;

await runCommand({ help, options: {} }, async () => {
  const target = await startTarget();
  const hanging = await listen(() => {});
  try {
    const rows = await Promise.all(
      numbers.map(async (number) => {
        const [first, second] = await subscribers(target, hanging.url, number);
        return { number, first, second, source: await sources(target, hanging.url, number) };
      }),
    );
    console.log("| that hang | first change, ms | second change, ms | source asked, ms |");
    console.log("| ---: | ---: | ---: | ---: |");
    for (const { number, first, second, source } of rows)
      console.log(`| ${number} | ${first} | ${second} | ${source} |`);
  } finally {
    await hanging.stop();
    await target.stop();
  }
});

/** How long two changes took to reach a subscriber that answers, after so many that do not. */
async function subscribers(target: Target, hangingUrl: string, number: number): Promise<number[]> {
  const tenant = `subscribers-${number}`;
  const caller = await target.callerOf([tenant]);
  const send = (method: string, path: string, body: unknown) => prepare(target, method, path, caller, body);
  let told = Promise.withResolvers<void>();
  const receiver = await listen((request, response) => {
    request.resume().on("end", () => response.writeHead(204).end());
    told.resolve();
  });
  try {
    const path = `/api/mcp/capabilities/${tenant}/changing`;
    await send("PUT", path, manifest(1, 1));
    for (let index = 0; index < number; index += 1)
      await send("POST", "/api/subscriptions", { tenant, url: `${hangingUrl}${index}` });
    await send("POST", "/api/subscriptions", { tenant, url: receiver.url });
    const waited: number[] = [];
    for (const seed of [2, 3]) {
      told = Promise.withResolvers();
      const started = performance.now();
      await send("PUT", path, manifest(1, seed));
      waited.push(await elapsed(started, told.promise));
    }
    return waited;
  } finally {
    await receiver.stop();
  }
}

/** How long a new source that answers waited to be asked, after so many new ones that do not. */
async function sources(target: Target, hangingUrl: string, number: number): Promise<number> {
  const tenant = `sources-${number}`;
  const caller = await target.callerOf([tenant]);
  const asked = Promise.withResolvers<void>();
  const source = await startSource(() => {
    asked.resolve();
    return manifest(1, 1).tools;
  });
  const add = (name: string, url: string) =>
    prepare(target, "POST", "/api/mcp/configs", caller, {
      tenant,
      name,
      sources: [{ id: "main", type: "streamable-http", url }],
    });
  try {
    for (let index = 0; index < number; index += 1) await add(`hanging-${index}`, `${hangingUrl}${index}`);
    const started = performance.now();
    await add("healthy", source.url);
    return await elapsed(started, asked.promise);
  } finally {
    await source.stop();
  }
}

async function elapsed(started: number, event: Promise<void>): Promise<number> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`nothing came in ${patienceMs / 1_000} s`)), patienceMs);
  await Promise.race([event, late]).finally(() => clearTimeout(timer));
  return Math.round(performance.now() - started);
}

async function listen(listener: RequestListener): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
