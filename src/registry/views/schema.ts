import { z } from "zod";
import { ItemRecord, RegistryRecord } from "../record-schema.ts";

/** Schemas of the `capabilities://` views. Keys are snake_case, as their consumers expect. */

const counted = { total_count: z.number().int().nonnegative(), version: z.string() };

export const ServerView = z
  .looseObject({
    name: z.string(),
    version: z.string(),
    mcp_version: z.string(),
    features: z.record(z.string(), z.boolean()),
    limits: z.record(z.string(), z.number()),
    runtime: z.record(z.string(), z.string()),
    concurrency_limits: z.record(z.string(), z.number()).optional(),
    tool_count: z.number().int().nonnegative(),
    resource_count: z.number().int().nonnegative(),
    generator_count: z.number().int().nonnegative(),
    registry: RegistryRecord.optional(),
    views: z.array(z.string()).optional().describe("Names of the views that the server has, its own included."),
  })
  .describe("capabilities://server: what a server is, what it has switched on, how far it goes.");
export type ServerView = z.infer<typeof ServerView>;

export const ToolCategory = z.enum(["content", "artifact", "config", "storage", "query", "validation", "batch"]);
export type ToolCategory = z.infer<typeof ToolCategory>;

const ShownCallable = z.looseObject({
  name: z.string(),
  category: ToolCategory,
  description: z.string(),
  version: z.string(),
  input_schema: z.record(z.string(), z.unknown()),
  output_schema: z.record(z.string(), z.unknown()),
  examples: z.array(z.looseObject({ input: z.unknown().optional(), description: z.string().optional() })),
  common_errors: z.array(z.looseObject({ code: z.string(), message: z.string() })),
  performance: z.looseObject({ typical_ms: z.string(), timeout_ms: z.string() }),
  registry: ItemRecord.optional(),
});

export const ToolsView = z
  .looseObject({
    tools_by_category: z.record(z.string(), z.array(ShownCallable)),
    metadata: z.looseObject(counted),
    registry: RegistryRecord.optional(),
  })
  .describe("capabilities://tools: everything that can be called, with schemas, by category.");
export type ToolsView = z.infer<typeof ToolsView>;

export const OperationsView = z
  .looseObject({
    operations: z.array(ShownCallable.extend({ method: z.string().optional(), path: z.string().optional() })),
    metadata: z.looseObject(counted),
  })
  .describe("capabilities://operations: the operations of an API, with schemas.");
export type OperationsView = z.infer<typeof OperationsView>;

export const ResourcesView = z
  .looseObject({
    resources: z.record(
      z.string(),
      z.looseObject({
        patterns: z.array(z.string()),
        mime_type: z.string(),
        description: z.string(),
        parameters: z.record(
          z.string(),
          z.looseObject({ type: z.string(), description: z.string(), enum: z.array(z.string()).optional() }),
        ),
        examples: z.array(z.string()),
        registry: z
          .looseObject({ items: z.array(ItemRecord) })
          .optional()
          .describe("Of each resource and template of the family."),
      }),
    ),
    metadata: z.looseObject(counted),
    registry: RegistryRecord.optional(),
  })
  .describe("capabilities://resources: families of URIs and their parameters.");
export type ResourcesView = z.infer<typeof ResourcesView>;

export const GeneratorsView = z
  .looseObject({
    generators: z.record(
      z.string(),
      z.looseObject({
        type: z.string(),
        name: z.string(),
        version: z.string(),
        source: z.enum(["builtin", "plugin"]),
        plugin_path: z.string().optional(),
        status: z.enum(["stable", "experimental", "deprecated"]),
        capabilities: z.array(z.string()),
        indicators: z.looseObject({ confidence: z.enum(["high", "medium", "low"]).optional() }),
        requirements: z.looseObject({
          fields: z.array(z.string()),
          dependencies: z.array(z.string()),
          env_vars: z.array(z.string()),
        }),
        best_for: z.array(z.string()),
        docs_uri: z.string(),
        upstream_dependencies: z
          .looseObject({
            services: z.array(z.string()),
            credentials_required: z.array(z.string()),
            optional_services: z.array(z.string()),
            expected_latency_ms: z.looseObject({
              p50: z.number().optional(),
              p95: z.number().optional(),
              p99: z.number().optional(),
            }),
            stability: z.enum(["stable", "beta", "experimental"]),
            concurrency_safe: z.boolean(),
          })
          .nullish()
          .describe("null: none; absent: the publisher does not say."),
        registry: ItemRecord.optional(),
      }),
    ),
    selection_strategy: z.looseObject({
      type: z.string(),
      explanation: z.string(),
      fallback: z.string().nullable().describe("null if the server does not have the generator."),
    }),
    metadata: z.looseObject({
      version: z.string(),
      generator_count: z.number().int().nonnegative(),
      builtin_count: z.number().int().nonnegative(),
      plugin_count: z.number().int().nonnegative(),
    }),
    registry: RegistryRecord.optional(),
  })
  .describe("capabilities://generators: the registry of generators and how one is chosen.");
export type GeneratorsView = z.infer<typeof GeneratorsView>;

export const credentialPattern = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Body of a preflight request. Credentials are named, never sent. */
export const PreflightRequest = z
  .strictObject({
    config: z.record(z.string(), z.unknown()).default({}).describe("The config the generator would run on."),
    credentials: z
      .array(z.string().regex(credentialPattern, "must be the name of a credential, never its value"))
      .max(1_000)
      .default([])
      .describe("Names of the credentials the caller has."),
    dependencies: z
      .array(z.string().max(256))
      .max(1_000)
      .optional()
      .describe("Names of the packages the caller has. Absent: packages are not checked."),
  })
  .describe("A question to a generator's preflight check.");
export type PreflightRequest = z.infer<typeof PreflightRequest>;
