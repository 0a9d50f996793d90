import { failure } from "../domain/failure.ts";
import { send } from "../http/answer.ts";
import { type App, bad, RequestFailed } from "../http/context.ts";
import { readView } from "../http/read-view.ts";
import { parameters } from "../http/request.ts";
import { selfManifest } from "../self.ts";
import type { Services } from "../services.ts";
import { namedView, viewNames } from "../views/named.ts";
import type { View } from "../views/view.ts";

/** The `capabilities://` views: of every server, and of the registry itself. */
export function viewsRoutes(app: App, services: Services): void {
  app.get("/api/mcp/capabilities/:tenant/:name/:view", async (c) => {
    const view = viewOf(c.req.param("view"));
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
    const { manifest, head } = selfManifest(services);
    const view = viewOf(c.req.param("view"));
    const body = view.render(manifest, head);
    if (body === undefined) throw bad("resource_not_found", unknownView(c.req.param("view")));
    return send(c, services, body, view.contentType, { source: "memory" });
  });

  for (const path of ["/api/mcp/capabilities/:tenant/:name/:view", "/api/mcp/capabilities/:view"]) {
    app.all(path, () => {
      throw bad("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
    });
  }
}

function viewOf(name: string): View {
  const view = namedView(name);
  if (view === undefined) throw bad("resource_not_found", unknownView(name));
  return view;
}

function unknownView(name: string): string {
  return `There is no view ${JSON.stringify(name)}; there are ${viewNames.join(", ")}`;
}
