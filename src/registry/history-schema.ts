import { z } from "zod";
import { named } from "../http/named.ts";
import { Digest } from "../kernel/names.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { ChangeCounts } from "./answer-schema.ts";
import { RegistryRecord } from "./record-schema.ts";

/** Schemas of a server's history in answers. */

export const Revision = named(
  "Revision",
  z
    .object({
      number: z.int().describe("Counted from 1."),
      digest: Digest,
      generation: z.int(),
      publishedAt: z.iso.datetime(),
      publishedBy: z.string(),
      version: z.string().optional().describe("As the manifest states it."),
      changes: ChangeCounts,
      tokens: z.int().describe("Cost of all definitions together."),
    })
    .describe("One revision of a server."),
);
export type Revision = z.infer<typeof Revision>;

export const RevisionPage = named(
  "RevisionPage",
  z
    .object({
      current: Digest.nullable().describe("null if nothing was published yet."),
      items: z.array(Revision),
      generation: z.int(),
      nextCursor: z.string().optional(),
    })
    .describe("A page of revisions, the newest first."),
);
export type RevisionPage = z.infer<typeof RevisionPage>;

export const WholeRevision = named(
  "WholeRevision",
  z
    .object({
      ...Revision.shape,
      manifest: z.record(z.string(), z.unknown()).describe("Exactly the content that the digest covers."),
      registry: RegistryRecord.describe("What is known now; its flags are those of this content, with ids of items."),
      capabilities: z.array(
        z.object({
          kind: CapabilityKind,
          name: z.string(),
          id: z.string(),
          digest: Digest,
          registry: RegistryRecord,
          enabled: z.boolean().describe("Whether the item is switched on now."),
        }),
      ),
    })
    .describe("One revision with its manifest."),
);
export type WholeRevision = z.infer<typeof WholeRevision>;

const Classification = z.enum(["breaking", "additive", "cosmetic", "removed"]);

export const RevisionDiff = named(
  "RevisionDiff",
  z
    .object({
      from: Digest,
      to: Digest,
      counts: ChangeCounts,
      changes: z.array(
        z.object({
          kind: z.enum([...CapabilityKind.options, "server"]).describe("`server` is the manifest's own members."),
          name: z.string(),
          classification: Classification,
          breaking: z.boolean(),
          from: z.string().optional().describe("Digest of the earlier version."),
          to: z.string().optional().describe("Digest of the later version."),
          reasons: z.array(
            z.object({
              path: z.string().describe("RFC 6901 pointer."),
              classification: Classification.exclude(["removed"]),
              message: z.string(),
            }),
          ),
          before: z.record(z.string(), z.unknown()).optional().describe("The earlier version, with `include=items`."),
          after: z.record(z.string(), z.unknown()).optional().describe("The later version, with `include=items`."),
        }),
      ),
    })
    .describe("The classified changes between two revisions."),
);
export type RevisionDiff = z.infer<typeof RevisionDiff>;
