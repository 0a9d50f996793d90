import { z } from "zod";
import { named } from "../http/named.ts";
import { Digest } from "../kernel/names.ts";
import type { CapabilityFlag } from "../manifest/flag.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { effectiveBy, generation, SourceStatus } from "./answer-schema.ts";
import { Flag, RegistryRecord } from "./record-schema.ts";
import { ServerConfig, ServerStatus, Source, Visibility } from "./schema.ts";

/** Schemas of servers and their settings in answers. */

const counts = z.partialRecord(CapabilityKind, z.int()).optional().describe("Items by kind.");
const tokens = z.int().optional().describe("Cost of all definitions together.");

/** One row of a server list. */
export const ListedServer = named(
  "ListedServer",
  z
    .object({
      tenant: z.string().describe("As shown."),
      name: z.string(),
      title: z.string().optional(),
      description: z.string().optional(),
      version: z.string().optional(),
      visibility: Visibility,
      status: ServerStatus,
      counts,
      tokens,
      flags: z.array(Flag).describe("About the server's own texts."),
      generation: z.int().describe("The tenant's generation at the last change of the server."),
      updatedAt: z.iso.datetime(),
      digest: Digest.optional().describe("Absent if nothing was published yet."),
      registry: RegistryRecord,
    })
    .describe("A server as lists and callers outside its tenant see it."),
);
export type ListedServer = z.infer<typeof ListedServer>;

/** What the directory stores of a server. Rows of earlier releases have no flags. */
export interface DirectoryEntry
  extends Omit<ListedServer, "flags" | "registry">,
    Pick<RegistryRecord, "statusMessage" | "stale" | "pending"> {
  flags?: readonly CapabilityFlag[];
}

export const ServerPage = named(
  "ServerPage",
  z
    .object({
      items: z.array(ListedServer),
      generation: z.int().describe("Of the tenant, or of the directory if the list spans tenants."),
      nextCursor: z.string().optional(),
      changed: z.literal(true).optional().describe("Something was written since the first page."),
    })
    .describe("A page of servers in order of tenant and name."),
);

export const SourceDetail = named(
  "SourceDetail",
  z
    .object({
      ...SourceStatus.shape,
      url: z.string().optional().describe("Absent if the registry does not read it."),
      message: z.string().optional().describe("Why the last read failed, or what was odd about it."),
      era: z.string().optional().describe("MCP protocol variant that was detected."),
      failures: z.int().describe("Reads that failed since the last one that did not."),
    })
    .describe("A source as members see it. Has the name of a credential at most, never the credential."),
);
export type SourceDetail = z.infer<typeof SourceDetail>;

const ServerSettings = named(
  "ServerSettings",
  z
    .looseObject({
      ...ServerConfig.shape,
      // Two may have one id, though no request may say so: sources can come from a server.json too.
      sources: z.array(Source).optional(),
      createdAt: z.iso.datetime(),
      updatedAt: z.iso.datetime(),
      registry: z
        .object({
          generation: z.int(),
          digest: Digest.optional().describe("Absent if nothing was published yet."),
          lastSynced: z.string().optional(),
          version: z.string().optional(),
          counts,
          ...RegistryRecord.shape,
          disabled: z.array(z.object({ kind: CapabilityKind, name: z.string() })).describe("Items switched off."),
          sources: z.array(SourceDetail).optional(),
          warnings: z.array(z.string()).optional(),
        })
        .describe("What the registry knows of the server."),
    })
    .describe("A server's settings, with what the registry knows of it."),
);
export type ServerSettings = z.infer<typeof ServerSettings>;

export const Server = named(
  "Server",
  z.union([ServerSettings, ListedServer]).describe("The settings to members of the tenant, a row of a list to others."),
);

const warnings = z.array(z.string()).optional().describe("What was taken but is probably not what was meant.");

const configFlags = z
  .object({ flags: z.array(Flag) })
  .optional()
  .describe("What the text of the settings was flagged for; absent if nothing was.");

export const ConfigResult = named(
  "ConfigResult",
  z
    .looseObject({ ...ServerConfig.shape, generation, warnings, registry: configFlags })
    .describe("The settings as they are now."),
);

export const ChangedConfigResult = named(
  "ChangedConfigResult",
  z
    .looseObject({
      ...ServerConfig.shape,
      generation,
      changed: z.array(z.string()).describe("Names of the members that are different now."),
      warnings,
      effectiveBy,
      registry: configFlags,
    })
    .describe("The settings as they are now, and which of them changed."),
);

/** Which members a change may name is decided when it is applied to the config. */
export const ConfigChange = named(
  "ConfigChange",
  z.looseObject({}).describe("Members of a ServerConfig: absent ones keep their value, `null` removes."),
);

export const DeleteResult = named(
  "DeleteResult",
  z
    .object({
      generation,
      effectiveBy: z.iso.datetime().describe("The time by which no data centre shows the server."),
    })
    .describe("When a server was deleted."),
);

export const RefreshResult = named(
  "RefreshResult",
  z
    .object({
      outcome: z.enum(["applied", "unchanged", "failed"]),
      generation: z.int(),
      digest: Digest.optional(),
      failures: z
        .array(z.object({ id: z.string(), reason: z.string(), message: z.string() }))
        .describe("The sources that could not be read."),
      warnings: z.array(z.string()),
      sources: z.array(SourceStatus),
    })
    .describe("What one read of a server's sources found."),
);
export type RefreshResult = z.infer<typeof RefreshResult>;
