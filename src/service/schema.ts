import { z } from "zod";
import { MetBound, RouteCounts } from "../http/metrics.ts";
import { named } from "../http/named.ts";

/** Schemas of what the service answers about itself. */

export const Service = named(
  "Service",
  z
    .object({
      name: z.string(),
      version: z.string(),
      health: z.string(),
      description: z.string(),
      schemas: z.string(),
      api: z.string(),
      registry: z.string(),
    })
    .describe("Name and version of the registry, and the paths to start from."),
);

export const Health = named(
  "Health",
  z
    .object({
      status: z.enum(["ok", "degraded"]).describe("`degraded` if this isolate has met a problem."),
      name: z.string(),
      version: z.string(),
      problems: z
        .array(z.object({ message: z.string(), at: z.string().describe("When it was met last.") }))
        .optional()
        .describe("What this isolate has met; others may have met something else."),
      directory: z
        .object({
          state: z.string().nullable().describe("As in `Rollcall-Directory`; null while the isolate has no copy."),
          ageMs: z.int().nullable().describe("Milliseconds since the directory's object confirmed it."),
        })
        .describe("The copy of everything public in the isolate that answers."),
    })
    .describe("The registry answers."),
);

export const Whoami = named(
  "Whoami",
  z
    .object({
      subject: z.string().nullable().describe("Of the token; null without one."),
      tenants: z.array(z.string()).describe("Tenants that the caller is a member of, in lower case."),
      scopes: z.array(z.string()),
      admin: z.boolean().describe("True for a member of every tenant."),
      expiresAt: z.iso.datetime().nullable().describe("When the token expires; null without one."),
      registry: z.object({
        version: z.string(),
        features: z.record(z.string(), z.boolean()).describe("What this deployment has switched on."),
      }),
    })
    .describe("Who the caller is to the registry, and what it may do."),
);

const counts = z.record(z.string(), z.int());

export const MetricsSnapshot = named(
  "MetricsSnapshot",
  z
    .object({
      since: z.iso.datetime().describe("When the isolate started."),
      uptimeSeconds: z.int(),
      operations: counts.describe(
        "What requests touched: memory, cacheReads, cacheWrites, kvReads, kvWrites, objectCalls, rowsRead, rowsWritten.",
      ),
      latencyEdgesMs: z.array(z.int()).describe("Upper bounds of the latency buckets, in milliseconds."),
      routes: z.record(z.string(), named("RouteCounts", RouteCounts)).describe("By operation."),
      memory: z.object({
        capacity: z.int().describe("Bytes that all caches together may have."),
        bytes: z.int(),
        caches: z.record(z.string(), z.object({ entries: z.int(), bytes: z.int() })),
      }),
      directory: z
        .object({
          capacity: z.int().describe("Bytes that the copy may have; 0: the directory's object answers each time."),
          bytes: z.record(z.string(), z.int()).describe("Of the segments, and of each form that is kept of them."),
          segments: z.int(),
          fallbacks: counts.describe("How often the directory's object had to answer, by reason."),
          builder: counts.describe("What writing segments touched, as in `operations`, which does not count it."),
        })
        .describe("The copy of everything public."),
      responseCache: z.object({ hits: z.int(), misses: z.int() }),
      bounds: z.array(named("MetBound", MetBound)).describe("Bounds that requests met, by tenant."),
      admission: z
        .object({ admitted: z.int(), waited: z.int(), refused: z.int() })
        .describe("Costly requests: served, made to wait first, and answered 503."),
    })
    .describe("Counts of one isolate since it started."),
);

export const OpenApiDocument = named(
  "OpenApiDocument",
  z.looseObject({ openapi: z.string(), paths: z.record(z.string(), z.unknown()) }).describe("An OpenAPI document."),
);

export const SchemaList = named(
  "SchemaList",
  z.object({ items: z.array(z.string()) }).describe("Paths of the published JSON Schemas."),
);

export const JsonSchema = named(
  "JsonSchema",
  z.looseObject({ $schema: z.string() }).describe("A JSON Schema of draft 2020-12."),
);

export const ServerCard = named(
  "ServerCard",
  z
    .object({
      $schema: z.string(),
      name: z.string(),
      version: z.string(),
      title: z.string(),
      description: z.string(),
      remotes: z.array(z.object({ type: z.string(), url: z.string(), supportedProtocolVersions: z.array(z.string()) })),
    })
    .describe("An MCP server card."),
);

export const AiCatalog = named(
  "AiCatalog",
  z
    .object({
      specVersion: z.string(),
      entries: z.array(z.object({ identifier: z.string(), type: z.string(), url: z.string() })),
    })
    .describe("An AI catalogue: where the server card is."),
);

export const ResourceMetadata = named(
  "ResourceMetadata",
  z
    .object({
      resource: z.string(),
      resource_name: z.string(),
      scopes_supported: z.array(z.string()),
      bearer_methods_supported: z.array(z.string()),
      authorization_servers: z.array(z.string()).optional().describe("Absent if none is configured."),
    })
    .describe("OAuth 2.0 protected resource metadata (RFC 9728)."),
);
