import { z } from "zod";
import { ServerName, TenantName } from "../kernel/names.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import type { Change } from "../registry/change-chain.ts";

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

/** What a change is about; `server` is a server's own settings, visibility or removal. */
const ChangeKind = z.enum([...CapabilityKind.options, "server"]);

const ChangeClass = z.enum(["breaking", "additive", "cosmetic", "removed"]);

/** Which changes a subscription receives. */
export const ChangeFilters = z
  .strictObject({
    servers: z.array(ServerName).min(1).max(100).describe("Only changes of these servers.").optional(),
    kinds: z.array(ChangeKind).min(1).max(7).describe("Only changes of these kinds.").optional(),
    classifications: z
      .array(ChangeClass)
      .min(1)
      .max(4)
      .describe("Only changes so classified; a removal is breaking, too.")
      .optional(),
  })
  .describe("A list that is absent lets everything through; those that are there must all agree.");
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
  .refine((change) => Object.keys(change).length > 0, { message: "changes nothing" })
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
