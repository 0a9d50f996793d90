import { hostname, networkInterfaces } from "node:os";
import { loopbackNames } from "../src/kernel/names.ts";

/** Settings that tell the Worker where it is reached: nothing stands in front of a server on this machine. */
export interface OwnAddress {
  MCP_HOSTS?: string;
  DEFAULT_ORIGIN?: string;
  CLIENT_ADDRESS: "socket";
}

/**
 * With `isPublic` the operator has said under which address the world reaches the server. Without, it must itself refuse names
 * that were pointed here: it goes by loopback, and by the address it listens on, or by all of this machine where that is any.
 */
export function ownAddress(host: string, port: number, isPublic: boolean): OwnAddress {
  if (isPublic) return { CLIENT_ADDRESS: "socket" };
  const given = inUrl(host);
  const own = isAny(host) ? machineNames() : [given];
  const names = [...new Set([...loopbackNames, ...own])].filter((name) => URL.canParse(`http://${name}`));
  const linked = isAny(host) || !URL.canParse(`http://${given}`) ? "localhost" : given;
  return {
    MCP_HOSTS: names.join(","),
    DEFAULT_ORIGIN: new URL(`http://${linked}:${port}`).origin,
    CLIENT_ADDRESS: "socket",
  };
}

function isAny(host: string): boolean {
  return host === "0.0.0.0" || inUrl(host) === "[::]";
}

function machineNames(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  // An address with a zone cannot be in a URL.
  return [...addresses.map(({ address }) => inUrl(address.replace(/%.*$/, ""))), hostname()];
}

/** An IPv6 address in brackets; other hosts as they are. */
function inUrl(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
