import { z } from "zod";
import { GeneratorType, ItemName } from "../../kernel/names.ts";
import { commonFields, Description, JsonObject, JsonSchema, Title, Version } from "./parts.ts";

export const CapabilityKind = z.enum(["tool", "prompt", "resource", "resourceTemplate", "generator", "operation"]);
export type CapabilityKind = z.infer<typeof CapabilityKind>;

export const ToolAnnotations = z.looseObject({
  title: Title.optional(),
  destructiveHint: z.boolean().optional(),
  idempotentHint: z.boolean().optional(),
  readOnlyHint: z.boolean().optional(),
  openWorldHint: z.boolean().optional(),
});

/** Fields of tools and operations. */
const callable = {
  ...commonFields,
  name: ItemName,
  category: z
    .string()
    .max(255)
    .describe("content, artifact, config, storage, query, validation, batch, or the publisher's own.")
    .optional(),
  inputSchema: JsonSchema.optional(),
  outputSchema: JsonSchema.optional(),
  annotations: ToolAnnotations.optional(),
  examples: z.array(z.looseObject({ input: z.unknown().optional(), description: Description.optional() })).optional(),
  commonErrors: z.array(z.looseObject({ code: z.string(), message: z.string() })).optional(),
  performance: z.looseObject({ typicalMs: z.string().optional(), timeoutMs: z.string().optional() }).optional(),
  implementation: z.string().describe("Opaque text, never run.").optional(),
};

export const Tool = z.looseObject(callable);
export type Tool = z.infer<typeof Tool>;

/** One operation of an OpenAPI or GraphQL API. */
export const Operation = z.looseObject(callable);
export type Operation = z.infer<typeof Operation>;

export const Prompt = z.looseObject({
  ...commonFields,
  name: ItemName,
  arguments: z
    .array(
      z.looseObject({
        name: z.string().min(1).max(255),
        title: Title.optional(),
        description: Description.optional(),
        required: z.boolean().optional(),
      }),
    )
    .optional(),
  promptResponse: z
    .array(
      z.looseObject({
        role: z.string(),
        content: z.looseObject({ type: z.string(), text: z.string().optional() }),
      }),
    )
    .optional(),
});
export type Prompt = z.infer<typeof Prompt>;

const ResourceUri = z.string().min(1).max(2_048).regex(/^\S+$/, "must not contain white space");

export const Resource = z.looseObject({
  ...commonFields,
  uri: ResourceUri,
  name: z.string().max(1_024).optional(),
  mimeType: z.string().max(255).optional(),
});
export type Resource = z.infer<typeof Resource>;

/** A URI template, or several templates if `patterns` has more than one entry. */
export const ResourceTemplate = z
  .looseObject({
    ...commonFields,
    uriTemplate: ResourceUri.optional(),
    patterns: z.array(ResourceUri).optional(),
    name: z.string().max(1_024).optional(),
    mimeType: z.string().max(255).optional(),
    parameters: z
      .array(
        z.looseObject({
          name: z.string().min(1).max(255),
          type: z.string().optional(),
          description: Description.optional(),
          required: z.boolean().optional(),
          enum: z.array(z.string()).optional(),
        }),
      )
      .optional(),
    examples: z.array(z.string()).optional(),
  })
  .refine((template) => template.uriTemplate !== undefined || (template.patterns?.length ?? 0) > 0, {
    message: "needs uriTemplate, or patterns with at least one entry",
    path: ["uriTemplate"],
  });
export type ResourceTemplate = z.infer<typeof ResourceTemplate>;

const Latency = z
  .looseObject({
    p50: z.number().nonnegative().optional(),
    p95: z.number().nonnegative().optional(),
    p99: z.number().nonnegative().optional(),
  })
  .refine((latency) => latency.p50 === undefined || latency.p95 === undefined || latency.p95 >= latency.p50, {
    message: "p95 must not be below p50",
    path: ["p95"],
  });

const UpstreamDependencies = z
  .looseObject({
    services: z.array(z.string()).optional(),
    credentialsRequired: z.array(z.string()).optional(),
    optionalServices: z.array(z.string()).optional(),
    expectedLatencyMs: Latency.optional(),
    stability: z.enum(["stable", "beta", "experimental"]).optional(),
    concurrencySafe: z.boolean().optional(),
  })
  .refine((upstream) => !upstream.credentialsRequired?.length || (upstream.services?.length ?? 0) > 0, {
    message: "credentials are named, so the services they are for must be too",
    path: ["services"],
  });

export const Generator = z.looseObject({
  ...commonFields,
  type: GeneratorType,
  name: z.string().max(255).optional(),
  source: z.enum(["builtin", "plugin"]).optional(),
  override: z.boolean().describe("Replace an earlier generator of the same type instead of being refused.").optional(),
  pluginPath: z.string().max(2_048).optional(),
  status: z.enum(["stable", "experimental", "deprecated"]).optional(),
  capabilities: z.array(z.string()).optional(),
  indicators: JsonObject.optional(),
  requirements: z
    .looseObject({
      fields: z.array(z.string().max(256)).max(500).optional(),
      dependencies: z.array(z.string()).optional(),
      envVars: z.array(z.string()).optional(),
      subfields: z.union([z.array(z.string()), JsonObject]).optional(),
    })
    .optional(),
  bestFor: z.array(z.string()).optional(),
  docsUri: z.string().max(2_048).optional(),
  upstreamDependencies: UpstreamDependencies.nullish(),
  version: Version.optional(),
});
export type Generator = z.infer<typeof Generator>;
