import { type RequestContext, requestError } from "../../http/context.ts";

/**
 * Whether a page of our own sent the request. Every current browser says so in `Sec-Fetch-Site`; for older ones `Origin`
 * decides. A request that says neither is refused.
 */
export function isSameOrigin(headers: Pick<Headers, "get">, origin: string): boolean {
  const site = headers.get("Sec-Fetch-Site");
  if (site !== null) return site === "same-origin";
  return headers.get("Origin") === origin;
}

/** Refuses what a page of elsewhere asks for in the name of whoever is signed in here. */
export function requireOwnPage(c: RequestContext, origin: string): void {
  if (!isSameOrigin(c.req.raw.headers, origin)) throw requestError("ErrorFormRefused");
}
