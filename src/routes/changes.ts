import { tenantObjection } from "../auth/permission.ts";
import { succeed } from "../http/answer.ts";
import { type App, bad, refuse } from "../http/context.ts";
import { admit, freshnessOf, generationAhead, parameters, tenantName, wholeNumber } from "../http/request.ts";
import type { Services } from "../services.ts";

const path = "/api/changes/:tenant";

/** A tenant's ordered log of changes. */
export function changesRoutes(app: App, services: Services): void {
  app.get(path, async (c) => {
    const tenant = tenantName(c.req.param("tenant"));
    const principal = await admit(c, services, "registry:read");
    refuse(tenantObjection(principal, tenant, "registry:read"));
    const query = parameters(c, ["since", "limit"]);
    const since = wholeNumber("since", query.since, { min: 0, max: 1e15, fallback: 0 });
    const limit = wholeNumber("limit", query.limit, { min: 1, max: 1_000, fallback: 100 });
    services.operations.objectCalls += 1;
    const { changes, generation } = await services.tenant(tenant).changes(since, limit);
    const { minGeneration } = freshnessOf(c);
    if (generation < minGeneration) throw generationAhead(minGeneration, generation);
    const data = { items: changes, generation, nextSince: changes.at(-1)?.sequence ?? since };
    return succeed(c, services, data, { generation, source: "object" });
  });

  app.all(path, () => {
    throw bad("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
  });
}
