import { z } from "zod";
import { named } from "../http/named.ts";
import { Digest } from "../kernel/names.ts";
import {
  CapabilityKind,
  Generator,
  Operation,
  Prompt,
  Resource,
  ResourceTemplate,
  Tool,
} from "../manifest/schema/capability.ts";
import { ManifestHeader } from "../manifest/schema/manifest.ts";
import { Flag, ItemRecord, RegistryRecord } from "./record-schema.ts";
import { GeneratorsView, OperationsView, ResourcesView, ServerView, ToolsView } from "./views/schema.ts";

/** Schemas of what the registry answers. */

export const ChangeCounts = named(
  "ChangeCounts",
  z
    .object({ breaking: z.int(), additive: z.int(), cosmetic: z.int(), removed: z.int() })
    .describe("Changes by their classification; a removed item is counted as breaking too."),
);

const Classification = z.enum(["breaking", "additive", "cosmetic", "removed"]);

export const Rejection = named(
  "Rejection",
  z
    .object({
      path: z.string(),
      name: z.string().optional(),
      issues: z.array(z.object({ path: z.string(), rule: z.string(), message: z.string() })),
    })
    .describe("A part of a document that was left out, and why."),
);

export const effectiveBy = z.iso
  .datetime()
  .optional()
  .describe("The time by which no data centre shows what was removed; absent if nothing was.");

export const generation = z.int().describe("The tenant's generation after this write.");

export const PublishResult = named(
  "PublishResult",
  z
    .object({
      dryRun: z.literal(true).optional().describe("Nothing was published: this is what would have happened."),
      outcome: z.enum(["created", "changed", "unchanged"]),
      digest: Digest.describe("Of the stored manifest, which may have more items than the one that was sent."),
      generation: generation.optional().describe("The tenant's generation after this write; absent after a dry run."),
      changes: ChangeCounts,
      header: Classification.optional().describe("The change of the manifest's own fields, if there is one."),
      flags: z.array(Flag),
      cost: z
        .object({ before: z.int(), after: z.int() })
        .describe("Tokens of the items that readers see, before and after."),
      emptied: z.literal(true).optional().describe("The server had items, and has none now."),
      kept: z
        .array(z.object({ kind: CapabilityKind, name: z.string(), why: z.enum(["disabled", "plugin"]) }))
        .optional()
        .describe("Items that stay although the manifest does not name them."),
      rejected: z.array(Rejection).optional().describe("With `partial`: the parts that were left out."),
      collisions: z
        .array(z.object({ id: z.string(), item: z.string(), takenBy: z.string() }))
        .describe("Ids that belong to other items of the tenant; with `partial`, those of rejected items."),
      warnings: z.array(z.string()).describe("What was taken but is probably not what was meant."),
      effectiveBy,
    })
    .describe("What a publish changed."),
);

export const SwitchResult = named(
  "SwitchResult",
  z.object({ generation, changed: z.boolean(), effectiveBy }).describe("What switching items changed."),
);

/** An item as its publisher declared it, with what the registry adds. */
function shown<Schema extends z.ZodType>(id: string, item: Schema) {
  const added = z.object({
    enabled: z.boolean().describe("False only with `include=disabled`."),
    lastSynced: z.string().nullable().describe("When the sources were last read; null if the item was pushed."),
    registry: ItemRecord,
  });
  return z.array(named(id, z.intersection(item, added)));
}

export const SourceStatus = named(
  "SourceStatus",
  z
    .object({
      id: z.string(),
      status: z.enum(["pending", "live", "gated", "not-mcp", "unreachable", "not-read"]),
      since: z.iso.datetime().describe("When the status last changed."),
      lastSynced: z.string().optional().describe("When its present address was last read; absent if it never was."),
      error: z
        .string()
        .optional()
        .describe("Code of the reason why the last read failed; of a source that is not read, what to do instead."),
    })
    .describe("An upstream that capabilities are read from."),
);
export type SourceStatus = z.infer<typeof SourceStatus>;

export const Capabilities = named(
  "Capabilities",
  z
    .looseObject({
      ...ManifestHeader.shape,
      serverInfo: z.looseObject({ name: z.string(), version: z.string().optional() }),
      tools: shown("ShownTool", Tool),
      prompts: shown("ShownPrompt", Prompt),
      resources: shown("ShownResource", Resource),
      resourceTemplates: shown("ShownResourceTemplate", ResourceTemplate),
      generators: shown("ShownGenerator", Generator).optional(),
      operations: shown("ShownOperation", Operation).optional(),
      lastSynced: z.string().nullable(),
      registry: z
        .object({
          digest: Digest.nullable().describe("null if nothing was published yet."),
          ...RegistryRecord.shape,
          flags: z.array(Flag).describe("About the server's own texts, and those of its items with their ids."),
          sources: z.array(SourceStatus).optional(),
          warnings: z.array(z.string()).optional(),
        })
        .describe("What the registry knows of the server."),
    })
    .describe("Everything a server can do: its manifest, without what is switched off."),
);

/** A capability as its publisher declared it, with what the registry adds. */
export const Capability = named(
  "Capability",
  z
    .looseObject({
      id: z.string().describe("Unique in its tenant."),
      kind: CapabilityKind,
      metadata: z
        .record(z.string(), z.unknown())
        .optional()
        .describe("Provider details and provenance; one level of keys in the flat layout."),
      registry: z.object({
        tenant: z.string(),
        name: z.string().describe("The server."),
        digest: Digest,
        ...RegistryRecord.shape,
      }),
      runtime: z
        .unknown()
        .optional()
        .describe("With `hints`: where and with which variables a runtime would call the capability."),
      // Otherwise members of these names are the publisher's own.
      definitions: z.unknown().optional().describe("With `definitions`: for the model, as its API takes them."),
      tokens: z.unknown().optional().describe("With `definitions`: their cost."),
      names: z.unknown().optional().describe("With `definitions`: what each name in a definition stands for."),
      leftOut: z.unknown().optional().describe("With `definitions`: why there is none."),
    })
    .describe("One capability of any kind."),
);
export type Capability = z.infer<typeof Capability>;

export const GeneratorResult = named(
  "GeneratorResult",
  PublishResult.omit({ rejected: true, effectiveBy: true })
    .extend({ type: z.string() })
    .describe("What registering a generator changed."),
);

export const ImportResult = named(
  "ImportResult",
  PublishResult.extend({
    counts: z.partialRecord(CapabilityKind, z.int()).describe("Items by kind."),
    capabilities: z
      .array(z.object({ kind: CapabilityKind, name: z.string(), id: z.string(), registry: RegistryRecord }))
      .optional()
      .describe("After a dry run: the items that would be published."),
  }).describe("What an import changed or, with `dryRun`, would change."),
);

export const AnyView = named(
  "AnyView",
  z
    .union([ServerView, ToolsView, ResourcesView, GeneratorsView, OperationsView, z.looseObject({})])
    .describe("A view: server, tools, resources, generators, operations, or one that the manifest declares."),
);
