import { z } from "zod";
import { withOtherSpellings } from "../http/other-spellings.ts";
import { Digest, ServerName } from "../kernel/names.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { contradiction, spellingsAgree, switches, variants } from "../registry/schema.ts";
import { choiceInclude } from "../search/schema.ts";

/** Like `Advertise` of a server, for the tenant's own index; rejects unknown keys. */
export const AdvertiseSettings = z
  .strictObject({
    ...switches,
    variants: z.strictObject(variants).describe("stats is on where absent, summary and full are off.").optional(),
  })
  .refine(spellingsAgree, contradiction)
  .describe("Which variants of a tenant's capability index are advertised. Nothing, until it is switched on.");
export type AdvertiseSettings = z.infer<typeof AdvertiseSettings>;

const BudgetRequest = z
  .strictObject({
    task: z.string().max(10_000).describe("What the index is for, in plain words.").optional(),
    budget: z
      .int("must be a whole number of tokens")
      .min(1, "must be at least 1 token")
      .describe("Tokens that the text may cost. More than everything costs is the same as all of it."),
    kinds: z.array(CapabilityKind).min(1).max(CapabilityKind.options.length).optional(),
    servers: z.array(ServerName).min(1).max(50).describe("Only these servers of the tenant.").optional(),
    pins: z
      .array(
        z.strictObject({
          id: z.string().min(1).max(10_000),
          digest: Digest.describe("As it was reviewed: it stays out if it has changed since.").optional(),
        }),
      )
      .max(50)
      .describe("Capabilities that come first, in full detail as far as they fit.")
      .optional(),
    include: choiceInclude.optional(),
  })
  .describe("A task and a token budget.");

export const IndexBudgetRequest = withOtherSpellings(BudgetRequest, {
  task: ["q", "query"],
  budget: ["token_budget"],
});
export type IndexBudgetRequest = z.infer<typeof IndexBudgetRequest>;
