import { type App, requestError, unwrap } from "../../http/context.ts";
import { readQuery } from "../../http/request.ts";
import { send } from "../../http/respond.ts";
import { callerOf } from "../../sessions/middleware.ts";
import type { McpDeps } from "../deps.ts";
import { ownView } from "./own-manifest.ts";
import { readResource } from "./resources.ts";

const path = "/mcp/resource";

/** Views of the registry itself, and MCP resources, over plain HTTP. */
export function resourceRoutes(app: App, services: McpDeps): void {
  app.get("/api/mcp/capabilities/:view", async (c) => {
    readQuery(c, []);
    const { text, contentType } = unwrap(await ownView(services, c.req.param("view")));
    return send(c, services, text, contentType, { source: "memory" });
  });

  app.all("/api/mcp/capabilities/:view", () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
  });

  app.get(path, async (c) => {
    const { uri } = readQuery(c, ["uri"]);
    if (uri === undefined || uri === "")
      throw requestError("ErrorBadRequest", "Say which resource: ?uri=capabilities://server");
    const { principal } = callerOf(c);
    const { text, mimeType, etag, generation } = unwrap(await readResource(services, principal, uri));
    return send(c, services, text, `${mimeType}; charset=utf-8`, {
      etag,
      generation,
    });
  });

  app.all(path, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
  });
}
