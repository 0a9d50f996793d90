import { type App, type RequestContext, requestError, unwrap } from "../http/context.ts";
import { authenticateOptional, booleanParam, freshnessOf, integerParam, tenantName } from "../http/request.ts";
import { send, sendConditional } from "../http/respond.ts";
import { digestOfText } from "../kernel/digest.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import type { SearchDeps } from "./deps.ts";
import { type Search, searchCapabilities } from "./search.ts";

const path = "/api/search";
const single = ["q", "budget", "explain", "limit", "cursor"] as const;
const repeated = ["kind", "tenant"] as const;
const known: readonly string[] = [...single, ...repeated];

const maxQueryLength = 10_240;
const maxValues = 20;

/** Part of the ETag: change it whenever the response format changes. */
const version = "s1";

/** Search for capabilities across tenants: public ones, and those of the caller's own tenants. */
export function searchRoutes(app: App, services: SearchDeps): void {
  app.get(path, async (c) => {
    const principal = await authenticateOptional(c, services);
    const { search, limit, cursor } = queryOf(c);
    if (freshnessOf(c).minGeneration > 0) {
      throw requestError("ErrorBadRequest", "Rollcall-Min-Generation is a tenant's, and a search goes across tenants");
    }
    const { generation, ...found } = unwrap(await searchCapabilities(services, principal, search, { limit, cursor }));
    const content = JSON.stringify(found);
    // The ETag does not cover cursor and generation, which change with every write of any tenant.
    const { nextCursor: _, ...lasting } = found;
    const etag = `W/"${version}-${(await digestOfText(JSON.stringify(lasting))).slice(7, 39)}"`;
    const meta = { generation, etag, source: "object" as const };
    return sendConditional(c, services, meta, () => {
      const body = `{"success":true,"data":${content.slice(0, -1)},"generation":${generation}}}`;
      return send(c, services, body, "application/json; charset=utf-8", meta);
    });
  });

  app.all(path, () => {
    throw requestError("ErrorMethodNotAllowed", undefined, { allow: "GET, HEAD" });
  });
}

function queryOf(c: RequestContext): { search: Search; limit: number; cursor?: string } {
  const given = new Map(Object.entries(c.req.queries()));
  for (const [name, values] of given) {
    if (!known.includes(name)) {
      throw requestError(
        "ErrorBadRequest",
        `Unknown query parameter ${JSON.stringify(name)}; known: ${known.join(", ")}`,
      );
    }
    const most = (single as readonly string[]).includes(name) ? 1 : maxValues;
    if (values.length > most)
      throw requestError("ErrorBadRequest", `${name} is given ${values.length} times, ${most} at most`);
  }
  const one = (name: (typeof single)[number]) => given.get(name)?.[0];
  const text = one("q");
  if (text === undefined || text.trim() === "")
    throw requestError("ErrorBadRequest", "q is missing: the task in plain words");
  if (text.length > maxQueryLength)
    throw requestError("ErrorBadRequest", `q is longer than ${maxQueryLength} characters`);
  const kinds = given.get("kind")?.map(kindOf);
  const tenants = given.get("tenant")?.map(tenantName);
  const budget = one("budget");
  const cursor = one("cursor");
  return {
    search: {
      text,
      explain: booleanParam("explain", one("explain")),
      kinds: kinds === undefined ? undefined : [...new Set(kinds)].sort(),
      tenants: tenants === undefined ? undefined : [...new Set(tenants)].sort(),
      budget:
        budget === undefined ? undefined : integerParam("budget", budget, { min: 1, max: 1_000_000_000, fallback: 1 }),
    },
    limit: integerParam("limit", one("limit"), { min: 1, max: 100, fallback: 10 }),
    cursor,
  };
}

function kindOf(value: string): CapabilityKind {
  const parsed = CapabilityKind.safeParse(value);
  if (!parsed.success)
    throw requestError("ErrorBadRequest", `kind must be one of ${CapabilityKind.options.join(", ")}`);
  return parsed.data;
}
