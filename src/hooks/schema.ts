import { z } from "zod";
import { ServerName, TenantName } from "../kernel/names.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { ServerStatus } from "../registry/schema.ts";

/** Event types that a publisher may send through a hook. */
export const HookEventType = z.enum(["manifest.published", "manifest.changed", "server.removed", "server.status"]);
export type HookEventType = z.infer<typeof HookEventType>;

/** Request body to register an inbound webhook. */
export const HookRequest = z
  .strictObject({
    tenant: TenantName,
    server: ServerName,
    events: z
      .array(HookEventType)
      .min(1)
      .max(HookEventType.options.length)
      .describe("What it may say; everything where absent.")
      .optional(),
    format: z
      .enum(["standard", "github"])
      .default("standard")
      .describe("standard: Standard Webhooks. github: X-Hub-Signature-256; any event reads the sources again."),
    publicKey: z
      .string()
      .max(128)
      .regex(/^whpk_/, "must start with whpk_")
      .describe("Ed25519 key that the publisher signs with (v1a); without one a shared secret is made (v1).")
      .optional(),
    description: z.string().max(1_024).optional(),
  })
  .refine(({ format, publicKey }) => format !== "github" || publicKey === undefined, {
    path: ["publicKey"],
    message: "is not for the format github",
  })
  .describe("A hook: where a publisher tells the registry of changes, and what it may tell.");
export type HookRequest = z.infer<typeof HookRequest>;

export const HookChange = z
  .strictObject({ enabled: z.boolean(), description: z.string().max(1_024) })
  .partial()
  .refine((change) => Object.keys(change).length > 0, { message: "changes nothing" })
  .describe("Switches a hook off or on, or describes it anew.");

/** Longest time that the old and the new secret are both valid. */
const maxOverlapSeconds = 7 * 86_400;

export const KeyRotation = z
  .strictObject({
    overlapSeconds: z
      .int()
      .min(0)
      .max(maxOverlapSeconds)
      .default(86_400)
      .describe("How long the old secret stays good."),
    publicKey: z
      .string()
      .max(128)
      .regex(/^whpk_/, "must start with whpk_")
      .describe("The next key, for a hook that has one.")
      .optional(),
  })
  .describe("Puts a new secret or key beside the old one.");

/** Body of an event. Unknown keys are ignored: senders add their own. */
export const HookEvent = z
  .looseObject({
    type: HookEventType,
    timestamp: z.string().max(64).optional(),
    data: z.looseObject({
      sequence: z
        .int()
        .min(0)
        .describe("Counts the publisher's events; the highest wins, in whatever order they come."),
      manifest: z.unknown().describe("The manifest, for manifest.published.").optional(),
      dryRun: z
        .boolean()
        .describe("For manifest.published: answer what it would do, and change nothing, the sequence neither.")
        .optional(),
      sections: z
        .array(z.string().max(128))
        .max(100)
        .describe("For manifest.published: sections of the publisher's own that the manifest may consist of.")
        .optional(),
      kinds: z
        .array(CapabilityKind)
        .max(CapabilityKind.options.length)
        .describe("What changed, for manifest.changed; a hint.")
        .optional(),
      status: ServerStatus.describe("For server.status.").optional(),
    }),
  })
  .superRefine(({ type, data }, context) => {
    const needed = ({ "manifest.published": "manifest", "server.status": "status" } as const)[type as string];
    if (needed === undefined || data[needed] !== undefined) return;
    context.addIssue({ code: "custom", path: ["data", needed], message: `is needed for ${type}` });
  })
  .describe("An event of a publishing server, signed by Standard Webhooks.");
export type HookEvent = z.infer<typeof HookEvent>;
