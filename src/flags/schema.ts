import { z } from "zod";
import { named } from "../http/named.ts";
import { Digest, ServerName, TenantName } from "../kernel/names.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { generation } from "../registry/answer-schema.ts";
import { Flag } from "../registry/record-schema.ts";

export const FlaggedContent = named(
  "FlaggedContent",
  z
    .object({
      server: z.string(),
      kind: z
        .enum([...CapabilityKind.options, "server", "config"])
        .describe("`server` is the manifest's own members, `config` the server's settings."),
      name: z.string().describe("Of the item; else of the server."),
      id: z.string().optional().describe("Of the item."),
      digest: Digest.describe("Of the item, the manifest or the settings: an acknowledgement is for this content."),
      flags: z.array(Flag),
      leftOut: z.boolean().describe("True if choices made for an agent leave the item out."),
    })
    .describe("Something that is flagged."),
);
export type FlaggedContent = z.infer<typeof FlaggedContent>;

export const FlagPage = named(
  "FlagPage",
  z
    .object({ items: z.array(FlaggedContent), generation: z.int(), nextCursor: z.string().optional() })
    .describe("A page of what is flagged, in order of server, kind and name."),
);

export const Acknowledgement = named(
  "Acknowledgement",
  z
    .strictObject({
      tenant: TenantName,
      server: ServerName,
      rule: z.string().min(1).max(64),
      path: z.string().max(512).describe("As the flag has it."),
      acknowledged: z.boolean().default(true).describe("`false` takes an acknowledgement back."),
    })
    .describe("Accepts one flag of one content."),
);
export type Acknowledgement = z.infer<typeof Acknowledgement>;

export const AcknowledgedContent = named(
  "AcknowledgedContent",
  z
    .object({ ...FlaggedContent.shape, generation, changed: z.boolean() })
    .describe("The content with its flags as they are now."),
);
export type AcknowledgedContent = z.infer<typeof AcknowledgedContent>;
