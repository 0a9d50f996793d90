import { succeed } from "../http/answer.ts";
import { type App, bad, refuse, unwrap } from "../http/context.ts";
import { admit, freshnessOf, parameters, tenantName, wholeNumber } from "../http/request.ts";
import { readChanges } from "../reading/changes.ts";
import { insiderObjection } from "../reading/permission.ts";
import type { Services } from "../services.ts";

const path = "/api/changes/:tenant";

/** A tenant's ordered log of changes. */
export function changesRoutes(app: App, services: Services): void {
  app.get(path, async (c) => {
    const tenant = tenantName(c.req.param("tenant"));
    const principal = await admit(c, services, "registry:read");
    // Before the query: whoever may not see the log does not learn what is wrong with the question either.
    refuse(insiderObjection(principal, tenant));
    const query = parameters(c, ["since", "limit"]);
    const since = wholeNumber("since", query.since, { min: 0, max: 1e15, fallback: 0 });
    const limit = wholeNumber("limit", query.limit, { min: 1, max: 1_000, fallback: 100 });
    const { minGeneration } = freshnessOf(c);
    const data = unwrap(await readChanges(services, principal, tenant, { since, limit }, minGeneration));
    return succeed(c, services, data, { generation: data.generation, source: "object" });
  });

  app.all(path, () => {
    throw bad("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
  });
}
