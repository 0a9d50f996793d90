import { z } from "zod";
import { named } from "../http/named.ts";
import { ServerStatus } from "./schema.ts";

export const Flag = named(
  "Flag",
  z
    .object({
      rule: z.string(),
      severity: z.enum(["high", "low"]).describe("`high`: the text may steer a model."),
      path: z.string(),
      message: z.string(),
      of: z.literal("config").optional().describe("The path is one of the server's config, not of its manifest."),
      capability: z.string().optional().describe("Id of the capability; absent if the flag is about the whole server."),
      acknowledged: z
        .object({ by: z.string(), at: z.iso.datetime() })
        .optional()
        .describe("An admin has read the text and accepts it: the flag no longer keeps it out of choices."),
    })
    .describe("A warning about content that is no reason to refuse it."),
);

/** What the registry knows of an item or a server, and its publisher cannot say. Made by `record.ts` alone. */
export const RegistryRecord = named(
  "RegistryRecord",
  z
    .object({
      tokens: z.int().describe("Cost of the definition; of a server, of all its definitions together."),
      flags: z.array(Flag),
      status: ServerStatus,
      statusMessage: z.string().optional().describe("Its publisher's words about the status."),
      stale: z.literal(true).optional().describe("No source could be read the last time: what they offered before."),
      pending: z
        .enum(["source", "review"])
        .optional()
        .describe("`source`: a source was not read yet. `review`: a change waits for approval."),
    })
    .describe("What the registry knows of an item or a server."),
);
export type RegistryRecord = z.infer<typeof RegistryRecord>;

/** Names an item of a list, beside its record. */
export const ItemRecord = named(
  "ItemRecord",
  z
    .object({ id: z.string().describe("Unique in its tenant."), digest: z.string(), ...RegistryRecord.shape })
    .describe("What the registry knows of an item."),
);
export type ItemRecord = z.infer<typeof ItemRecord>;
