import type { Principal } from "../../auth/principal.ts";
import { type Access, admin, everyone } from "../../http/access.ts";
import { unwrap } from "../../http/context.ts";
import { stateText } from "../../http/directory-state.ts";
import { operation } from "../../http/operation.ts";
import { authenticateOptional, consumeRateLimit } from "../../http/request.ts";
import { problemsMet, retryStorage } from "../../kernel/platform/problems.ts";
import { builderUsage } from "../../kernel/platform/usage.ts";
import { service, version } from "../../kernel/version.ts";
import { featuresOf } from "../../mcp/resources/own-manifest.ts";
import type { ServiceDeps } from "../deps.ts";
import { discoveryLinks } from "../discovery-paths.ts";
import { Health, MetricsSnapshot, Service, Whoami } from "../schema.ts";

/** For operators, and for whoever comes first: entry links, health, the caller, metrics. */

const getService = operation({
  id: "getService",
  method: "get",
  path: "/",
  tag: "Service",
  summary: "Find the way: name, version and links",
  access: everyone,
  parameters: { unknown: "ignore" },
  answers: {
    200: { description: "Links.", data: Service, headers: { Link: "Description, health and metadata (RFC 8631)." } },
  },
  examples: { links: {} },

  handle(_: ServiceDeps, { answer }) {
    const links = {
      health: "/healthz",
      description: "/openapi.json",
      schemas: "/schemas/",
      api: "/api/mcp/configs",
      registry: "/v0.1/servers",
    };
    return answer(200, { name: service, version, ...links }, { headers: { Link: discoveryLinks } });
  },
});

const getHealth = operation({
  id: "getHealth",
  method: "get",
  path: "/healthz",
  tag: "Service",
  summary: "Check that the registry answers",
  access: everyone,
  // Probes add parameters of their own against caches.
  parameters: { unknown: "ignore" },
  answers: { 200: { description: "The registry answers.", data: Health } },
  examples: { health: {} },

  async handle({ edgeDirectory, now, tryStorage }: ServiceDeps, { answer }) {
    await retryStorage(now(), tryStorage);
    const { state, age } = edgeDirectory.status();
    const directory = { state: state === undefined ? null : stateText(state), ageMs: age ?? null };
    const met = problemsMet();
    const health = met.length === 0 ? { status: "ok" as const } : { status: "degraded" as const, problems: met };
    return answer(200, { ...health, name: service, version, directory });
  },
});

/** Like `anyone`, for tokens of any scope: a caller asks because something was refused. */
const whoever: Access<{ principal: Principal }> = {
  token: "optional",
  async identify(c, services) {
    const authorization = c.req.header("Authorization");
    if (authorization === undefined) return { principal: await authenticateOptional(c, services) };
    const principal = unwrap(await services.authenticator.authenticate(authorization));
    c.set("subject", principal.subject);
    consumeRateLimit(services, services.readLimiter, principal.subject);
    return { principal };
  },
};

const whoami = operation({
  id: "whoami",
  method: "get",
  path: "/api/whoami",
  tag: "Service",
  summary: "Find out who you are here",
  description: "What the registry makes of the token, or of its absence, and what this deployment has switched on.",
  access: whoever,
  answers: { 200: { description: "The caller.", data: Whoami } },
  examples: { caller: {} },

  async handle({ config, publicAnswers }: ServiceDeps, { principal, answer }) {
    const hasCache = (await publicAnswers?.isPresent()) ?? false;
    const { anonymous, subject, tenants, scopes, admin: isAdmin, expiresAt } = principal;
    const data = {
      subject: anonymous ? null : subject,
      tenants: [...tenants],
      scopes: [...scopes],
      admin: isAdmin,
      expiresAt: anonymous ? null : new Date(expiresAt * 1_000).toISOString(),
      registry: { version, features: { ...featuresOf(config), platform_cache: hasCache } },
    };
    return answer(200, data, { headers: { "Cache-Control": "no-store" } });
  },
});

const getMetrics = operation({
  id: "getMetrics",
  method: "get",
  path: "/api/metrics",
  tag: "Service",
  summary: "Read counts, latency and cache sources",
  description: "Of the isolate that answers, since it started. For admins.",
  access: admin("Only an admin may read the metrics"),
  answers: { 200: { description: "The counts.", data: MetricsSnapshot } },
  examples: { all: {} },

  handle({ metrics, now, memory, responses, edgeDirectory, admission }: ServiceDeps, { answer }) {
    const caches = { capacity: memory.capacity, bytes: memory.bytes, caches: memory.usage() };
    const { capacity, bytes, segments, fallbacks } = edgeDirectory.status();
    const directory = { capacity, bytes, segments, fallbacks, builder: { ...builderUsage } };
    return answer(200, {
      ...metrics.snapshot(now()),
      ...{ memory: caches, directory, responseCache: responses.lookups, admission: { ...admission.counts } },
    });
  },
});

export const statusOperations = [getService, getHealth, whoami, getMetrics];
