import { failure } from "../domain/failure.ts";
import { send } from "../http/answer.ts";
import { type App, bad, RequestFailed, unwrap } from "../http/context.ts";
import { readView } from "../http/read-view.ts";
import { parameters } from "../http/request.ts";
import { ownView } from "../mcp/own-view.ts";
import { findView } from "../reading/view.ts";
import type { Services } from "../services.ts";

/** The `capabilities://` views: of every server, and of the registry itself. */
export function viewsRoutes(app: App, services: Services): void {
  app.get("/api/mcp/capabilities/:tenant/:name/:view", async (c) => {
    const view = unwrap(findView(c.req.param("view")));
    try {
      return await readView(c, services, view);
    } catch (error) {
      // What goes wrong in making a view has a name of its own.
      if (error instanceof RequestFailed && error.failure.code !== "ErrorInternalServer") throw error;
      if (error instanceof RequestFailed) throw new RequestFailed(failure("server_error", error.failure.message));
      throw error;
    }
  });

  app.get("/api/mcp/capabilities/:view", (c) => {
    parameters(c, []);
    const { text, contentType } = unwrap(ownView(services, c.req.param("view")));
    return send(c, services, text, contentType, { source: "memory" });
  });

  for (const path of ["/api/mcp/capabilities/:tenant/:name/:view", "/api/mcp/capabilities/:view"]) {
    app.all(path, () => {
      throw bad("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
    });
  }
}
