import { z } from "zod";
import { CapabilityId } from "../../kernel/names.ts";

/** Schemas shared by capabilities and the manifest. Unknown keys are kept everywhere. */

/** Enough for a long description, and far below the size that would fill a model's context. */
export const Description = z.string().max(65_536);

export const Title = z.string().max(1_024);

/** Free text; treated as semver only if it parses as such. */
export const Version = z.string().min(1).max(255);

export const JsonObject = z.record(z.string(), z.unknown());

export const JsonSchema = JsonObject.describe("A JSON Schema. Kept as published, `$defs` and all.");

export const Icon = z.looseObject({
  src: z.string().max(65_536),
  mimeType: z.string().max(255).optional(),
  sizes: z.union([z.string(), z.array(z.string())]).optional(),
  theme: z.unknown().optional(),
});

/** Call target and provenance per provider; snake_case, as published. */
export const ProviderMetadata = z
  .looseObject({
    mcp: z
      .looseObject({
        server_url: z.string().optional(),
        server_name: z.string().optional(),
        tool_name: z.string().optional(),
        protocol_version: z.string().optional(),
        requires_session: z.string().describe('"auto", "true" or "false": a hint, kept as a string.').optional(),
        auth_env_var: z.string().optional(),
        server_url_override_env: z.string().optional(),
      })
      .optional(),
    openapi: z
      .looseObject({
        base_url: z.string().optional(),
        endpoint_method: z.string().optional(),
        endpoint_path: z.string().optional(),
        api_version: z.string().optional(),
        auth_type: z.string().optional(),
        auth_location: z.string().optional(),
        auth_param_name: z.string().optional(),
      })
      .optional(),
    graphql: z
      .looseObject({
        endpoint_url: z.string().optional(),
        operation_type: z.string().optional(),
        operation_name: z.string().optional(),
        schema_hash: z.string().optional(),
        requires_introspection: z.boolean().optional(),
      })
      .optional(),
    discovery: z
      .looseObject({
        method: z.string().optional(),
        source_url: z.string().optional(),
        created_at: z.string().describe("Kept from first sight and outside the digest.").optional(),
        capability_type: z.string().optional(),
        introspector_version: z.string().optional(),
      })
      .optional(),
  })
  .describe("Provider details under their own name, provenance under `discovery`.");

/** Fields of every kind of capability. */
export const commonFields = {
  id: CapabilityId.describe("Unique in the tenant; made from provider, server and name where absent.").optional(),
  title: Title.optional(),
  description: Description.optional(),
  version: Version.optional(),
  provider: z.string().max(255).optional(),
  permissions: z.array(z.string()).optional(),
  effects: z.array(z.string()).optional(),
  metadata: ProviderMetadata.optional(),
  icons: z.array(Icon).optional(),
  _meta: JsonObject.optional(),
  enabled: z
    .boolean()
    .describe("false switches the item off, outside the digest; anything else leaves it as it is.")
    .optional(),
  lastSynced: z.string().describe("Set by the registry; ignored on publish.").nullish(),
};
