import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { stopAll } from "../support/process.ts";
import { type RegistryProcess, startRegistry } from "../support/registry-process.ts";

/** Over real connections: only there does a client that leaves say nothing. */

let registry: RegistryProcess;

beforeAll(async () => {
  registry = await startRegistry("acme");
});

afterAll(async () => {
  await registry?.remove();
  await stopAll();
});

/** A stream over a connection of its own, once its first lines are there. Destroying the socket is the client's leaving. */
async function open() {
  const { hostname, port } = new URL(registry.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `GET /api/changes/acme HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAccept: text/event-stream\r\n` +
      `Authorization: Bearer ${registry.token}\r\n\r\n`,
  );
  const text = await new Promise<string>((resolve, reject) => {
    let read = "";
    socket.once("error", reject);
    socket.on("data", (chunk) => {
      read += chunk;
      if (read.includes("retry: ") || read.includes('"success"')) resolve(read);
    });
  });
  return { socket, status: Number(text.split(" ")[1]) };
}

/** Stream objects that the tenant tells of writes, read from its database: asking the objects would wake them. */
function watchers(): number {
  const folder = join(registry.data, "objects", "rollcall-TenantObject");
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".sqlite") && name !== "metadata.sqlite")) {
    const database = new DatabaseSync(join(folder, file), { readOnly: true });
    try {
      return Number(database.prepare("SELECT count(*) AS count FROM watcher").get()?.["count"]);
    } finally {
      database.close();
    }
  }
  return 0;
}

it("lets go of every stream within ten seconds of its client's leaving", { timeout: 30_000 }, async () => {
  await registry.send("PUT", "/api/mcp/capabilities/acme/s", { tools: [] });
  const streams = await Promise.all([open(), open(), open(), open()]);
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(watchers()).toBe(1);
  for (const { socket } of streams) socket.destroy();
  await vi.waitFor(() => expect(watchers()).toBe(0), { timeout: 10_000, interval: 100 });
  const again = await Promise.all([open(), open(), open(), open()]);
  expect(again.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  for (const { socket } of again) socket.destroy();
});
