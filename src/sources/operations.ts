import { manager } from "../http/access.ts";
import { RequestFailed, requestError } from "../http/context.ts";
import { busy } from "../http/limits/work.ts";
import { operation } from "../http/operation.ts";
import { server } from "../http/parameters.ts";
import { consumeRateLimit } from "../http/request.ts";
import type { ServerRef } from "../kernel/names.ts";
import { refreshNow } from "../registry/read.ts";
import { RefreshResult } from "../registry/server-schema.ts";
import { sourceWarnings } from "../registry/sources/warnings.ts";
import { writeMeta } from "../registry/write.ts";
import type { SourcesDeps } from "./deps.ts";

const refreshServer = operation({
  id: "refreshServer",
  method: "post",
  path: "/api/mcp/capabilities/{tenant}/{name}/refresh",
  tag: "Publish",
  summary: "Read a server's sources now",
  description: "Instead of on schedule. A source that cannot be read says why in `failures`.",
  access: manager("path"),
  parameters: { path: server },
  answers: {
    200: { description: "What was found.", data: RefreshResult, etag: true, generation: true, directory: "sometimes" },
  },
  fails: ["ErrorMCPServerNotFound", "ErrorNoSources"],
  examples: {
    pushed: {
      summary: "A server whose manifest is pushed has no sources",
      path: { tenant: "demo", name: "weather" },
      status: 409,
    },
  },

  async handle(services: SourcesDeps, { path: ref, answer }) {
    consumeRateLimit(services, services.refreshLimiter, `${ref.tenant}/${ref.name}`);
    const refreshed = await refreshNow(services, ref, { afterRunning: true });
    if (refreshed === "superseded")
      throw requestError("ErrorUnavailable", "The server's `sources` were edited during the refresh. Try again");
    if (refreshed === "busy") throw new RequestFailed(busy());
    if (refreshed === "no-sources") throw await nothingToRead(services, ref);
    const { head, directory, ...result } = refreshed;
    return answer(200, { ...result, sources: head.sources ?? [] }, writeMeta({ head, directory }));
  },
});

/** The error for a refresh without readable sources: the server does not exist or has none. */
async function nothingToRead(services: SourcesDeps, ref: ServerRef) {
  const { head } = await services.tenant(ref.tenant).head(ref.name);
  if (head === undefined || head.deleted) return requestError("ErrorMCPServerNotFound");
  if (head.status === "withdrawn") {
    const message = `${ref.name} is withdrawn: its sources are read again when its status is another`;
    return requestError("ErrorNoSources", message);
  }
  const [hint] = sourceWarnings(head);
  const none = `${ref.name} has no sources that the registry can read`;
  return requestError("ErrorNoSources", hint === undefined ? none : `${none}. ${hint}`);
}

export const sourcesOperations = [refreshServer];
