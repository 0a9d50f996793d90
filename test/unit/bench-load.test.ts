import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Connections } from "../../bench/harness/load.ts";

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** One connection to a server that handles requests like this. */
async function connectTo(handle: RequestListener): Promise<Connections> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => new Promise((resolve) => server.close(resolve)));
  const connections = new Connections(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 1);
  stops.push(() => connections.close());
  return connections;
}

const load = { next: () => ({ method: "GET", path: "/", headers: {} }), status: 200, seconds: 0.2 };

describe("load on a server that drops connections", () => {
  const dropsEverySecond = (): RequestListener => {
    let received = 0;
    return (request, response) => {
      received += 1;
      if (received % 2 === 0) request.socket.destroy();
      else response.end("twelve bytes");
    };
  };

  it("counts them and goes on, where the caller wants that", async () => {
    const connections = await connectTo(dropsEverySecond());
    let [answered, bytes, dropped] = [0, 0, 0];
    const { latencies } = await connections.load({
      ...load,
      onAnswer: (_, answer) => {
        answered += 1;
        bytes = answer.bytes;
      },
      onDropped: () => {
        dropped += 1;
      },
    });
    expect(dropped).toBeGreaterThan(1);
    expect(answered).toBeGreaterThan(1);
    expect(latencies).toHaveLength(answered);
    expect(bytes).toBe(12);
  });

  it("ends with an error otherwise", async () => {
    const connections = await connectTo(dropsEverySecond());
    await expect(connections.load(load)).rejects.toThrow("GET / failed");
  });
});

describe("load on a server that answers with another status", () => {
  it("ends with an error that has the response in it", async () => {
    const connections = await connectTo((_, response) => {
      response.statusCode = 500;
      response.end("no such table");
    });
    const ended = connections.load({ ...load, onDropped: () => {} });
    await expect(ended).rejects.toThrow(/GET \/ answered 500 instead of 200.*no such table/);
  });
});

describe("load on a server that is gone", () => {
  it("ends with an error, even where dropped connections are counted", async () => {
    const connections = new Connections("http://127.0.0.1:1", 1);
    stops.push(() => connections.close());
    await expect(connections.load({ ...load, onDropped: () => {} })).rejects.toThrow("GET / failed");
  });
});
