import { z } from "zod";
import { named } from "../http/named.ts";
import { characterIssues } from "../kernel/characters.ts";
import { Digest, ServerName, TenantName } from "../kernel/names.ts";
import { nearest } from "../kernel/nearest.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { PublishResult } from "../registry/answer-schema.ts";
import { ServerConfig, ServerStatus } from "../registry/schema.ts";

/** Event types that a publisher may send through a hook. */
export const HookEventType = z.enum(["manifest.published", "manifest.changed", "server.removed", "server.status"]);
export type HookEventType = z.infer<typeof HookEventType>;

const HookFormat = z
  .enum(["standard", "github"])
  .describe("standard: Standard Webhooks. github: X-Hub-Signature-256; any event reads the sources again.");
export type HookFormat = z.infer<typeof HookFormat>;

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
    format: HookFormat.default("standard"),
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
  .refine((change) => Object.keys(change).length > 0, { message: "Set at least one of: enabled, description" })
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

/** Body of an event. Unknown keys are ignored, as senders add their own, but for one that may ask for a dry run. */
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
      statusMessage: ServerConfig.shape.statusMessage.describe(
        "For server.status with deprecated or withdrawn, and for server.removed: why, and what to use instead.",
      ),
    }),
  })
  .superRefine(({ type, data, ...others }, context) => {
    // Who asks for a dry run must never get a real one.
    const refuse = (path: string[], message: string) => context.addIssue({ code: "custom", path, message });
    if (data.dryRun === true && type !== "manifest.published") {
      refuse(["data", "dryRun"], `is for manifest.published; there is no dry run of ${type}`);
    }
    for (const key of Object.keys(data)) {
      if (key !== "dryRun" && nearest(key, ["dryRun"])) refuse(["data", key], "is not known; did you mean dryRun?");
    }
    for (const key of Object.keys(others)) if (nearest(key, ["dryRun"])) refuse([key], "belongs in data, as dryRun");
    const { statusMessage } = data;
    if (statusMessage !== undefined && type === "server.status" && data.status === "active") {
      refuse(["data", "statusMessage"], "goes with the status deprecated or withdrawn");
    }
    for (const { message } of characterIssues(statusMessage, "")) refuse(["data", "statusMessage"], message);
    const needed = ({ "manifest.published": "manifest", "server.status": "status" } as const)[type as string];
    if (needed === undefined || data[needed] !== undefined) return;
    refuse(["data", needed], `is needed for ${type}`);
  })
  .describe("An event of a publishing server, signed by Standard Webhooks.");
export type HookEvent = z.infer<typeof HookEvent>;

export const Hook = named(
  "Hook",
  z
    .object({
      tenant: z.string(),
      id: z.string(),
      server: z.string(),
      events: z.array(HookEventType),
      format: HookFormat,
      signature: z.enum(["secret", "publicKey"]),
      enabled: z.boolean(),
      description: z.string().optional(),
      createdAt: z.iso.datetime(),
      createdBy: z.string(),
      keys: z
        .array(z.object({ id: z.string(), until: z.iso.datetime().optional() }))
        .describe("Valid secrets or keys, the newest first, and when the older ones expire."),
    })
    .describe("An inbound webhook, without its secrets."),
);
export type Hook = z.infer<typeof Hook>;

export const HookList = named(
  "HookList",
  z
    .object({ items: z.array(Hook), generation: z.int().describe("The tenant's generation.") })
    .describe("All hooks of a tenant, the oldest first."),
);
export type HookList = z.infer<typeof HookList>;

const secret = z.string().optional().describe("Shown this once; absent for a hook with a public key.");

export const RegisteredHook = named(
  "RegisteredHook",
  z
    .object({ ...Hook.shape, url: z.string().describe("Where the publisher sends its events."), secret })
    .describe("A new hook, and its secret."),
);
export type RegisteredHook = z.infer<typeof RegisteredHook>;

export const RotatedHook = named(
  "RotatedHook",
  z.object({ ...Hook.shape, secret }).describe("A hook, and its new secret."),
);

export const RemovedHook = named(
  "RemovedHook",
  z.object({ tenant: z.string(), id: z.string() }).describe("A hook that is no more."),
);
export type RemovedHook = z.infer<typeof RemovedHook>;

const EventOutcome = z.enum(["applied", "unchanged", "queued", "duplicate", "stale", "refused"]);
export type EventOutcome = z.infer<typeof EventOutcome>;

export const HookDelivery = named(
  "HookDelivery",
  z
    .object({
      message: z.string().describe("Id of the message."),
      at: z.iso.datetime(),
      type: z.string(),
      sequence: z.int().optional(),
      outcome: EventOutcome,
      generation: z.int().optional(),
      digest: Digest.optional(),
      reason: z.string().optional().describe("Why the message was refused."),
    })
    .describe("A message received through a hook."),
);
export type HookDelivery = z.infer<typeof HookDelivery>;

export const HookWithDeliveries = named(
  "HookWithDeliveries",
  z
    .object({ ...Hook.shape, deliveries: z.array(HookDelivery).describe("The last 100, the newest first.") })
    .describe("A hook, and what it received."),
);
export type HookWithDeliveries = z.infer<typeof HookWithDeliveries>;

export const EventResult = named(
  "EventResult",
  z
    .object({
      outcome: EventOutcome.exclude(["refused"]),
      generation: z.int().optional().describe("Of the server; absent after a dry run."),
      digest: Digest.optional(),
      message: z.string().optional(),
      // After a dry run, the same as `dryRun=true` of a publish answers.
      ...PublishResult.pick({ dryRun: true, header: true, kept: true, emptied: true }).shape,
      ...PublishResult.pick({ changes: true, flags: true, cost: true, collisions: true, warnings: true }).partial()
        .shape,
    })
    .describe("What became of an event."),
);
export type EventResult = z.infer<typeof EventResult>;
