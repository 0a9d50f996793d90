import { z } from "zod";
import { named } from "../http/named.ts";
import { ServerName, TenantName } from "../kernel/names.ts";
import { ChangeClass } from "../manifest/classify/reasons.ts";
import { type Change, ChangeKind } from "../registry/change-chain.ts";

/** True if a change matches the filters. */
export function matchesFilters(
  { servers, kinds, classifications }: ChangeFilters,
  { server, kind, classification }: Pick<Change, "server" | "kind" | "classification">,
): boolean {
  if (servers !== undefined && !servers.includes(server)) return false;
  if (kinds !== undefined && !kinds.includes(kind)) return false;
  if (classifications === undefined || classifications.includes(classification)) return true;
  // A removal also counts as breaking, so a filter for breaking changes includes it.
  return classification === "removed" && classifications.includes("breaking");
}

/** Which changes a subscription receives. */
export const ChangeFilters = named(
  "ChangeFilters",
  z
    .strictObject({
      servers: z.array(ServerName).min(1).max(100).describe("Only changes of these servers.").optional(),
      kinds: z.array(ChangeKind).min(1).max(7).describe("Only changes of these kinds.").optional(),
      classifications: z
        .array(ChangeClass)
        .min(1)
        .max(5)
        .describe("Only changes so classified; a removal is breaking, too.")
        .optional(),
    })
    .describe("A list that is absent lets everything through; those that are there must all agree."),
);
export type ChangeFilters = z.infer<typeof ChangeFilters>;

// Which addresses are allowed is decided by the address policy, in one place for all of them.
const Address = z.string().min(1).max(2_048).describe("An https URL that takes POST.");
const Note = z.string().max(1_024).describe("For those who look after it.");

/** Request body to subscribe to a tenant's changes. */
export const NewSubscription = z
  .strictObject({
    tenant: TenantName,
    url: Address,
    filters: ChangeFilters.optional(),
    description: Note.optional(),
  })
  .describe("Where to send messages about a tenant's changes, and which.");
export type NewSubscription = z.infer<typeof NewSubscription>;

export const SubscriptionChange = z
  .strictObject({
    enabled: z.boolean().describe("false stops it; true starts it again, with what was waiting.").optional(),
    url: Address.optional(),
    filters: ChangeFilters.describe("Instead of those it has; {} for everything.").optional(),
    description: Note.optional(),
  })
  .refine((change) => Object.keys(change).length > 0, {
    message: "Set at least one of: url, filters, enabled, description",
  })
  .describe("What to change about a subscription.");
export type SubscriptionChange = z.infer<typeof SubscriptionChange>;

export const SecretRotation = z
  .strictObject({
    overlapSeconds: z
      .int()
      .min(0)
      .max(7 * 86_400)
      .default(86_400)
      .describe("How long messages are signed with the earlier secret as well."),
  })
  .describe("Asks for a new secret.");
export type SecretRotation = z.infer<typeof SecretRotation>;

const DisabledReason = z
  .enum(["paused", "gone", "refused", "dead"])
  .describe("Why a subscription is disabled: by its owner (`paused`), or by the retry schedule.");
export type DisabledReason = z.infer<typeof DisabledReason>;

export const Subscription = named(
  "Subscription",
  z
    .object({
      tenant: z.string(),
      id: z.string(),
      url: z.string(),
      filters: ChangeFilters,
      description: z.string().optional(),
      state: z.enum(["active", "disabled"]),
      reason: DisabledReason.optional(),
      since: z.iso.datetime().describe("When the state last changed."),
      pending: z.int().describe("Messages that wait to be sent."),
      dropped: z
        .int()
        .describe("Messages that were dropped: too many waited, or the log was pruned past their changes."),
      createdAt: z.iso.datetime(),
      createdBy: z.string(),
    })
    .describe("A subscription, without its secrets."),
);
export type Subscription = z.infer<typeof Subscription>;

export const SubscriptionList = named(
  "SubscriptionList",
  z
    .object({ items: z.array(Subscription), generation: z.int().describe("The tenant's generation.") })
    .describe("All subscriptions of a tenant, the oldest first."),
);
export type SubscriptionList = z.infer<typeof SubscriptionList>;

const secret = z.string().describe("Shown this once.");

export const CreatedSubscription = named(
  "CreatedSubscription",
  z.object({ ...Subscription.shape, secret }).describe("A new subscription, and its secret."),
);
export type CreatedSubscription = z.infer<typeof CreatedSubscription>;

export const RotatedSubscription = named(
  "RotatedSubscription",
  z
    .object({
      tenant: z.string(),
      id: z.string(),
      secret,
      overlapUntil: z.iso.datetime().describe("Until then, messages are signed with the earlier secret as well."),
    })
    .describe("The new secret of a subscription."),
);
export type RotatedSubscription = z.infer<typeof RotatedSubscription>;

export const RemovedSubscription = named(
  "RemovedSubscription",
  z.object({ tenant: z.string(), id: z.string() }).describe("A subscription that is no more."),
);
export type RemovedSubscription = z.infer<typeof RemovedSubscription>;

export const Attempt = named(
  "Attempt",
  z
    .object({
      message: z.string().describe("Id of the message."),
      at: z.iso.datetime(),
      attempt: z.int().describe("Number of the attempt for its message, from 1."),
      status: z.int().optional().describe("Status of the response."),
      failure: z.string().optional().describe("Why there was no response."),
      nextAt: z.iso.datetime().optional().describe("Time of the next attempt; absent if there is none."),
    })
    .describe("An attempt to deliver a message."),
);
export type Attempt = z.infer<typeof Attempt>;

export const SubscriptionWithAttempts = named(
  "SubscriptionWithAttempts",
  z
    .object({ ...Subscription.shape, attempts: z.array(Attempt).describe("The last 50, the newest first.") })
    .describe("A subscription, and how its deliveries went."),
);
export type SubscriptionWithAttempts = z.infer<typeof SubscriptionWithAttempts>;

export const TestDelivery = named(
  "TestDelivery",
  z
    .object({ delivered: z.boolean().describe("True if the receiver answered 2xx."), ...Attempt.shape })
    .describe("The delivery of a test message."),
);
