/**
 * Whether a page of our own sent the request. Every current browser says so in `Sec-Fetch-Site`; for older ones `Origin`
 * decides. A request that says neither is refused.
 */
export function isSameOrigin(headers: Pick<Headers, "get">, origin: string): boolean {
  const site = headers.get("Sec-Fetch-Site");
  if (site !== null) return site === "same-origin";
  return headers.get("Origin") === origin;
}
