import type { Config } from "../../config.ts";

/** Requests that the Worker makes of itself come from where the request that they serve came from. */
const servedBy = new WeakMap<Request, Request>();

export function onBehalfOf(request: Request, asked: Request): Request {
  servedBy.set(request, servedBy.get(asked) ?? asked);
  return request;
}

/**
 * The address that a caller is told apart by; empty if it is unknown. Read from one header that the proxy in front always
 * sets itself, or from the connection: no other header counts, because every caller can send those.
 */
export function clientAddress(request: Request, { clientAddressHeader }: Pick<Config, "clientAddressHeader">): string {
  const asked = servedBy.get(request) ?? request;
  if (clientAddressHeader === undefined) return peerAddress(asked.cf?.clientIp);
  const value = asked.headers.get(clientAddressHeader) ?? "";
  // A proxy that adds to a list of addresses adds at its end; what is before comes from the caller.
  return value.includes(",") ? value.slice(value.lastIndexOf(",") + 1).trim() : value;
}

/** `192.0.2.7:41962` or `[2001:db8::7]:41962`, as the runtime writes the other end of a connection. */
function peerAddress(peer: unknown): string {
  if (typeof peer !== "string") return "";
  const end = peer.lastIndexOf(":");
  return peer.startsWith("[") ? peer.slice(1, end - 1) : peer.slice(0, end);
}
