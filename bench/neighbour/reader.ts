import { Client } from "undici";

/** What the reads of a neighbour measured since the last time they were taken. */
export interface Reading {
  /** Milliseconds of each read. */
  latencies: number[];
  /** Connections that were lost with a read under way. */
  dropped: number;
}

/** Connections that are kept open; some readers ask the edge's copy and one asks the tenant's object. */
const readers = [{}, {}, {}, { "Cache-Control": "no-cache" }];
/** Between two reads of a connection: the reader is to notice a busy server, not to be one. */
const spacingMs = 5;

/** Reads a small server of another tenant until it is told to stop. */
export function startReading(origin: string, headers: Record<string, string>) {
  let current: Reading = { latencies: [], dropped: 0 };
  let isStopped = false;
  const clients = readers.map(() => new Client(origin, { pipelining: 1 }));
  const read = async (client: Client, extra: Record<string, string>): Promise<void> => {
    while (!isStopped) {
      const started = performance.now();
      try {
        const { statusCode, body } = await client.request({
          method: "GET",
          path: "/api/mcp/capabilities/neighbour/small",
          headers: { ...headers, ...extra },
        });
        await body.dump();
        if (statusCode !== 200) throw new Error(`a read was answered ${statusCode}`);
        current.latencies.push(performance.now() - started);
      } catch {
        current.dropped += 1;
      }
      await new Promise((resolve) => setTimeout(resolve, spacingMs));
    }
  };
  const running = Promise.all(
    clients.map((client, index) => read(client, (readers[index] ?? {}) as Record<string, string>)),
  );
  return {
    /** Includes the time so far of reads that are under way: they belong to the work that holds them. */
    take(): Reading {
      const taken = current;
      current = { latencies: [], dropped: 0 };
      return taken;
    },
    async stop(): Promise<void> {
      isStopped = true;
      await running;
      await Promise.all(clients.map((client) => client.destroy()));
    },
  };
}
