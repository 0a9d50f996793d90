import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { CommandError, errorCode, UsageError } from "./command.ts";

export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new UsageError(`--port must be a number from 0 to 65535, not "${text}".`);
  return port;
}

/**
 * The port to listen on, which is `port` or a free one in place of 0. Asks before the runtime does: its own complaint about a
 * busy port is a page of C++ stack.
 */
export async function requireFreePort(host: string, port: number): Promise<number> {
  const probe = createServer();
  try {
    probe.listen(port, host);
    await once(probe, "listening");
    return (probe.address() as AddressInfo).port;
  } catch (error) {
    switch (errorCode(error)) {
      case "EADDRINUSE":
        throw new PortInUse(host, port);
      case "EACCES":
        throw new CommandError(
          `Port ${port} on ${host} is not allowed for this user. Choose one above 1023 with --port P.`,
        );
      case "EADDRNOTAVAIL":
      case "ENOTFOUND":
        throw new CommandError(`${host} is not an address of this machine. Choose another with --host H.`);
      default:
        throw error;
    }
  } finally {
    await new Promise((resolve) => probe.close(resolve));
  }
}

export class PortInUse extends CommandError {
  constructor(host: string, port: number) {
    super(`Port ${port} on ${host} is already in use. Choose another with --port P, or any free one with --port 0.`);
  }
}
