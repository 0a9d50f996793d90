import type { Config } from "../config.ts";
import { loopbackNames } from "../domain/loopback.ts";
import { bad, type RequestContext } from "./context.ts";

/**
 * Against pages that reach for a server they were not let in to, above all one on the visitor's own machine by a name
 * that was pointed there. Who may is said by the settings, never by the request.
 */
export function guardPage(c: RequestContext, { mcpOrigins, mcpHosts }: Pick<Config, "mcpOrigins" | "mcpHosts">): void {
  const host = URL.parse(c.req.url)?.hostname ?? "";
  if (mcpHosts !== undefined && !mcpHosts.includes(host)) throw bad("ErrorHostRefused");
  const origin = c.req.header("Origin");
  if (origin === undefined || mcpOrigins === "*" || mcpOrigins.includes(origin)) return;
  if (!loopbackNames.includes(URL.parse(origin)?.hostname ?? "")) throw bad("ErrorOriginRefused");
}
