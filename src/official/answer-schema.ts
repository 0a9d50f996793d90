import { z } from "zod";
import { named } from "../http/named.ts";
import { Digest } from "../kernel/names.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { RegistryRecord } from "../registry/record-schema.ts";
import { ServerJson, VersionStatus } from "./schema.ts";

/** Schemas of what the official registry's API answers. Its own schema allows no other members in `VersionMeta`. */

const VersionMeta = named(
  "VersionMeta",
  z
    .object({
      status: VersionStatus,
      statusMessage: z.string().optional(),
      statusChangedAt: z.iso.datetime(),
      publishedAt: z.iso.datetime(),
      updatedAt: z.iso.datetime(),
      isLatest: z.boolean(),
    })
    .describe("What the official registry's API says of a version."),
);

const RegistryMeta = named(
  "RegistryMeta",
  z
    .object({
      digest: Digest.optional(),
      generation: z.int().optional(),
      counts: z.partialRecord(CapabilityKind, z.int()).optional().describe("Items by kind."),
      ...RegistryRecord.shape,
      tokens: RegistryRecord.shape.tokens.optional(),
      capabilities: z.string().optional().describe("URL of everything that the server can do."),
    })
    .describe("What this registry knows: of the server with its latest version, of their text with the others."),
);

const PublishedServerJson = named(
  "PublishedServerJson",
  z
    .looseObject({ ...ServerJson.shape, $schema: ServerJson.shape.$schema.optional() })
    .describe(
      "A server.json as it was published. One that an earlier release took may lack `$schema` and have more keys.",
    ),
);

export const ServerResponse = named(
  "ServerResponse",
  z
    .object({
      server: PublishedServerJson,
      _meta: z.object({
        "io.modelcontextprotocol.registry/official": VersionMeta,
        "dev.rollcall/registry": RegistryMeta,
      }),
    })
    .describe("A version of a server."),
);
export type ServerResponse = z.infer<typeof ServerResponse>;

export const ServerResponseList = named(
  "ServerResponseList",
  z
    .object({
      servers: z.array(ServerResponse),
      metadata: z.object({ nextCursor: z.string().optional(), count: z.int() }),
    })
    .describe("Versions of servers."),
);

export type ServerResponseList = z.infer<typeof ServerResponseList>;

export const StatusChange = named(
  "StatusChange",
  z
    .object({ updatedCount: z.int(), servers: z.array(ServerResponse) })
    .describe("The versions that have another status now."),
);
export type StatusChange = z.infer<typeof StatusChange>;

export const ValidationResult = named(
  "ValidationResult",
  z
    .object({
      valid: z.boolean(),
      issues: z.array(
        z.object({
          type: z.enum(["json", "schema", "semantic"]),
          path: z.string().describe("Such as packages[0].version."),
          message: z.string(),
          severity: z.enum(["error", "warning"]).describe("A warning leaves the document valid."),
          reference: z.string().describe("Name of the rule."),
        }),
      ),
      notChecked: z
        .array(z.object({ path: z.string(), message: z.string() }))
        .describe("Of a valid document, what only package registries could tell."),
    })
    .describe("Whether a server.json could be published."),
);
export type ValidationResult = z.infer<typeof ValidationResult>;

export const Ping = named("Ping", z.object({ pong: z.literal(true) }));
export const OfficialHealth = named("OfficialHealth", z.object({ status: z.literal("ok") }));
export const OfficialVersion = named("OfficialVersion", z.object({ version: z.string(), name: z.string() }));
