import { type App, requestError } from "../http/context.ts";
import { consumeRateLimit, readQuery, serverRef } from "../http/request.ts";
import { sendData } from "../http/respond.ts";
import type { ServerRef } from "../kernel/names.ts";
import { refreshNow } from "../registry/read.ts";
import { authorizeWrite, writeMeta } from "../registry/write.ts";
import type { SourcesDeps } from "./deps.ts";

const path = "/api/mcp/capabilities/:tenant/:name/refresh";

/** Refreshes a server's sources immediately instead of on schedule. */
export function refreshRoutes(app: App, services: SourcesDeps): void {
  app.post(path, async (c) => {
    const ref = serverRef(c);
    await authorizeWrite(c, services, ref);
    readQuery(c, []);
    consumeRateLimit(services, services.refreshLimiter, `${ref.tenant}/${ref.name}`);
    const refreshed = await refreshNow(services, ref, { afterRunning: true });
    if (refreshed === "superseded")
      throw requestError("ErrorUnavailable", "The sources changed while they were read; try again");
    if (refreshed === "no-sources") throw await nothingToRead(services, ref);
    const { head, ...result } = refreshed;
    return sendData(c, services, { ...result, sources: head.sources ?? [] }, writeMeta(head));
  });

  app.all(path, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "POST" });
  });
}

/** The error for a refresh without readable sources: the server does not exist or has none. */
async function nothingToRead(services: SourcesDeps, ref: ServerRef) {
  const { head } = await services.tenant(ref.tenant).head(ref.name);
  if (head === undefined || head.deleted) return requestError("ErrorMCPServerNotFound");
  return requestError("ErrorNoSources", `${ref.name} has no sources that the registry can read`);
}
