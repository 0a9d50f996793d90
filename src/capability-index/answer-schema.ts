import { z } from "zod";
import { named } from "../http/named.ts";
import { Digest } from "../kernel/names.ts";
import { CapabilityKind } from "../manifest/schema/capability.ts";
import { choiceOptions } from "../registry/record.ts";
import { RegistryRecord } from "../registry/record-schema.ts";
import { detailLevels } from "./fit.ts";
import { AdvertiseSettings } from "./schema.ts";

/** Schemas of what the index answers. */

export const ShownAdvertise = named(
  "ShownAdvertise",
  z
    .object({
      tenant: z.string(),
      settings: AdvertiseSettings,
      advertised: z
        .object({ summary: z.boolean(), full: z.boolean(), stats: z.boolean() })
        .describe("The variants that follow from the settings."),
      generation: z.int(),
    })
    .describe("A tenant's settings for its own index."),
);
export type ShownAdvertise = z.infer<typeof ShownAdvertise>;

export const AdvertiseResult = named(
  "AdvertiseResult",
  z.object({ ...ShownAdvertise.shape, changed: z.boolean() }).describe("The settings as they are now."),
);

export const BudgetIndex = named(
  "BudgetIndex",
  z
    .object({
      index: z.string().describe("YAML; empty if not even one name fits."),
      tokens: z.int().describe("Of the whole text, measured by the tokenizer; at most the budget."),
      budget: z.int(),
      value: z.int().describe("Never lower with a larger budget, if all else is equal."),
      items: z.array(
        z.object({
          id: z.string(),
          server: z.string(),
          kind: CapabilityKind,
          level: z.enum(detailLevels),
          tokens: z.int(),
          digest: Digest,
          registry: RegistryRecord,
          pinned: z.literal(true).optional(),
        }),
      ),
      considered: z.int().describe("Number of candidates: pins and the best of the ranked capabilities."),
      leftOut: z
        .array(
          z.object({
            id: z.string(),
            reason: z.enum(["not-found", "ambiguous", "changed-since-pin", "over-budget", ...choiceOptions]),
            message: z.string(),
          }),
        )
        .describe("Failed pins and candidates that did not fit; only the first few."),
      moreLeftOut: z.int().optional(),
      generation: z.int(),
    })
    .describe("The most valuable index for a task within a budget."),
);
export type BudgetIndex = z.infer<typeof BudgetIndex>;

export const IndexStats = named(
  "IndexStats",
  z
    .object({
      summarySize: z.int().describe("Characters."),
      summaryWords: z.int(),
      summaryLines: z.int(),
      fullSize: z.int().describe("Characters."),
      fullWords: z.int(),
      fullLines: z.int(),
      estimatedSummaryTokens: z.int(),
      estimatedFullTokens: z.int(),
      measuredSummaryTokens: z.int(),
      measuredFullTokens: z.int(),
    })
    .describe("Sizes of both variants of an index, with estimated and measured tokens."),
);
export type IndexStats = z.infer<typeof IndexStats>;
